//! Tests that decide on one processor's tasks.

use super::super::lineup::Lineup;
use crate::analysis::Task;

/// Test that decides if one processor can execute tasks. A closure `|tasks: &[&Task]| …` is one, too:
/// the processor demand test of EDF, for example.
///
/// It has to be sustainable: tasks that pass together also pass without one of them. The search
/// relies on it.
pub trait Admission {
    /// Returns whether a processor can take tasks, which are sorted by `D - J`, the shortest first,
    /// and by index where it is equal.
    fn admits(&self, tasks: &[&Task]) -> bool;

    /// Returns whether this is the test of [`DeadlineMonotonic`]. Placement then tries upper bounds
    /// of the response times first, from sums that it keeps for each processor.
    fn is_deadline_monotonic(&self) -> bool {
        false
    }
}

/// Admission by exact response times under fixed priorities in deadline monotonic order (`D - J`
/// monotonic with jitter; ties are broken by index alone). Bounds in constant time decide most cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeadlineMonotonic;

impl Admission for DeadlineMonotonic {
    fn admits(&self, tasks: &[&Task]) -> bool {
        Lineup::in_order(tasks.to_vec()).fits()
    }

    fn is_deadline_monotonic(&self) -> bool {
        true
    }
}

impl<F: Fn(&[&Task]) -> bool> Admission for F {
    fn admits(&self, tasks: &[&Task]) -> bool {
        self(tasks)
    }
}
