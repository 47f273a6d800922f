//! Profiles of groups (TAG_UIPMC).

use crate::key;
use crate::messaging::PROTOCOL;
use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IorError, TaggedProfile, UipmcProfile, tags};
use punctual_link::{Address, miop};
use punctual_orb::{DecodedProfile, ProfileCodec, ProfileEndpoint, Publication};

/// Codec of profiles with the tag TAG_UIPMC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UipmcCodec;

impl ProfileCodec for UipmcCodec {
    fn tag(&self) -> u32 {
        tags::profile::UIPMC
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == PROTOCOL
    }

    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError> {
        let profile = UipmcProfile::decode(data)?;
        if profile.group().is_none() {
            let missing = "a profile of a multicast group has a component TAG_GROUP";
            return Err(CdrError::Invalid(missing).into());
        }
        let at = Address::iiop(&profile.address, profile.port);
        let address = Address::new(miop::NAME, at.place());
        Ok(DecodedProfile {
            // Older ones have no place for a profile as the target of a request.
            version: GiopVersion::V1_2,
            object_key: key::of_profile(data),
            components: profile.components,
            endpoints: vec![ProfileEndpoint::new(PROTOCOL, address)],
        })
    }

    /// Returns the IIOP profile by which calls with replies go.
    fn nested(&self, data: &[u8]) -> Vec<TaggedProfile> {
        let profile = UipmcProfile::decode(data).ok();
        let gateway = profile.as_ref().and_then(UipmcProfile::group_iiop);
        let tagged = |data: &[u8]| TaggedProfile {
            tag: tags::profile::INTERNET_IOP,
            data: data.to_vec(),
        };
        gateway.map(tagged).into_iter().collect()
    }

    /// Returns no profiles: a reference of an object does not lead to the groups that it is a member of.
    fn encode(
        &self,
        _endpoints: &[ProfileEndpoint],
        _object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        Ok(Vec::new())
    }
}
