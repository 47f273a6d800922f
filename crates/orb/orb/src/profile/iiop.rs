//! IIOP profiles (CORBA 3.3 part 2, §9.7.2): TCP, and as components alternate addresses and TLS.

use super::{Place, PlacedProfile, ProfileCodec, Publication};
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{Endpoint, IiopProfile, IorError, TaggedComponent, TaggedProfile, tags};
use punctual_link::{Address, iiop};

/// The codec of INTERNET_IOP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IiopCodec;

impl ProfileCodec for IiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::INTERNET_IOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == iiop::NAME
    }

    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError> {
        let profile = IiopProfile::decode(data)?;
        let (major, minor) = (profile.version.major, profile.version.minor);
        let version = profile
            .version
            .giop()
            .ok_or(IorError::UnsupportedVersion { major, minor })?;
        // A port of 0 says that the profile's own address is not for use (another transport's is).
        let places = profile
            .endpoints()
            .filter(|place| place.port != 0)
            .map(|place| at(&place))
            .collect();
        Ok(PlacedProfile {
            version,
            places,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// One profile, with the places after the first as alternate addresses; in GIOP 1.0, which has no
    /// components, one each.
    fn encode(
        &self,
        places: &[Place],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let mut endpoints = places.iter().filter_map(|place| endpoint(&place.address));
        let profile = |place: Endpoint, components| {
            IiopProfile {
                version: object.version.into(),
                host: place.host,
                port: place.port,
                object_key: object.object_key.to_vec(),
                components,
            }
            .to_tagged(ByteOrder::NATIVE)
        };
        if object.version == GiopVersion::V1_0 {
            return endpoints.map(|place| profile(place, Vec::new())).collect();
        }
        let Some(first) = endpoints.next() else {
            return Ok(Vec::new());
        };
        let mut components = object.components.to_vec();
        for other in endpoints {
            components.push(TaggedComponent::alternate_iiop_address(&other)?);
        }
        Ok(vec![profile(first, components)?])
    }
}

fn at(place: &Endpoint) -> Place {
    Place {
        protocol: iiop::NAME.into(),
        address: Address::iiop(&place.host, place.port),
    }
}

/// An address as host and port.
pub(super) fn endpoint(address: &Address) -> Option<Endpoint> {
    let (host, port) = address.host_and_port()?;
    Some(Endpoint {
        host: host.to_owned(),
        port,
    })
}
