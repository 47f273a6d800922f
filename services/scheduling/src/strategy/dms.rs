//! Deadline monotonic scheduling (Leung and Whitehead 1982).

use std::cmp::Ordering;

use super::{Dispatching, Strategy};
use crate::assignment::Candidate;
use crate::assignment::rank::urgency;

/// Deadline monotonic scheduling (Leung and Whitehead 1982): one static level for each `D - J`, the
/// time from the latest release to the deadline, the shortest first.
///
/// Optimal among fixed priorities where deadlines are at most the periods, with jitter, too (Zuhily
/// and Burns 2007); not with deadlines beyond periods or with sections without preemption, where
/// [`Opa`](super::Opa) is. Costs nothing at run time. Needs a level for each deadline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dms;

impl Strategy for Dms {
    fn name(&self) -> &'static str {
        "DMS"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        urgency(&one.task).cmp(&urgency(&other.task))
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Static
    }
}
