//! Optimal priority assignment (Audsley 1991).

use std::cmp::Ordering;

use super::{Dispatching, Dms, Strategy};
use crate::analysis::Task;
use crate::assignment::Candidate;
use crate::assignment::audsley::{Preference, assign_below};
use crate::assignment::rank::ties;

/// Optimal priority assignment (Audsley 1991): a static level for each operation, in an order with
/// which all of them meet their deadlines, if there is one (see [`audsley`](crate::assignment::audsley)).
///
/// Optimal among fixed priorities also with deadlines beyond periods, jitter and sections without
/// preemption; the order is that of [`Dms`] where that fits. The search knows the operations of one
/// processor by themselves: blocking by mutexes, and jitter that chains of calls pass on, come to
/// light in the analysis of the plan. Operations for which no order is found are above those that
/// have a place, in the order of [`Dms`]. Costs nothing at run time. Needs a level for each operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opa;

impl Strategy for Opa {
    fn name(&self) -> &'static str {
        "OPA"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        Dms.level_order(one, other)
    }

    fn levels(&self, candidates: &[&Candidate], platform: Option<&Task>) -> Vec<usize> {
        let mut levels = vec![0; candidates.len()];
        for (level, index) in self.order(candidates, platform).into_iter().enumerate() {
            levels[index] = level;
        }
        levels
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Static
    }
}

impl Opa {
    /// Returns the candidates' indices, the most urgent first.
    fn order(self, candidates: &[&Candidate], platform: Option<&Task>) -> Vec<usize> {
        match assign_below(platform, candidates, Preference::Deadline) {
            Ok(order) => order.indices().to_vec(),
            Err(none) => {
                let mut order = none.stuck;
                order.sort_by(|&one, &other| {
                    let (one, other) = (candidates[one], candidates[other]);
                    self.level_order(one, other).then_with(|| ties(one, other))
                });
                order.extend(none.placed.into_iter().rev());
                order
            }
        }
    }
}
