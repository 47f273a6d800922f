//! Threads of levels, with native priorities.

use super::scheduler::UNSCHEDULED;
use punctual::rt::{Priority, PriorityMapping};
use punctual_rtevent::{Level, ThreadFunction, ThreadSpec};
use punctual_sys::scheduling::Scheduling;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Returns a function that specifies the threads of levels by a mapping to native priorities, such as that of an ORB's
/// lanes: `SCHED_FIFO` for the operations of a plan, ordinary scheduling for levels behind it. Without a mapping, all are
/// scheduled as the threads that start them. Their names begin with `name`.
#[must_use]
pub fn threads_of(name: &'static str, mapping: Option<Arc<dyn PriorityMapping>>) -> ThreadFunction {
    Arc::new(move |level| {
        let thread = ThreadSpec::named(format!("{name} {}", shown(level)));
        match &mapping {
            Some(mapping) => thread.scheduling(scheduling_of(level, &**mapping)),
            None => thread,
        }
    })
}

/// Returns a function that specifies the threads of a scheduler's levels: `SCHED_FIFO` at the native priorities that the
/// schedule says, as far as they are in the range, and ordinary scheduling for the level behind them.
pub(super) fn threads_of_scheduler(
    name: &'static str,
    range: RangeInclusive<i32>,
) -> ThreadFunction {
    Arc::new(move |level| {
        let thread = ThreadSpec::named(format!("{name} {}", shown(level)));
        let native = i32::from(level.priority);
        thread.scheduling(match level == UNSCHEDULED {
            true => Scheduling::Other,
            false => Scheduling::Fifo {
                priority: native.clamp(*range.start(), *range.end()),
            },
        })
    })
}

fn scheduling_of(level: Level, mapping: &dyn PriorityMapping) -> Scheduling {
    let planned = (level.preemption_group == 0).then(|| Priority::new(level.priority).ok());
    let native = planned.flatten().and_then(|one| mapping.to_native(one));
    native.map_or(Scheduling::Other, |priority| Scheduling::Fifo { priority })
}

/// Returns a level in the few bytes that names of threads have.
fn shown(level: Level) -> String {
    match level.preemption_group {
        0 => level.priority.to_string(),
        group => format!("{group}/{}", level.priority),
    }
}
