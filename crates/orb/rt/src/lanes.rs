//! Implementation of the ORB's [`Priorities`] interface: the priorities of lanes, and the endpoints
//! that calls use.

use crate::client_priority::ClientPriorityPolicy;
use crate::connection::{PriorityBandedConnectionPolicy, PrivateConnectionPolicy};
use crate::distributable;
use crate::orb::{RtOrb, without_native};
use crate::priority_model::PriorityModelPolicy;
use crate::range;
use crate::thread::SavedState;
use crate::thread_pool::ThreadpoolPolicy;
use punctual_exec::ThreadSpec;
use punctual_ior::PriorityModel;
use punctual_orb::{
    AdapterPolicies, CallPolicies, Destination, NetworkDirection, PolicyType, Priorities, Priority,
    RealTimeSettings, ServedAt, SystemException, UnmetPolicies,
};
use punctual_sys::dscp::Dscp;
use std::ops::RangeInclusive;

const BANDED: u32 = PriorityBandedConnectionPolicy::NUMBER;

impl Priorities for RtOrb {
    fn check(&self, settings: &RealTimeSettings) -> Result<(), String> {
        self.config().check(settings)
    }

    fn thread(&self, priority: Priority, thread: ThreadSpec) -> Result<ThreadSpec, String> {
        let scheduled = self.scheduled(priority, thread);
        scheduled.ok_or_else(|| without_native(priority))
    }

    fn thread_without_priority(&self, thread: ThreadSpec) -> ThreadSpec {
        self.unprioritised(thread)
    }

    fn run_at(&self, priority: Priority) -> Result<u64, SystemException> {
        RtOrb::run_at(self, priority).map(SavedState::number)
    }

    fn run_again_at(&self, before: u64) {
        RtOrb::run_again_at(self, SavedState::from_number(before));
    }

    fn dscp(&self, priority: Priority, direction: NetworkDirection) -> Option<Dscp> {
        let network = &self.config().network;
        match direction {
            NetworkDirection::Requests => network.requests.of(priority),
            NetworkDirection::Replies => network.replies.of(priority),
        }
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
    ) -> Result<Destination, UnmetPolicies> {
        let model = policies.value::<PriorityModelPolicy>();
        if let Some(banded) = policies.value::<PriorityBandedConnectionPolicy>() {
            let (priority, types) = match model {
                Some(policy) if policy.model == PriorityModel::ServerDeclared => (
                    policy.server_priority,
                    &[BANDED, PriorityModelPolicy::NUMBER][..],
                ),
                _ => (thread.unwrap_or_default(), &[BANDED][..]),
            };
            let band = banded.band_of(priority).ok_or_else(|| {
                let why =
                    format!("no band of PriorityBandedConnectionPolicy has priority {priority}");
                UnmetPolicies::new(types, why)
            })?;
            return Ok(Destination::Band(band.clone()));
        }
        match policies.value::<ClientPriorityPolicy>() {
            Some(ClientPriorityPolicy::UseNoPriority) => Ok(Destination::Any),
            Some(ClientPriorityPolicy::UsePriorityRange(range)) => Ok(within(range.clone())),
            Some(ClientPriorityPolicy::UseThreadPriority) => match thread {
                Some(priority) => Ok(within(priority..=priority)),
                None => Err(UnmetPolicies::new(
                    &[ClientPriorityPolicy::NUMBER],
                    "USE_THREAD_PRIORITY, and the thread has no CORBA priority (`set_the_priority` gives it one), or one for \
                     which the ORB has no lane left",
                )),
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
        distributable::scheduling_point(raised)
    }

    fn is_private(&self, policies: CallPolicies<'_>) -> bool {
        policies.value::<PrivateConnectionPolicy>().is_some()
    }

    fn range(&self, band: &RangeInclusive<Priority>) -> Vec<u8> {
        range::encoded(band).to_vec()
    }

    fn band(&self, range: Option<&[u8]>) -> Result<RangeInclusive<Priority>, SystemException> {
        let band = range::decoded(range)?;
        self.check_band(&band)?;
        Ok(self.allowed(&band))
    }

    fn read_at(&self, priority: Priority) {
        self.set_idle_priority(priority);
    }

    fn read_as_before(&self) {
        self.restore_idle_priority();
    }
}

/// Returns the destination of calls that ClientPriorityPolicy restricts to a range of priorities.
fn within(priorities: RangeInclusive<Priority>) -> Destination {
    let policy = ClientPriorityPolicy::NUMBER;
    Destination::Within { priorities, policy }
}
