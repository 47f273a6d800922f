//! Interval that is drawn.

use super::Options;
use super::rows::Rows;
use crate::model::Model;
use crate::plan::Plan;
use crate::time::Time;
use crate::timeline::{Timeline, simulate};

/// Number of times that a window is doubled until each first job has ended.
const DOUBLINGS: usize = 6;
/// Window of a picture without jobs.
const EMPTY: Time = Time::from_millis(1);

/// Simulates the window that the options ask for, or the default one.
pub(super) fn simulated(model: &Model, plan: &Plan, rows: &Rows, options: &Options) -> Timeline {
    if let Some(window) = options.window {
        return simulate(model, plan, window.max(Time::from_nanos(1)));
    }
    let running = || {
        rows.streams()
            .filter(|&stream| plan.streams[stream].level.is_some())
    };
    let periods = || running().map(|stream| plan.streams[stream].period);
    let longest = periods().max().unwrap_or(EMPTY);
    let shortest = hyperperiod(periods()).unwrap_or(Time::MAX).min(longest * 3);
    let first = simulate(model, plan, shortest);
    let mut longer = first.clone();
    for doubled in 1..=DOUBLINGS {
        let ends = running().map(|stream| longer.first_job(stream)?.end);
        if let Some(ends) = ends.collect::<Option<Vec<Time>>>() {
            let window = ends.into_iter().fold(shortest, Time::max);
            return match window > shortest {
                true => simulate(model, plan, window),
                false => first,
            };
        }
        if longer.is_cut {
            break;
        }
        longer = simulate(model, plan, shortest * (1 << doubled));
    }
    first
}

/// Returns the least common multiple of periods; `None` if it exceeds [`Time::LONGEST`].
fn hyperperiod(periods: impl Iterator<Item = Time>) -> Option<Time> {
    let mut multiple: u64 = 1;
    for period in periods {
        let divisor = greatest_divisor(multiple, period.as_nanos());
        multiple = multiple.checked_mul(period.as_nanos() / divisor)?;
        if multiple > Time::LONGEST.as_nanos() {
            return None;
        }
    }
    Some(Time::from_nanos(multiple)).filter(|_| multiple > 1)
}

fn greatest_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hyperperiod_is_the_least_common_multiple() {
        let of = |millis: &[u64]| hyperperiod(millis.iter().copied().map(Time::from_millis));
        assert_eq!(of(&[10, 40, 100]), Some(Time::from_millis(200)));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[86_399_999, 86_399_998]), None);
    }
}
