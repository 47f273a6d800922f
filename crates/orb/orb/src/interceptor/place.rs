//! Destination of a call, as its client knows it.

use crate::policy::Effective;
use crate::protocol::Registry;
use punctual_cdr::Environment;
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};
use std::sync::Arc;

/// Destination of a call.
#[derive(Clone)]
pub(crate) struct CallDestination<'a> {
    /// The reference that is called.
    pub(crate) target: &'a Ior,
    /// The target, or the reference that it was forwarded to.
    pub(crate) effective: &'a Ior,
    /// Index of the profile in `effective` that the call uses.
    pub(crate) profile: usize,
    /// The policies in effect.
    pub(crate) policies: Arc<Effective>,
    /// The protocols, for decoding profiles.
    pub(crate) registry: Arc<Registry>,
    /// The caller's ORB.
    pub(crate) environment: &'a dyn Environment,
}

impl CallDestination<'_> {
    pub(super) fn profile(&self) -> Option<&TaggedProfile> {
        self.effective.profiles.get(self.profile)
    }

    /// Returns the components of the profile; none if the ORB does not know its protocol.
    pub(super) fn components(&self) -> Vec<TaggedComponent> {
        let decoded = self.profile().and_then(|profile| {
            let codec = self.registry.codec(profile.tag)?;
            codec.decode(&profile.data).ok()
        });
        decoded
            .map(|profile| profile.components)
            .unwrap_or_default()
    }
}
