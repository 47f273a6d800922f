//! Bounds of response times in constant time, from sums over the tasks of higher priority: the upper
//! bound of Bini and Baruah (2007), with jitter and non-preemptive tails added, and the lower bound
//! that follows from the utilisation.
//!
//! A job of the task in question that begins its tail (or ends, if it has none) at `t` finds no
//! pending job above it. The last of a superior's `n` jobs arrived `(n - 1) T - J` after the start
//! of the busy period and took `C` since then, so `(n - 1) T - J + C <= t`, and all `n` take at most
//! `U t + C + U (J - C)`. The sum over the superiors is linear in `t`. At most the whole processor
//! is used, so no later job of the busy period has a longer response than the first.
//!
//! Integers only, each rounded to the safe side: a verdict other than [`Verdict::Unknown`] is right.

use crate::analysis::Task;
use crate::analysis::fixed_priority::tail;
use crate::time::Time;

/// Whole processor, in the fixed-point unit of utilisations.
pub(crate) const WHOLE: u128 = 1 << 48;

/// Tolerance of the exact test for utilisations above 1, rounded up.
const ROUNDING: u128 = WHOLE >> 29;

/// Largest utilisation at which the upper bound decides. Close to a full processor, the bound holds,
/// too, but the exact test may give up on a busy period that hardly ends; both have to agree.
pub(crate) const DECIDED: u128 = WHOLE - (WHOLE >> 10);

/// Largest summand, far above the values of any model; sums of 2^27 of them do not overflow.
const LARGEST: u128 = 1 << 100;

/// Sums over tasks of higher priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Utilisation, rounded up; of [`WHOLE`].
    pub(crate) share: u128,
    /// Utilisation, rounded down; of [`WHOLE`].
    least_share: u128,
    /// Sum of `C + U (J - C)`, rounded up, in nanoseconds.
    burst: u128,
    /// Sum of `U J`, rounded down, in nanoseconds.
    late: u128,
    /// Sum of the execution times, in nanoseconds.
    work: u128,
}

/// Outcome of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The task meets its deadline.
    Meets,
    /// The task misses its deadline.
    Misses,
    /// The bounds do not decide.
    Unknown,
}

impl Load {
    /// Returns the load of one task.
    pub(crate) fn of(task: &Task) -> Self {
        let (wcet, period, jitter) = (nanos(task.wcet), nanos(task.period), nanos(task.jitter));
        if wcet == 0 {
            return Self::default();
        }
        let period = period.max(1);
        let burst = wcet.saturating_add((wcet * jitter).div_ceil(period));
        Self {
            share: (wcet * WHOLE).div_ceil(period).min(LARGEST),
            least_share: (wcet * WHOLE / period).min(LARGEST),
            burst: burst.saturating_sub(wcet * wcet / period).min(LARGEST),
            late: (wcet * jitter / period).min(LARGEST),
            work: wcet,
        }
    }

    /// Returns the load of several tasks.
    pub(crate) fn sum<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> Self {
        tasks
            .into_iter()
            .fold(Self::default(), |sum, task| sum.with(task))
    }

    /// Returns the load with a task added.
    pub(crate) fn with(self, task: &Task) -> Self {
        self.plus(Self::of(task))
    }

    /// Returns the load without a task that it contains.
    pub(crate) fn without(self, task: &Task) -> Self {
        self.minus(Self::of(task))
    }

    /// Returns the sum with another load.
    pub(crate) const fn plus(self, one: Self) -> Self {
        Self {
            share: self.share + one.share,
            least_share: self.least_share + one.least_share,
            burst: self.burst + one.burst,
            late: self.late + one.late,
            work: self.work + one.work,
        }
    }

    /// Returns the difference to a load that is part of this one.
    pub(crate) const fn minus(self, one: Self) -> Self {
        Self {
            share: self.share.saturating_sub(one.share),
            least_share: self.least_share.saturating_sub(one.least_share),
            burst: self.burst.saturating_sub(one.burst),
            late: self.late.saturating_sub(one.late),
            work: self.work.saturating_sub(one.work),
        }
    }

    /// Returns whether the tasks take more than the whole processor, beyond doubt.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.least_share > WHOLE + ROUNDING
    }

    /// Returns the verdict on a task below this load, which lower priorities hold up for `blocking`.
    pub(crate) fn verdict(&self, own: &Task, blocking: Time) -> Verdict {
        let all = self.with(own);
        if all.is_overloaded() {
            return Verdict::Misses;
        }
        let tail = nanos(tail(own));
        let least = nanos(blocking) + nanos(own.wcet) - tail;
        let Some(room) = room(own, tail) else {
            return Verdict::Misses;
        };
        if all.share <= DECIDED && self.begins_within(least, room) {
            Verdict::Meets
        } else if self.begins_after(least, room, tail) {
            Verdict::Misses
        } else {
            Verdict::Unknown
        }
    }

    /// Returns whether the verdict is [`Verdict::Meets`] on a task whose own load is known.
    pub(crate) fn surely_meets(&self, own: &Task, load: Self, blocking: Time) -> bool {
        let tail = nanos(tail(own));
        let least = nanos(blocking) + nanos(own.wcet) - tail;
        self.share + load.share <= DECIDED
            && room(own, tail).is_some_and(|room| self.begins_within(least, room))
    }

    /// Returns a lower bound of the time at which a task's first job begins its tail, from the start
    /// of the busy period.
    pub(crate) fn earliest(&self, own: &Task, blocking: Time) -> Time {
        let least = nanos(blocking) + nanos(own.wcet) - nanos(tail(own));
        let left = WHOLE.saturating_sub(self.least_share).max(1);
        let begin = (least + self.late).saturating_mul(WHOLE) / left;
        Time::from_nanos(u64::try_from(begin).unwrap_or(u64::MAX)).min(Time::LONGEST)
    }

    /// Returns whether the upper bound of the tail's begin is at most `room`.
    fn begins_within(&self, least: u128, room: u128) -> bool {
        let needed = (least + self.burst).checked_mul(WHOLE);
        let there = room.checked_mul(WHOLE - self.share.min(WHOLE));
        matches!((needed, there), (Some(needed), Some(there)) if needed <= there)
    }

    /// Returns whether a lower bound of the tail's begin is above `room`.
    fn begins_after(&self, least: u128, room: u128, tail: u128) -> bool {
        let is_first_wait = least + tail > 0;
        if is_first_wait && least + self.work > room {
            return true;
        }
        let needed = (least + self.late).checked_mul(WHOLE);
        let there = room.checked_mul(WHOLE.saturating_sub(self.least_share));
        matches!((needed, there), (Some(needed), Some(there)) if needed > there)
    }
}

/// Returns the latest begin of a job's tail that meets the deadline; `None` if none does.
fn room(own: &Task, tail: u128) -> Option<u128> {
    let deadline = nanos(own.deadline.min(Time::LONGEST));
    deadline.checked_sub(nanos(own.jitter) + tail)
}

/// Returns a time in nanoseconds, as an operand of products.
const fn nanos(time: Time) -> u128 {
    time.as_nanos() as u128
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::analysis::Preemption;
    use crate::analysis::fixed_priority::bound;
    use proptest::prelude::*;

    /// Returns random tasks of all kinds.
    pub(crate) fn tasks() -> impl Strategy<Value = Vec<Task>> {
        let task = (1..20_u64, 1..12_u64, 1..200_u64, 0..30_u64, 0..4_u8).prop_map(
            |(wcet, ratio, deadline, jitter, kind)| {
                let wcet = Time::from_nanos(wcet);
                let longest = Time::from_nanos(3);
                Task::new(wcet, Time::from_nanos(wcet.as_nanos() * ratio + 1))
                    .with_deadline(Time::from_nanos(deadline))
                    .with_jitter(Time::from_nanos(jitter))
                    .with_preemption(match kind {
                        0 => Preemption::None,
                        1 => Preemption::Segments {
                            longest,
                            last: longest,
                        },
                        2 => Preemption::Floating { longest },
                        _ => Preemption::Full,
                    })
            },
        );
        proptest::collection::vec(task, 1..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_verdict_agrees_with_the_exact_test(tasks in tasks(), blocking in 0..20_u64) {
            let (own, above) = tasks.split_first().unwrap();
            let above: Vec<&Task> = above.iter().collect();
            let blocking = Time::from_nanos(blocking);
            let meets = bound(own, &above, blocking).meets(own.deadline);
            match Load::sum(above).verdict(own, blocking) {
                Verdict::Meets => prop_assert!(meets),
                Verdict::Misses => prop_assert!(!meets),
                Verdict::Unknown => {}
            }
        }
    }

    #[test]
    fn the_bounds_decide_a_light_load_and_an_overload() {
        let task = |wcet, period| Task::new(Time::from_millis(wcet), Time::from_millis(period));
        let own = task(1, 100);
        let of = |above: &[Task]| Load::sum(above).verdict(&own, Time::ZERO);
        assert_eq!(of(&[task(1, 10), task(2, 20)]), Verdict::Meets);
        assert_eq!(of(&[task(9, 10), task(5, 20)]), Verdict::Misses);
    }
}
