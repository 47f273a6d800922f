//! Timing of operations that generated stubs carry, for models.

use crate::error::ScheduleError;
use punctual::rt::{RtLevel, RtOperation};
use punctual_scheduling::model::{Model, TimedOperation, read_with_operations};
use punctual_scheduling::{Level, Time};
use std::time::Duration;

/// Reads a model from a text, completed by the operations of stubs.
///
/// # Errors
/// [`ScheduleError::Faults`].
pub(super) fn model(
    name: &str,
    text: &str,
    stubs: &[&[RtOperation]],
) -> Result<Model, ScheduleError> {
    let operations: Vec<_> = stubs.iter().copied().flatten().map(timed).collect();
    read_with_operations(name, text, &operations).map_err(ScheduleError::Faults)
}

fn timed(of: &RtOperation) -> TimedOperation {
    TimedOperation {
        wcet: of.wcet.map(time),
        typical: of.typical.map(time),
        cached: of.cached.map(time),
        period: of.period.map(time),
        deadline: of.deadline.map(time),
        offset: of.offset.map(time),
        jitter: of.jitter.map(time),
        criticality: of.criticality.map(level),
        importance: of.importance.map(level),
        threads: of.threads,
        ..TimedOperation::new(of.scoped_name)
    }
}

fn time(duration: Duration) -> Time {
    Time::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

fn level(of: RtLevel) -> Level {
    match of {
        RtLevel::VeryLow => Level::VeryLow,
        RtLevel::Low => Level::Low,
        RtLevel::Medium => Level::Medium,
        RtLevel::High => Level::High,
        RtLevel::VeryHigh => Level::VeryHigh,
    }
}
