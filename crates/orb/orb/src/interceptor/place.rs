//! Destination of a call, as known to its client.

use crate::policy::Effective;
use crate::protocol::Protocols;
use punctual_cdr::Environment;
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};

/// Destination of a call, for the client's interceptors.
pub(crate) struct CallDestination<'a> {
    /// Reference on which the call was made.
    pub(crate) target: &'a Ior,
    /// Reference to which the request is sent: the target, or the one to which the call was
    /// forwarded.
    pub(crate) effective: &'a Ior,
    /// Index of the profile in `effective` that the call uses.
    pub(crate) profile: usize,
    /// Policies in effect for the call.
    pub(crate) policies: &'a Effective,
    /// Protocols of the ORB, used to decode profiles.
    pub(crate) protocols: &'a Protocols,
    /// ORB of the caller, in which values are created.
    pub(crate) environment: &'a dyn Environment,
}

impl CallDestination<'_> {
    pub(super) fn profile(&self) -> Option<&TaggedProfile> {
        self.effective.profiles.get(self.profile)
    }

    /// Returns the components of the profile; none if the ORB does not know its protocol.
    pub(super) fn components(&self) -> Vec<TaggedComponent> {
        let decoded = self.profile().and_then(|profile| {
            let registry = self.protocols.now();
            let codec = registry.codec(profile.tag)?;
            codec.decode(&profile.data).ok()
        });
        decoded
            .map(|profile| profile.components)
            .unwrap_or_default()
    }
}
