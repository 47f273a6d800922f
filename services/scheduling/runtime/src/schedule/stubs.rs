//! Timing of operations that generated stubs carry, for models.

use crate::error::ScheduleError;
use punctual::rt::{RtLevel, RtOperation};
use punctual_scheduling::model::{Model, TimedOperation, read_with_operations};
use punctual_scheduling::{Level, Time};

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
        wcet: of.wcet.map(Time::from),
        typical: of.typical.map(Time::from),
        cached: of.cached.map(Time::from),
        period: of.period.map(Time::from),
        deadline: of.deadline.map(Time::from),
        offset: of.offset.map(Time::from),
        jitter: of.jitter.map(Time::from),
        criticality: of.criticality.map(level),
        importance: of.importance.map(level),
        threads: of.threads,
        ..TimedOperation::new(of.scoped_name)
    }
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
