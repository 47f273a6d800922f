//! Where a call goes, as its client knows it.

use crate::policy::Effective;
use crate::protocol::Registry;
use punctual_cdr::Environment;
use punctual_ior::{Ior, TaggedComponent, TaggedProfile};
use std::sync::Arc;

/// See the module.
#[derive(Clone)]
pub(crate) struct Place<'a> {
    /// The reference that is called.
    pub(crate) target: &'a Ior,
    /// That reference, or where it was forwarded to.
    pub(crate) effective: &'a Ior,
    /// Which of the latter's profiles the call goes by.
    pub(crate) profile: usize,
    /// Under which policies.
    pub(crate) policies: Arc<Effective>,
    /// What reads profiles.
    pub(crate) registry: Arc<Registry>,
    /// The caller's ORB.
    pub(crate) environment: &'a dyn Environment,
}

impl Place<'_> {
    pub(super) fn profile(&self) -> Option<&TaggedProfile> {
        self.effective.profiles.get(self.profile)
    }

    /// The components of the profile; none where it is of a kind that is not known here.
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
