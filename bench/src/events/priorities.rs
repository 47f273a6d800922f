//! Scheduling of the threads: native priorities where the machine grants them.

use crate::experiment::Report;
use punctual_rtevent::{Level, Scheduling, SpawnError, ThreadSpec};
use serde::{Deserialize, Serialize};

/// Native priority of the supplier of urgent events, above all that dispatch.
pub(super) const SUPPLIER: i32 = 80;
/// Native priority of the threads of the most urgent level; each further level is one below.
const MOST_URGENT: i32 = 79;
/// Largest number of levels below the most urgent one: as many as have a native priority.
pub(super) const MOST_LEVELS: u16 = 60;

/// Scheduling policy of an experiment's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Policy {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_FIFO`.
    Fifo,
}

impl Policy {
    /// Returns `SCHED_FIFO` if it is wanted and the machine grants it. If not granted, the report
    /// says so.
    pub(super) fn granted(is_wanted: bool, report: &mut Report) -> Self {
        let refused = is_wanted.then(|| try_fifo().err());
        match refused {
            None => Self::Other,
            Some(None) => Self::Fifo,
            Some(Some(error)) => {
                report.skip(format!(
                    "SCHED_FIFO: {error}; SCHED_OTHER instead, by which no goal is judged"
                ));
                Self::Other
            }
        }
    }

    /// Returns the name of the policy, as POSIX has it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Other => "SCHED_OTHER",
            Self::Fifo => "SCHED_FIFO",
        }
    }

    /// Returns the scheduling of a thread, given its native priority.
    pub(super) const fn at(self, priority: i32) -> Scheduling {
        match self {
            Self::Other => Scheduling::Other,
            Self::Fifo => Scheduling::Fifo { priority },
        }
    }

    /// Returns the scheduling of the threads of a level.
    pub(super) fn of_level(self, level: Level) -> Scheduling {
        let below = i32::from(level.preemption_group).min(i32::from(MOST_LEVELS));
        self.at(MOST_URGENT - below)
    }
}

/// Starts a thread with `SCHED_FIFO`.
///
/// # Errors
/// The machine does not grant it.
fn try_fifo() -> Result<(), SpawnError> {
    let spec = ThreadSpec::named("events-rights").scheduling(Policy::Fifo.at(SUPPLIER));
    let thread = spec.start(|| ())?;
    // The thread does nothing, and cannot panic.
    let _ = thread.join();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_a_native_priority_below_that_of_the_more_urgent_one() {
        let priority = |group| Policy::Fifo.of_level(Level::new(group, 0)).priority();
        assert_eq!((priority(0), priority(1), priority(60)), (79, 78, 19));
        assert_eq!(priority(255), 19);
        let other = Policy::Other.of_level(Level::new(3, 0));
        assert_eq!(other, Scheduling::Other);
    }
}
