//! Side of a bridge: the bridge itself, or its target.

use punctual_cdr::GiopVersion;
use punctual_ior::{TaggedComponent, TaggedProfile};
use punctual_orb::relay::{decoded_profile, profiles_at};
use punctual_orb::{Orb, ProfileEndpoint, Publication, SystemException};
use std::slice;

/// Side of a bridge, the bridge itself or its target, with the data of references to it.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(super) orb: Orb,
    pub(super) endpoints: Vec<ProfileEndpoint>,
    pub(super) version: GiopVersion,
    pub(super) code_sets: Option<TaggedComponent>,
}

impl Side {
    /// Returns the object key in a profile that names an endpoint of this side.
    pub(super) fn key_of(&self, tag: u32, data: &[u8]) -> Option<Vec<u8>> {
        let profile = decoded_profile(&self.orb, tag, data)?;
        let is_own =
            |one: &ProfileEndpoint| self.endpoints.iter().any(|own| own.has_same_address(one));
        let is_here = profile.endpoints.iter().any(is_own);
        is_here.then_some(profile.object_key)
    }

    /// Returns the choices of endpoints to name in a reference, the best first: all endpoints
    /// together, then each of them alone.
    pub(super) fn choices(&self) -> impl Iterator<Item = &[ProfileEndpoint]> {
        let alone = self.endpoints.iter().map(slice::from_ref);
        let all = (self.endpoints.len() > 1).then_some(self.endpoints.as_slice());
        all.into_iter().chain(alone)
    }

    /// Returns the profiles for an object on this side.
    ///
    /// # Errors
    /// Parts that cannot be encoded.
    pub(super) fn profiles(
        &self,
        endpoints: &[ProfileEndpoint],
        object_key: &[u8],
        more: &[TaggedComponent],
    ) -> Result<Vec<TaggedProfile>, SystemException> {
        let components: Vec<_> = self.code_sets.iter().chain(more).cloned().collect();
        let object = Publication {
            version: self.version,
            object_key,
            components: &components,
        };
        profiles_at(&self.orb, endpoints, &object)
    }
}
