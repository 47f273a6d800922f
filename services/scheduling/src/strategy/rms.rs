//! Rate monotonic scheduling (Liu and Layland 1973).

use std::cmp::Ordering;

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;

/// Rate monotonic scheduling (Liu and Layland 1973): one static level for each period, the shortest
/// first.
///
/// Optimal among fixed priorities where deadlines are the periods, without jitter or blocking. Costs
/// nothing at run time, and in an overload the longest periods miss first, critical or not. `n` tasks
/// are certain to fit up to a utilisation of `n (2^(1/n) - 1)`, 69 % for many; harmonic periods reach
/// 100 %. Needs a level for each period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rms;

impl Strategy for Rms {
    fn name(&self) -> &'static str {
        "RMS"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        one.task.period.cmp(&other.task.period)
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Static
    }
}
