//! Calls through references of object groups (Fault Tolerant CORBA; CORBA 3.0, chapter 23): what a crate built on this one
//! decides about them.
//!
//! A reference is one of a group if a profile has TAG_FT_GROUP. Its calls carry FT_GROUP_VERSION and FT_REQUEST, and are
//! repeated at other members within their duration. An ORB without a [`GroupCalls`] treats such a reference like any other.

use crate::config::OrbConfig;
use crate::fixed_context::{CallPolicies, RequestContext};
use punctual_giop::service_context::FT_GROUP_VERSION;
use punctual_ior::{Component, FtGroup, Ior};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// True if the ORB can call object groups. Code that calls them asks this first, so that it is left out of programs
/// without the feature.
pub(crate) const ARE_BUILT_IN: bool = cfg!(feature = "object-groups");

/// Source of the terms of calls to object groups ([`crate::OrbBuilder::group_calls`]).
pub trait GroupCalls: Send + Sync + Debug {
    /// Returns the terms of calls under these policies. Called when a call takes the slow path, and when a path is
    /// remembered.
    fn terms(&self, policies: CallPolicies<'_>, config: &OrbConfig) -> GroupTerms;
}

/// Terms of calls to an object group.
#[derive(Clone, Debug)]
pub struct GroupTerms {
    /// Time for which a call is repeated.
    pub duration: Duration,
    /// Service context that identifies a call in all its repeats: it is filled in once for each call.
    pub request: Arc<dyn RequestContext>,
    /// Heartbeats while a reply is awaited, if the client wants them.
    pub heartbeat: Option<Heartbeat>,
}

/// Heartbeats of a connection on which a reply is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Time without a reply after which a heartbeat is sent.
    pub interval: Duration,
    /// Time without an answer to a heartbeat after which the connection counts as dead.
    pub time_out: Duration,
}

/// Registered source of terms, as an extension of an ORB.
pub(crate) struct GroupCallsSource(pub(crate) Arc<dyn GroupCalls>);

/// What a reference says about fault tolerance, profile by profile.
#[derive(Debug, Default)]
pub(crate) struct StatedGroup {
    /// Group of the reference; `None` for a reference of a single object.
    pub(crate) group: Option<FtGroup>,
    /// For each profile, whether it is one of the primary member.
    primary: Box<[bool]>,
    /// For each profile, whether its server answers heartbeats.
    heartbeats: Box<[bool]>,
}

impl StatedGroup {
    /// Reads what a reference says.
    pub(crate) fn of(ior: &Ior) -> Self {
        let mut group = None;
        let (mut primary, mut heartbeats) = (Vec::new(), Vec::new());
        for profile in &ior.profiles {
            let (mut is_primary, mut answers) = (false, false);
            for component in profile.components() {
                match component.decode() {
                    Ok(Component::FtGroup(stated)) => group = group.or(Some(stated)),
                    Ok(Component::FtPrimary(stated)) => is_primary |= stated,
                    Ok(Component::FtHeartbeatEnabled(stated)) => answers |= stated,
                    _ => {}
                }
            }
            primary.push(is_primary);
            heartbeats.push(answers);
        }
        Self {
            group,
            primary: primary.into(),
            heartbeats: heartbeats.into(),
        }
    }

    /// Returns whether a profile is one of the primary member.
    pub(crate) fn is_primary(&self, profile: usize) -> bool {
        self.primary.get(profile).copied().unwrap_or_default()
    }

    /// Returns whether the server of a profile answers heartbeats.
    pub(crate) fn answers_heartbeats(&self, profile: usize) -> bool {
        self.heartbeats.get(profile).copied().unwrap_or_default()
    }
}

/// Service context FT_GROUP_VERSION: `unsigned long`, the version of the reference by which the client calls.
#[derive(Debug)]
pub(crate) struct GroupVersion(pub(crate) u32);

impl GroupVersion {
    /// Length of the data: the byte order, padding, the version.
    pub(crate) const LENGTH: usize = 8;

    /// Returns the data of the context.
    pub(crate) fn data(&self) -> [u8; Self::LENGTH] {
        let [a, b, c, d] = self.0.to_ne_bytes();
        [
            u8::from(cfg!(target_endian = "little")),
            0,
            0,
            0,
            a,
            b,
            c,
            d,
        ]
    }
}

impl RequestContext for GroupVersion {
    fn id(&self) -> u32 {
        FT_GROUP_VERSION
    }

    fn length(&self) -> usize {
        Self::LENGTH
    }

    fn fill(&self, data: &mut [u8]) {
        if let Some(data) = data.first_chunk_mut() {
            *data = self.data();
        }
    }
}
