//! Order of the requests that wait in a lane's queue, by the plan's deadlines.

use crate::schedule::{Activity, Dispatching};
use punctual::policy::{PolicyLevels, PolicyType};
use punctual::rt::{Urgency, UrgencyStrategy, WaitingRequest};
use punctual_sys::clock;
use std::sync::Arc;

/// Policy of an adapter or object whose requests are jobs of an activity.
#[derive(Clone, Debug)]
pub(crate) struct ScheduledOperation(pub(crate) Arc<Activity>);

impl PartialEq for ScheduledOperation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ScheduledOperation {}

impl PolicyType for ScheduledOperation {
    const NUMBER: u32 = 0x5055_4e10;
    const NAME: &'static str = "ScheduledOperation";
    const LEVELS: PolicyLevels = PolicyLevels::POA;
}

/// Strategy of an ORB whose objects are scheduled by a plan: requests of a queue are served by their deadlines, or
/// their laxities at arrival, within their priority. All others are ordered by their policies.
///
/// A request's deadline counts from its arrival here: the time that it took before is not known.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlannedUrgency;

impl UrgencyStrategy for PlannedUrgency {
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency {
        let policies = request.policies;
        let Some(of) = policies.and_then(|all| all.value::<ScheduledOperation>()) else {
            return request.by_policies;
        };
        urgency(&of.0, request.by_policies, clock::nanos())
    }
}

/// Returns the urgency of a job that arrives at this time.
fn urgency(activity: &Activity, by_policies: Urgency, now: u64) -> Urgency {
    let deadline = now.saturating_add(activity.deadline().as_nanos());
    match activity.dispatching() {
        Dispatching::DeadlineQueue => by_policies.with_deadline(deadline),
        // The laxities of waiting jobs shrink alike: the order of latest starts is theirs at any time.
        Dispatching::LaxityQueue => {
            let latest_start = deadline.saturating_sub(activity.wcet().as_nanos());
            by_policies.with_deadline(latest_start)
        }
        _ => by_policies,
    }
}
