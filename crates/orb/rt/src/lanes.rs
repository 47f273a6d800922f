//! What lanes and calls of an ORB are told of priorities.

use crate::client_priority::ClientPriorityPolicy;
use crate::connection::{PriorityBandedConnectionPolicy, PrivateConnectionPolicy};
use crate::orb::{RtOrb, without_native};
use crate::priority_model::PriorityModelPolicy;
use crate::scheduling;
use crate::thread_pool::ThreadpoolPolicy;
use punctual_exec::ThreadSpec;
use punctual_ior::PriorityModel;
use punctual_orb::{
    AdapterPolicies, CallPolicies, Destination, Priorities, Priority, ServedAt, SystemException,
};

impl Priorities for RtOrb {
    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String> {
        let scheduled = self.scheduled(priority, thread);
        scheduled.ok_or_else(|| without_native(priority))
    }

    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec {
        self.unprioritised(thread)
    }

    fn served_at(&self, policies: &AdapterPolicies) -> ServedAt {
        match policies.value::<PriorityModelPolicy>() {
            None => ServedAt::Any,
            Some(policy) => match policy.model {
                PriorityModel::ServerDeclared => ServedAt::One(policy.server_priority),
                PriorityModel::ClientPropagated => ServedAt::Clients,
            },
        }
    }

    fn pool(&self, policies: &AdapterPolicies) -> Option<u32> {
        let policy = policies.value::<ThreadpoolPolicy>();
        policy.map(|policy| policy.0.0)
    }

    fn destination(
        &self,
        policies: CallPolicies<'_>,
        thread: Option<Priority>,
    ) -> Result<Destination, String> {
        let model = policies.value::<PriorityModelPolicy>();
        if let Some(banded) = policies.value::<PriorityBandedConnectionPolicy>() {
            let priority = match model.map(|policy| (policy.model, policy.server_priority)) {
                Some((PriorityModel::ServerDeclared, priority)) => priority,
                _ => thread.unwrap_or_default(),
            };
            let band = banded.band_of(priority).ok_or_else(|| {
                format!("no band of PriorityBandedConnectionPolicy has priority {priority}")
            })?;
            return Ok(Destination::WithinOrAny(band.clone()));
        }
        match policies.value::<ClientPriorityPolicy>() {
            Some(ClientPriorityPolicy::UseNoPriority) => Ok(Destination::Any),
            Some(ClientPriorityPolicy::UsePriorityRange(range)) => {
                Ok(Destination::Within(range.clone()))
            }
            Some(ClientPriorityPolicy::UseThreadPriority) => match thread {
                Some(priority) => Ok(Destination::Within(priority..=priority)),
                None => Err(
                    "USE_THREAD_PRIORITY, and the thread has no CORBA priority (`set_the_priority` gives it one), or one for \
                     which the ORB has no lane left"
                        .to_owned(),
                ),
            },
            None => Ok(match (model.map(|policy| policy.model), thread) {
                (Some(PriorityModel::ClientPropagated), Some(priority)) => {
                    Destination::Nearest(priority)
                }
                _ => Destination::Any,
            }),
        }
    }

    fn scheduling_point(&self, raised: Option<&SystemException>) -> Result<(), SystemException> {
        scheduling::scheduling_point(raised)
    }

    fn is_private(&self, policies: CallPolicies<'_>) -> bool {
        policies.value::<PrivateConnectionPolicy>().is_some()
    }
}
