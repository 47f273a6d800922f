//! Demand tests of a processor, and of bands.

use super::demand::Demand;
use super::{Banded, Sharing, Verdict};
use crate::analysis::fixed_priority::held_up_by;
use crate::analysis::task::Task;
use crate::time::Time;

/// Tests the tasks of a processor under EDF.
#[must_use]
pub fn demand_test(tasks: &[Sharing<'_>]) -> Verdict {
    band_test(tasks, &[], Time::ZERO)
}

/// Tests tasks under EDF in a band below other tasks.
///
/// `above` are the tasks of higher bands, and what the platform takes ([`Task::interference`]), `blocking` the longest time for which lower bands hold the
/// band up.
#[must_use]
pub fn band_test(tasks: &[Sharing<'_>], above: &[&Task], blocking: Time) -> Verdict {
    Demand::new(tasks, above, blocking).verdict()
}

/// Tests all bands of a processor; returns priority and verdict of each, the highest band first.
#[must_use]
pub fn bands(tasks: &[Banded<'_>]) -> Vec<(i32, Verdict)> {
    let mut priorities: Vec<i32> = tasks.iter().map(|task| task.priority).collect();
    priorities.sort_unstable_by(|one, other| other.cmp(one));
    priorities.dedup();
    let verdicts = priorities.into_iter().map(|priority| {
        let own = tasks.iter().filter(|task| task.priority == priority);
        let own: Vec<_> = own.map(|task| task.sharing).collect();
        let above = tasks.iter().filter(|task| task.priority > priority);
        let above: Vec<_> = above.map(|task| task.sharing.task).collect();
        let below = tasks.iter().filter(|task| task.priority < priority);
        let blocking = below.map(|task| held_up_by(task.sharing.task)).max();
        let verdict = band_test(&own, &above, blocking.unwrap_or_default());
        (priority, verdict)
    });
    verdicts.collect()
}
