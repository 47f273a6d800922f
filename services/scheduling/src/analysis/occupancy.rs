//! Load of a processor compared with its capacity, exactly: sums of fractions in whole numbers.

use super::task::Task;
use crate::time::Time;

/// One in fixed point, with 64 bits behind the point.
const ONE: u128 = 1 << 64;

/// Sum of shares of a processor, compared with the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupancy {
    /// The processor has idle time in the long run.
    Below,
    /// The processor is busy all the time.
    Full,
    /// The processor gets more work than it can do.
    Over,
    /// The sum differs from one by less than 2⁻⁶⁴ for each share, and its fraction is too long.
    Near,
}

/// Returns the load of tasks: the sum of execution time by period.
pub(super) fn occupancy_of<'t>(tasks: impl Iterator<Item = &'t Task> + Clone) -> Occupancy {
    occupancy(tasks.map(|task| (task.wcet, task.period)))
}

/// Returns the sum of shares (part, whole), compared with one.
pub(super) fn occupancy(shares: impl Iterator<Item = (Time, Time)> + Clone) -> Occupancy {
    let shares = shares.filter(|(part, _)| !part.is_zero());
    let (mut floor, mut inexact) = (0u128, 0u128);
    for (part, whole) in shares.clone() {
        let part = u128::from(part.as_nanos()) << 64;
        let whole = u128::from(whole.as_nanos());
        if whole == 0 {
            return Occupancy::Over;
        }
        floor = floor.saturating_add(part / whole);
        inexact += u128::from(part % whole != 0);
    }
    match floor.cmp(&ONE) {
        std::cmp::Ordering::Greater => Occupancy::Over,
        std::cmp::Ordering::Equal if inexact == 0 => Occupancy::Full,
        std::cmp::Ordering::Equal => Occupancy::Over,
        std::cmp::Ordering::Less if floor + inexact <= ONE => Occupancy::Below,
        std::cmp::Ordering::Less => exact(shares),
    }
}

/// Returns the comparison of the exact sum, as one fraction.
fn exact(shares: impl Iterator<Item = (Time, Time)>) -> Occupancy {
    let mut sum = (0u128, 1u128);
    for (part, whole) in shares {
        let share = (u128::from(part.as_nanos()), u128::from(whole.as_nanos()));
        match add(sum, share) {
            Some(next) => sum = next,
            None => return Occupancy::Near,
        }
    }
    match sum.0.cmp(&sum.1) {
        std::cmp::Ordering::Less => Occupancy::Below,
        std::cmp::Ordering::Equal => Occupancy::Full,
        std::cmp::Ordering::Greater => Occupancy::Over,
    }
}

/// Returns the sum of two fractions in lowest terms; `None` if it does not fit.
fn add(one: (u128, u128), other: (u128, u128)) -> Option<(u128, u128)> {
    let common = divisor(one.1, other.1);
    let below = (one.1 / common).checked_mul(other.1)?;
    let left = one.0.checked_mul(other.1 / common)?;
    let above = left.checked_add(other.0.checked_mul(one.1 / common)?)?;
    let common = divisor(above, below);
    Some((above / common, below / common))
}

/// Returns the greatest common divisor of two numbers, of which at least one is not zero.
fn divisor(mut one: u128, mut other: u128) -> u128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(shares: &[(u64, u64)]) -> Occupancy {
        let time = |&(part, whole): &(u64, u64)| (Time::from_nanos(part), Time::from_nanos(whole));
        occupancy(shares.iter().map(time))
    }

    #[test]
    fn thirds_fill_a_processor_exactly() {
        assert_eq!(sum(&[(1, 3), (1, 3), (1, 3)]), Occupancy::Full);
        assert_eq!(sum(&[(1, 2), (1, 4), (1, 4)]), Occupancy::Full);
        assert_eq!(
            sum(&[(1, 3), (1, 3), (333_333, 1_000_000)]),
            Occupancy::Below
        );
        assert_eq!(
            sum(&[(1, 3), (1, 3), (333_334, 1_000_000)]),
            Occupancy::Over
        );
    }

    #[test]
    fn a_difference_of_one_in_a_day_squared_counts() {
        let day = Time::LONGEST.as_nanos();
        let rest = (day / 3 * 2, day);
        assert_eq!(sum(&[(day / 3, day), rest]), Occupancy::Full);
        assert_eq!(sum(&[(day / 3, day - 1), rest]), Occupancy::Over);
        assert_eq!(sum(&[(day / 3 - 1, day), rest]), Occupancy::Below);
    }

    #[test]
    fn no_work_is_no_load_and_no_period_is_overload() {
        assert_eq!(sum(&[]), Occupancy::Below);
        assert_eq!(sum(&[(0, 0)]), Occupancy::Below);
        assert_eq!(sum(&[(1, 0)]), Occupancy::Over);
        assert_eq!(sum(&[(u64::MAX, 1), (u64::MAX, 1)]), Occupancy::Over);
    }
}
