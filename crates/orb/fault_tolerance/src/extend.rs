//! Extension of an ORB by fault tolerance.

use crate::adapter::Wrapper;
use crate::member::GroupMember;
use crate::members::{Members, NotAMember};
use crate::policies::{HeartbeatEnabledPolicy, HeartbeatPolicy, RequestDurationPolicy};
use crate::request::{ClientId, RequestIdentity};
use crate::retention::{Retention, RetentionCounts};
use punctual_orb::{
    CallPolicies, GroupCalls, GroupTerms, Heartbeat, InitError, ObjectRef, Orb, OrbBuilder,
    OrbConfig, relay,
};
use std::sync::{Arc, OnceLock};

/// Fault tolerance of an ORB: as a client of object groups, and as the server of their members.
#[derive(Debug)]
pub struct FaultTolerance {
    client: Arc<ClientId>,
    pub(crate) members: Arc<Members>,
    /// Kept replies; set when the ORB gets its object adapter.
    pub(crate) retention: OnceLock<Arc<Retention>>,
}

impl FaultTolerance {
    /// Adds fault tolerance to an ORB, with its policies; [`FaultTolerance::of`] then finds it. The settings are
    /// [`OrbConfig::fault_tolerance`].
    ///
    /// # Errors
    /// [`InitError::PolicyType`] when the ORB has another policy type of the same number; [`InitError::FaultTolerance`] if the
    /// operating system gives no random numbers for the client's id.
    pub fn extend(builder: OrbBuilder) -> Result<OrbBuilder, InitError> {
        let client = ClientId::random().map_err(|_| InitError::FaultTolerance)?;
        let this = Arc::new(Self {
            client: Arc::new(client),
            members: Arc::default(),
            retention: OnceLock::new(),
        });
        Ok(builder
            .policy_type::<RequestDurationPolicy>()?
            .policy_type::<HeartbeatPolicy>()?
            .policy_type::<HeartbeatEnabledPolicy>()?
            .group_calls(this.clone())
            .adapter_wrapper(Arc::new(Wrapper(this.clone())))
            .extension(this))
    }

    /// Returns the fault tolerance that belongs to an ORB, if it has been added.
    #[must_use]
    pub fn of(orb: &Orb) -> Option<Arc<Self>> {
        orb.extension()
    }

    /// Returns the id by which servers know this ORB as a client: random, and fixed for the ORB.
    #[must_use]
    pub fn client_id(&self) -> &str {
        self.client.text()
    }

    /// Makes an object of this ORB the member of a group: from now on requests for it are checked against what the member says,
    /// and their replies are kept for repeats. An object is a member of one group; joining again replaces the member. `object`
    /// is the member's own reference, as its POA makes it.
    ///
    /// # Errors
    /// [`NotAMember`] for a reference that this ORB cannot read.
    pub fn join(&self, object: &ObjectRef, member: &Arc<GroupMember>) -> Result<(), NotAMember> {
        self.members.add(&name_of(object)?, member);
        Ok(())
    }

    /// Ends the membership of an object: requests for it are served like those for others.
    ///
    /// # Errors
    /// [`NotAMember`] for a reference that this ORB cannot read.
    pub fn leave(&self, object: &ObjectRef) -> Result<(), NotAMember> {
        self.members.remove(&name_of(object)?);
        Ok(())
    }

    /// Returns how many replies are kept.
    #[must_use]
    pub fn retained(&self) -> RetentionCounts {
        let retention = self.retention.get();
        retention.map(|kept| kept.counts()).unwrap_or_default()
    }
}

/// Returns the part of an object's key that identifies it in its ORB.
fn name_of(object: &ObjectRef) -> Result<Vec<u8>, NotAMember> {
    let orb = object.orb();
    let profile = relay::first_profile(orb, object.ior(), &[]).map_err(|_| NotAMember)?;
    let adapter = orb.adapter().ok_or(NotAMember)?;
    Ok(adapter.name_in(&profile.object_key).into_owned())
}

impl GroupCalls for FaultTolerance {
    fn terms(&self, policies: CallPolicies<'_>, config: &OrbConfig) -> GroupTerms {
        let duration = policies.value::<RequestDurationPolicy>();
        let duration = duration.map_or(config.fault_tolerance.request_duration, |it| it.0);
        let heartbeat = policies.value::<HeartbeatPolicy>();
        let heartbeat = heartbeat.filter(|it| it.heartbeat);
        GroupTerms {
            duration,
            request: Arc::new(RequestIdentity::new(self.client.clone(), duration)),
            heartbeat: heartbeat.map(|it| Heartbeat {
                interval: it.interval,
                time_out: it.time_out,
            }),
        }
    }
}
