//! Profiles of groups (TAG_UIPMC).

use crate::key;
use crate::messaging::PROTOCOL;
use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IorError, TaggedProfile, UipmcProfile, tags};
use punctual_link::{Address, miop};
use punctual_orb::{DecodedProfile, ProfileCodec, ProfileEndpoint, Publication};
use std::net::{IpAddr, SocketAddr};

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
        let address = address_of(&profile);
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

/// Returns the address of a profile's group. The texts of one IPv6 address become one: an address is joined once.
pub(crate) fn address_of(profile: &UipmcProfile) -> Address {
    let place = match profile.address.parse::<IpAddr>() {
        Ok(address) => SocketAddr::new(address, profile.port).to_string(),
        Err(_) => {
            let at = Address::iiop(&profile.address, profile.port);
            at.place().to_owned()
        }
    };
    Address::new(miop::NAME, &place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_ior::GroupInfo;

    #[test]
    fn all_texts_of_a_groups_address_are_one_address() {
        let at = |address| {
            let group = GroupInfo::new("d", 1);
            let profile = UipmcProfile::of_group(&group, (address, 5555), None).unwrap();
            let data = profile.encode(punctual_cdr::ByteOrder::Big).unwrap();
            UipmcCodec.decode(&data).unwrap().endpoints
        };
        for text in ["FF15::1", "ff15:0::1", "ff15:0:0:0:0:0:0:1"] {
            assert_eq!(at(text), at("ff15::1"), "{text}");
        }
        assert_eq!(at("ff15::1")[0].address.place(), "[ff15::1]:5555");
        assert_eq!(at("239.255.0.1")[0].address.place(), "239.255.0.1:5555");
    }
}
