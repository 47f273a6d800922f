//! Tests that decide on one processor's tasks.

use super::super::lineup::Lineup;
use super::super::rank::urgency;
use crate::analysis::Task;

/// Test that decides if a processor can take one more task.
///
/// It has to be sustainable: tasks that pass together also pass without one of them. The search
/// relies on it.
pub trait Admission {
    /// Returns whether a processor can take `added` beside the tasks `placed` on it, which passed
    /// before and are sorted by `D - J`, the shortest first.
    fn admits(&self, placed: &[&Task], added: &Task) -> bool;
}

/// Admission by exact response times under fixed priorities in deadline monotonic order (`D - J`
/// monotonic with jitter). Bounds in constant time decide most cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeadlineMonotonic;

/// Admission by a test of a whole set, such as the processor demand test of EDF.
#[derive(Clone, Copy, Debug)]
pub struct Feasible<F>(
    /// Test that returns whether all tasks of a processor meet their deadlines.
    pub F,
);

impl Admission for DeadlineMonotonic {
    fn admits(&self, placed: &[&Task], added: &Task) -> bool {
        Lineup::in_order(with(placed, added)).fits()
    }
}

impl<F: Fn(&[&Task]) -> bool> Admission for Feasible<F> {
    fn admits(&self, placed: &[&Task], added: &Task) -> bool {
        (self.0)(&with(placed, added))
    }
}

/// Returns sorted tasks with one more at its place.
fn with<'t>(placed: &[&'t Task], added: &'t Task) -> Vec<&'t Task> {
    let at = placed.partition_point(|task| urgency(task) <= urgency(added));
    let (before, behind) = placed.split_at(at);
    let mut tasks = Vec::with_capacity(placed.len() + 1);
    tasks.extend_from_slice(before);
    tasks.push(added);
    tasks.extend_from_slice(behind);
    tasks
}
