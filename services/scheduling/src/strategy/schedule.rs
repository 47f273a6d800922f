//! Schedule that a strategy makes of operations.

use super::admission::{Admission, Limit};
use super::{Dispatching, Operation, Strategy};
use crate::analysis::Task;
use crate::assignment::Candidate;

/// Outcome of a strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// Order of dispatching of each static priority level; level 0 is served first.
    pub levels: Vec<Dispatching>,
    /// Outcome of each operation, in their order.
    pub operations: Vec<Outcome>,
}

/// Outcome of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The processor takes the operation.
    Admitted(Admitted),
    /// The processor does not take it.
    LeftOut(LeftOut),
}

/// Place of an admitted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Number of the rate in [`Operation::rates`].
    pub rate: usize,
    /// Static priority level; 0 is served first.
    pub level: usize,
    /// Sub-priority inside the level; 0 is served first where dispatching does not decide.
    pub subpriority: usize,
}

/// Reason of an operation that is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// Utilisation of the operations admitted up to then and of this one at the first of its rates
    /// that was refused, 1.0 for the whole processor; `None` if it has no rate.
    pub utilisation: Option<f64>,
}

/// Makes a schedule of one processor's operations.
///
/// # Panics
/// If the comparisons of a program's own strategy are not total orders, or its levels are not those
/// of all operations.
#[must_use]
pub fn schedule(strategy: &dyn Strategy, operations: &[Operation], limit: Limit<'_>) -> Schedule {
    schedule_below(None, strategy, operations, limit)
}

/// Makes a schedule as [`schedule`], with levels below the time that the platform takes.
pub(crate) fn schedule_below(
    platform: Option<&Task>,
    strategy: &dyn Strategy,
    operations: &[Operation],
    limit: Limit<'_>,
) -> Schedule {
    let admission = Admission::run(strategy, operations, limit);
    let admitted = admission.admitted.iter().enumerate();
    let (indices, candidates): (Vec<usize>, Vec<&Candidate>) = admitted
        .filter_map(|(index, one)| one.as_ref().map(|(_, candidate)| (index, candidate)))
        .unzip();
    let levels_of = strategy.levels(&candidates, platform);
    let subpriorities = subpriorities(strategy, &candidates, &levels_of);
    let count = levels_of.iter().max().map_or(0, |last| last + 1);
    let mut levels = vec![Dispatching::Static; count];
    let mut operations: Vec<Outcome> = admission
        .refused
        .iter()
        .map(|&utilisation| Outcome::LeftOut(LeftOut { utilisation }))
        .collect();
    for (at, (&index, &level)) in indices.iter().zip(&levels_of).enumerate() {
        levels[level] = strategy.dispatching(candidates[at]);
        if let Some((rate, _)) = admission.admitted[index] {
            operations[index] = Outcome::Admitted(Admitted {
                rate,
                level,
                subpriority: subpriorities[at],
            });
        }
    }
    Schedule { levels, operations }
}

/// Returns the sub-priority of each candidate in its level.
fn subpriorities(
    strategy: &dyn Strategy,
    candidates: &[&Candidate],
    levels: &[usize],
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&one, &other| {
        let by_level = levels[one].cmp(&levels[other]);
        by_level.then_with(|| strategy.subpriority_order(candidates[one], candidates[other]))
    });
    let (mut places, mut begin) = (vec![0; candidates.len()], 0);
    for (at, &index) in order.iter().enumerate() {
        if levels[order[begin]] != levels[index] {
            begin = at;
        }
        places[index] = at - begin;
    }
    places
}

impl Schedule {
    /// Returns the operations that are left out, as indices in rising order.
    pub fn left_out(&self) -> impl Iterator<Item = usize> {
        let all = self.operations.iter().enumerate();
        all.filter(|(_, outcome)| matches!(outcome, Outcome::LeftOut(_)))
            .map(|(index, _)| index)
    }
}

impl Outcome {
    /// Returns the place of an admitted operation.
    #[must_use]
    pub const fn admitted(&self) -> Option<Admitted> {
        match self {
            Self::Admitted(admitted) => Some(*admitted),
            Self::LeftOut(_) => None,
        }
    }
}
