//! UIOP profiles, in TAO's format: GIOP over Unix sockets.

use super::{DecodedProfile, ProfileCodec, ProfileEndpoint, Publication, newest, priorities};
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{IorError, TaggedProfile, UiopProfile, tags};
use punctual_link::{Address, uiop};

/// Codec of profiles with TAO's UIOP tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UiopCodec;

impl ProfileCodec for UiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::TAO_UIOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == uiop::NAME
    }

    /// Returns the tag of IIOP: omniORB's clients look for Unix sockets in components of IIOP
    /// profiles.
    fn also_named_in(&self) -> Option<u32> {
        Some(tags::profile::INTERNET_IOP)
    }

    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError> {
        let profile = UiopProfile::decode(data)?;
        let address = Address::new(uiop::NAME, &profile.path);
        let mut endpoints = vec![ProfileEndpoint::new(uiop::NAME, address)];
        let place = priorities::at_path;
        priorities::give(&mut endpoints, &profile.components, self.tag(), place);
        Ok(DecodedProfile {
            version: newest(profile.version)?,
            endpoints,
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// Writes one profile for each endpoint, as a profile can hold only one path.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let profile = |endpoint: &ProfileEndpoint| {
            let priority = priorities::component([endpoint], priorities::at_path)?;
            let components = match object.version {
                GiopVersion::V1_0 => Vec::new(),
                _ => [object.components, priority.as_slice()].concat(),
            };
            UiopProfile {
                version: object.version.into(),
                path: endpoint.address.place().to_owned(),
                object_key: object.object_key.to_vec(),
                components,
            }
            .to_tagged(ByteOrder::NATIVE)
        };
        endpoints.iter().map(profile).collect()
    }
}
