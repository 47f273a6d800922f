//! UIOP profiles, as TAO has them: GIOP over Unix sockets.

use super::{Place, PlacedProfile, ProfileCodec, Publication, newest};
use punctual_cdr::{ByteOrder, CdrError, GiopVersion};
use punctual_ior::{IorError, TaggedProfile, UiopProfile, tags};
use punctual_link::{Address, uiop};

/// The codec of TAO's UIOP tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UiopCodec;

impl ProfileCodec for UiopCodec {
    fn tag(&self) -> u32 {
        tags::profile::TAO_UIOP
    }

    fn carries(&self, protocol: &str) -> bool {
        protocol == uiop::NAME
    }

    /// omniORB's clients know Unix sockets as components of IIOP profiles.
    fn also_named_in(&self) -> Option<u32> {
        Some(tags::profile::INTERNET_IOP)
    }

    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError> {
        let profile = UiopProfile::decode(data)?;
        Ok(PlacedProfile {
            version: newest(profile.version)?,
            places: vec![Place {
                protocol: uiop::NAME.into(),
                address: Address::new(uiop::NAME, &profile.path),
            }],
            object_key: profile.object_key,
            components: profile.components,
        })
    }

    /// One for each place: the profile has room for one path.
    fn encode(
        &self,
        places: &[Place],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError> {
        let components = match object.version {
            GiopVersion::V1_0 => &[],
            _ => object.components,
        };
        let profile = |place: &Place| {
            UiopProfile {
                version: object.version.into(),
                path: place.address.place().to_owned(),
                object_key: object.object_key.to_vec(),
                components: components.to_vec(),
            }
            .to_tagged(ByteOrder::NATIVE)
        };
        places.iter().map(profile).collect()
    }
}
