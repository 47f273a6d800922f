//! Where the bridge is, and where its target is.

use super::fit;
use punctual_cdr::{ByteOrder, GiopVersion};
use punctual_ior::{CodeSetComponentInfo, Ior, TaggedComponent, TaggedProfile};
use punctual_orb::relay::{endpoints_of, profiles_at, reference_to};
use punctual_orb::{ObjectRef, Orb, ProfileEndpoint, Publication, SystemException};
use std::slice;

/// Punctual's own ORB type.
const ORB_TYPE: u32 = 0x5055_4e00;

/// Both ends of the way that a bridge is.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) orb: Orb,
    pub(crate) bridge: Vec<ProfileEndpoint>,
    pub(crate) target_orb: Orb,
    pub(crate) target: Vec<ProfileEndpoint>,
    /// What both publish.
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: Option<CodeSetComponentInfo>,
}

/// One end.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    orb: Orb,
    endpoints: Vec<ProfileEndpoint>,
    pub(super) version: GiopVersion,
    code_sets: Option<TaggedComponent>,
}

impl Route {
    /// An address that both ends have.
    pub(crate) fn loops(&self) -> Option<&str> {
        let mut both = self
            .target
            .iter()
            .filter(|one| self.bridge.iter().any(|here| here.is_where(one)));
        both.next().map(|one| one.address.place())
    }

    /// The reference through the bridge to an object of the target's. It is no shorter than one to the
    /// target itself, if it can be padded, so that it can be rewritten to that.
    ///
    /// # Errors
    /// What cannot be encoded.
    pub(crate) fn through_bridge(
        self,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        let orb = self.orb.clone();
        let (bridge, target) = self.sides();
        let ior = |profiles| Ior {
            type_id: type_id.to_owned(),
            profiles,
        };
        let own = ior(bridge.profiles(
            &bridge.endpoints,
            object_key,
            &[TaggedComponent::orb_type(ORB_TYPE)],
        )?);
        let targets = ior(target.profiles(&target.endpoints, object_key, &[])?);
        let room = fit::length(&targets, ByteOrder::NATIVE);
        if fit::length(&own, ByteOrder::NATIVE) < room {
            let padded = fit::of_length(room, type_id, object_key, &bridge, &[], ByteOrder::NATIVE);
            if let Some(padded) = padded {
                return Ok(reference_to(&orb, padded));
            }
        }
        Ok(reference_to(&orb, own))
    }

    pub(crate) fn sides(self) -> (Side, Side) {
        let info = self.code_sets.as_ref();
        // One that cannot be encoded came from nowhere.
        let code_sets = info.and_then(|info| TaggedComponent::code_sets(info).ok());
        let side = |orb, endpoints| Side {
            orb,
            endpoints,
            version: self.version,
            code_sets: code_sets.clone(),
        };
        (
            side(self.orb, self.bridge),
            side(self.target_orb, self.target),
        )
    }
}

impl Side {
    /// The object key in a profile that names an endpoint of this side's.
    pub(super) fn key_of(&self, tag: u32, data: &[u8]) -> Option<Vec<u8>> {
        let profile = TaggedProfile {
            tag,
            data: data.to_vec(),
        };
        let ior = Ior {
            type_id: String::new(),
            profiles: vec![profile],
        };
        let endpoints = endpoints_of(&self.orb, &ior);
        let is_here = self
            .endpoints
            .iter()
            .any(|own| endpoints.iter().any(|one| own.is_where(one)));
        let profile = is_here.then(|| punctual_orb::relay::first_profile(&self.orb, &ior, &[]))?;
        Some(profile.ok()?.object_key)
    }

    /// Choices of endpoints to name in a reference, the best first: all of them, then each alone.
    pub(super) fn choices(&self) -> impl Iterator<Item = &[ProfileEndpoint]> {
        let alone = self.endpoints.iter().map(slice::from_ref);
        let all = (self.endpoints.len() > 1).then_some(self.endpoints.as_slice());
        all.into_iter().chain(alone)
    }

    /// The profiles for an object here.
    ///
    /// # Errors
    /// What cannot be encoded.
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
