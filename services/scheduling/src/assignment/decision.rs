//! Exact decision if a task meets its deadline under fixed priorities. It agrees with the response
//! times of [`bound`], and takes less time: it starts at a lower bound, ends at the first late job,
//! and needs no more jobs than the busy period has.

use super::load::{DECIDED, Load};
use crate::analysis::Task;
use crate::analysis::fixed_priority::{bound, tail};
use crate::time::Time;

/// Number of steps after which the response time decides.
const EFFORT: u32 = 10_000;

/// Returns whether a task meets its deadline; for tasks on which the bounds do not decide. `load` is
/// that of the tasks `above`.
pub(crate) fn meets_exactly(own: &Task, above: &[&Task], load: Load, blocking: Time) -> bool {
    let period = BusyPeriod {
        own,
        above,
        blocking,
    };
    let decided = period.decides(load.earliest(own, blocking), load);
    decided.unwrap_or_else(|| bound(own, above, blocking).meets(own.deadline))
}

/// Busy period of one priority.
struct BusyPeriod<'t> {
    own: &'t Task,
    above: &'t [&'t Task],
    blocking: Time,
}

/// End of a search for the begin of a job's tail.
enum Begin {
    At(Time),
    Late,
    Unknown,
}

impl BusyPeriod<'_> {
    /// Returns whether all jobs meet the deadline; `None` if the response time has to decide.
    fn decides(&self, mut begin: Time, load: Load) -> Option<bool> {
        let (own, mut effort) = (self.own, EFFORT);
        let has_tail = !tail(own).is_zero() || own.wcet.is_zero();
        let is_simple = !has_tail && load.with(own).share <= DECIDED;
        let mut job = 0;
        loop {
            begin = match self.begin_of_tail(job, begin, &mut effort) {
                Begin::At(time) => time,
                Begin::Late => return Some(false),
                Begin::Unknown => return None,
            };
            // With a tail, a job may be late though it arrives after the end of the one before it.
            if !is_simple {
                return None;
            }
            job += 1;
            if releases(own, begin) <= job {
                return Some(true);
            }
        }
    }

    /// Returns the time, from the start of the busy period, at which a job begins its last part
    /// without preemption; its end if it has none.
    fn begin_of_tail(&self, job: u64, from: Time, effort: &mut u32) -> Begin {
        let own = self.own;
        let tail = tail(own);
        let closed = Time::from_nanos(u64::from(!tail.is_zero()));
        let least = self.blocking + own.wcet * (job + 1) - tail;
        let deadline = own.period * job + own.deadline.min(Time::LONGEST);
        let Some(latest) = difference(deadline, own.jitter + tail) else {
            return Begin::Late;
        };
        let mut time = from.max(least);
        while time <= latest && latest <= Time::LONGEST {
            let demand = |task: &&Task| task.wcet * releases(task, time + closed);
            let needed = least + self.above.iter().map(demand).sum();
            if needed <= time {
                return Begin::At(time);
            }
            time = needed;
            *effort = match effort.checked_sub(1) {
                Some(left) => left,
                None => return Begin::Unknown,
            };
        }
        if latest <= Time::LONGEST {
            Begin::Late
        } else {
            Begin::Unknown
        }
    }
}

/// Returns the maximum number of jobs of a task that are released in an interval, open at its end.
fn releases(task: &Task, length: Time) -> u64 {
    let window = length + task.jitter;
    window.as_nanos().div_ceil(task.period.as_nanos().max(1))
}

/// Returns the difference of two times; `None` if the second one is the longer.
fn difference(time: Time, other: Time) -> Option<Time> {
    (other <= time).then(|| time - other)
}

#[cfg(test)]
mod tests {
    use super::super::load::tests::tasks;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_decision_agrees_with_the_response_time(tasks in tasks(), blocking in 0..20_u64) {
            let (own, above) = tasks.split_first().unwrap();
            let above: Vec<&Task> = above.iter().collect();
            let (blocking, load) = (Time::from_nanos(blocking), Load::sum(above.iter().copied()));
            let expected = bound(own, &above, blocking).meets(own.deadline);
            prop_assert_eq!(meets_exactly(own, &above, load, blocking), expected);
        }
    }
}
