//! DIOP profiles, as TAO has them: GIOP's one-ways in datagrams.

use super::iiop::endpoint;
use super::{Place, PlacedProfile, ProfileCodec, Publication, newest};
use crate::messaging::Giop;
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{DiopProfile, IorError, TaggedProfile, tags};
use punctual_link::{Address, diop};

/// The codec of TAO's DIOP tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiopCodec;

fn protocol() -> String {
    format!("{}+{}", Giop::ONE_WAY_NAME, diop::NAME)
}

impl ProfileCodec for DiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::TAO_DIOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == self::protocol()
    }

    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError> {
        let profile = DiopProfile::decode(data)?;
        let place = Address::iiop(&profile.host, profile.port);
        Ok(PlacedProfile {
            version: newest(profile.version)?,
            places: vec![Place {
                protocol: protocol().into(),
                address: Address::new(diop::NAME, place.place()),
            }],
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// One for each place.
    fn encode(
        &self,
        places: &[Place],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let components = match object.version {
            GiopVersion::V1_0 => &[],
            _ => object.components,
        };
        let endpoints = places.iter().filter_map(|place| endpoint(&place.address));
        endpoints
            .map(|endpoint| {
                DiopProfile {
                    version: object.version.into(),
                    host: endpoint.host,
                    port: endpoint.port,
                    object_key: object.object_key.to_vec(),
                    components: components.to_vec(),
                }
                .to_tagged(ByteOrder::NATIVE)
            })
            .collect()
    }
}
