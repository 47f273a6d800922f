//! Comparison of a schedule with the machine that is to execute it.

use crate::error::MachineError;
use crate::schedule::{Dispatching, Schedule};
use punctual::rt::{Priority, Processors, RtOrb};
use std::collections::BTreeSet;

/// Checks that this process can execute a schedule: that it has the processors, and that the plan's priorities
/// differ in the kernel, too. An RTORB that was told to do without native priorities is warned of.
pub(crate) fn check(schedule: &Schedule, rt: &RtOrb) -> Result<(), MachineError> {
    let available = schedule.allowed().len();
    let used = schedule.activities().map(|one| one.processor());
    if let Some(wanted) = used.max().filter(|&wanted| wanted >= available) {
        return Err(MachineError::Processors {
            host: schedule.host().to_owned(),
            wanted,
            available,
        });
    }
    if !rt.schedules_natively() {
        tracing::warn!(
            host = schedule.host(),
            "the kernel does not schedule by the plan's priorities: its deadlines are not proved for this process"
        );
        return Ok(());
    }
    check_priorities(schedule, |priority| {
        rt.priority_mapping().to_native(priority)
    })
}

/// Checks that priorities of one processor that differ do so in the kernel, too.
fn check_priorities(
    schedule: &Schedule,
    to_native: impl Fn(Priority) -> Option<i32>,
) -> Result<(), MachineError> {
    let scheduled = schedule.activities();
    let by_priority =
        scheduled.filter(|one| !matches!(one.dispatching(), Dispatching::Reservation(_)));
    let all: BTreeSet<_> = by_priority
        .map(|one| (one.processor(), one.priority()))
        .collect();
    let mut before: Option<(usize, Priority, i32)> = None;
    for (processor, priority) in all {
        let native = to_native(priority).ok_or(MachineError::NoPriority(priority.get()))?;
        if let Some((at, lower, its)) = before
            && at == processor
            && its == native
        {
            return Err(MachineError::Priorities {
                processor,
                one: priority.get(),
                other: lower.get(),
            });
        }
        before = Some((processor, priority, native));
    }
    Ok(())
}

/// Returns the processor of this machine for a processor of the plan: the plan counts those that the process
/// might run on when the schedule was made.
pub(crate) fn processor(schedule: &Schedule, number: usize) -> Result<Processors, MachineError> {
    let allowed = schedule.allowed();
    let Some(&there) = allowed.get(number) else {
        return Err(MachineError::Processors {
            host: schedule.host().to_owned(),
            wanted: number,
            available: allowed.len(),
        });
    };
    Ok(Processors::of(&[there])?)
}
