//! Places tasks: by one heuristic, by all in turn, by search.

use super::processors::Processors;
use super::search as branches;
use super::{Admission, Heuristic, PartitionError, Placement, Problem};

/// Places tasks by one heuristic.
///
/// # Errors
/// [`PartitionError`]: among others, [`NoRoom`](PartitionError::NoRoom) if the heuristic fails.
pub fn place(
    problem: &Problem<'_>,
    heuristic: Heuristic,
    admission: &impl Admission,
) -> Result<Placement, PartitionError> {
    let mut processors = Processors::new(problem, admission)?;
    for task in processors.free() {
        let Some(processor) = processors.choose(task, heuristic) else {
            return Err(PartitionError::NoRoom {
                task,
                placed: processors.into_places(),
            });
        };
        processors.put(task, processor);
    }
    Ok(processors.into_placement())
}

/// Places tasks by first fit, best fit and worst fit in turn, then by search.
///
/// # Errors
/// [`PartitionError`]: [`GaveUp`](PartitionError::GaveUp) after `limit` admission tests of the
/// search, [`Impossible`](PartitionError::Impossible) if there is no placement.
pub fn partition(
    problem: &Problem<'_>,
    admission: &impl Admission,
    limit: u64,
) -> Result<Placement, PartitionError> {
    if branches::is_hopeless(&Processors::new(problem, admission)?) {
        return Err(PartitionError::Impossible);
    }
    for heuristic in [Heuristic::FirstFit, Heuristic::BestFit, Heuristic::WorstFit] {
        match place(problem, heuristic, admission) {
            Err(PartitionError::NoRoom { .. }) => {}
            decided => return decided,
        }
    }
    search(problem, admission, limit)
}

/// Places tasks by branch and bound, in falling order of utilisation.
///
/// Of processors that are empty and to which no task is pinned, only one is tried; a branch ends
/// where the remaining tasks need more than the processors have left.
///
/// # Errors
/// [`PartitionError`]: [`GaveUp`](PartitionError::GaveUp) after `limit` admission tests,
/// [`Impossible`](PartitionError::Impossible) if there is no placement.
pub fn search(
    problem: &Problem<'_>,
    admission: &impl Admission,
    limit: u64,
) -> Result<Placement, PartitionError> {
    branches::run(Processors::new(problem, admission)?, limit)
}
