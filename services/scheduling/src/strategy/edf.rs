//! Earliest deadline first (Liu and Layland 1973).

use std::cmp::Ordering;

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;

/// Earliest deadline first (Liu and Layland 1973): one level, served by deadline.
///
/// Optimal on one processor with preemption: it reaches a utilisation of 100 % where deadlines are
/// the periods. Costs a queue ordered by deadline. In an overload any operation may miss its
/// deadline, and one miss may cause others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Edf;

impl Strategy for Edf {
    fn name(&self) -> &'static str {
        "EDF"
    }

    fn level_order(&self, _: &Candidate, _: &Candidate) -> Ordering {
        Ordering::Equal
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Deadline
    }
}
