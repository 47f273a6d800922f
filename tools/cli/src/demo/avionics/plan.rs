//! The model, and what it says of events.

use punctual_rtevent::codes;
use punctual_scheduling::model::{Kind, Model, Operation, read};
use punctual_scheduling_runtime::{Schedule, ScheduleError, ScheduleOptions};
use std::sync::Arc;

const FILE: &str = "examples/schedule/avionics.toml";
const TEXT: &str = include_str!("../../../../../examples/schedule/avionics.toml");

/// Reads the model.
///
/// # Errors
/// [`ScheduleError::Faults`].
pub(super) fn model() -> Result<Model, ScheduleError> {
    read(FILE, TEXT).map_err(ScheduleError::Faults)
}

/// Makes the proved schedule of each board, in the order of the model.
///
/// # Errors
/// [`ScheduleError`].
pub(super) fn schedules() -> Result<Vec<Arc<Schedule>>, ScheduleError> {
    let model = model()?;
    let hosts = model.hosts.iter();
    hosts.map(|host| schedule(&host.name)).collect()
}

/// Makes the proved schedule of a board.
///
/// # Errors
/// [`ScheduleError`].
pub(super) fn schedule(board: &str) -> Result<Arc<Schedule>, ScheduleError> {
    Schedule::new(model()?, board, &ScheduleOptions::default())
}

/// Returns the type of the events that an operation pushes when a job of it ends.
pub(super) fn kind_of(operation: usize) -> i32 {
    handle_of(operation).saturating_add(codes::FIRST_OF_USERS)
}

/// Returns the `rt_info` of an operation.
pub(super) fn handle_of(operation: usize) -> i32 {
    i32::try_from(operation).map_or(i32::MAX, |index| index.saturating_add(1))
}

/// Returns the operations that call one, by their indices.
pub(super) fn suppliers_of(model: &Model, operation: usize) -> Vec<usize> {
    let calls = |one: &Operation| one.calls.iter().any(|call| call.operation == operation);
    let all = model.operations.iter().enumerate();
    all.filter(|(_, one)| calls(one))
        .map(|(index, _)| index)
        .collect()
}

/// Returns the number of jobs of each operation that follow from those of the operations that release it, given the
/// numbers that were counted.
pub(super) fn expected(model: &Model, jobs: &[u64]) -> Vec<u64> {
    let all = model.operations.iter().enumerate();
    let expected = all.map(|(index, operation)| {
        let suppliers = suppliers_of(model, index);
        let counts = suppliers.iter().map(|supplier| jobs[*supplier]);
        match (suppliers.is_empty(), operation.kind) {
            (true, _) => jobs[index],
            (false, Kind::Conjunction) => counts.min().unwrap_or(0),
            (false, _) => counts.sum(),
        }
    });
    expected.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_proved_for_each_board() {
        assert_eq!(schedules().unwrap().len(), 3);
    }

    #[test]
    fn a_conjunction_has_as_many_jobs_as_its_rarest_supplier() {
        let model = model().unwrap();
        let index = |name| model.operation(name).unwrap();
        let mut jobs = vec![0; model.operations.len()];
        jobs[index("gps.proxy")] = 7;
        jobs[index("ins.proxy")] = 5;
        jobs[index("io.test")] = 2;
        let expected = expected(&model, &jobs);
        assert_eq!(expected[index("position.compute")], 5);
        assert_eq!(expected[index("io.test")], 2);
        assert_eq!(expected[index("fuel.watch")], 0);
    }
}
