//! What references say of where an object is: a codec for each profile tag.
//!
//! A profile is not part of a link: one IIOP profile can hold TLS, alternate addresses and Unix
//! sockets as components. A codec reads the places out of its profiles and writes them in; which of
//! them this ORB can reach, the protocols that it has registered decide.

mod diop;
mod iiop;
mod pair;
mod uiop;

pub(crate) use diop::DiopCodec;
pub(crate) use iiop::IiopCodec;
pub(crate) use pair::PairCodec;
pub(crate) use uiop::UiopCodec;

use crate::protocol::Registry;
use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IiopVersion, IorError, TaggedComponent, TaggedProfile};
use punctual_link::Address;
use std::fmt::Debug;

/// Punctual's own ORB type, `PUN` and a NUL, in TAG_ORB_TYPE.
pub(crate) const ORB_TYPE: u32 = 0x5055_4e00;

/// Reads and writes the profiles of one tag.
pub trait ProfileCodec: Send + Sync + Debug {
    /// The profiles' tag.
    fn tag(&self) -> u32;

    /// Whether references name places of this protocol in profiles of this codec.
    fn carries(&self, protocol: &str) -> bool;

    /// The tag of another codec's profiles in which some clients look for places of this one: they are
    /// handed to that codec too.
    fn also_named_in(&self) -> Option<u32> {
        None
    }

    /// Reads a profile's data.
    ///
    /// # Errors
    /// [`IorError`] when they do not decode.
    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError>;

    /// The profiles for an object at `places`, at least one: places that this codec carries, and
    /// those that others say are also named in its profiles.
    ///
    /// # Errors
    /// Text or lengths that cannot be encoded.
    fn encode(
        &self,
        places: &[Place],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError>;
}

/// A protocol, and an address of its link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The protocol, e.g. `iiop` or `giop_lite+uiop`.
    pub protocol: Box<str>,
    /// Where.
    pub address: Address,
}

/// What a profile says.
#[derive(Clone, Debug)]
pub struct PlacedProfile {
    /// The newest GIOP version that the server speaks there.
    pub version: GiopVersion,
    /// What the server knows the object by.
    pub object_key: Vec<u8>,
    /// More facts.
    pub components: Vec<TaggedComponent>,
    /// Where it is, in the server's order of preference.
    pub places: Vec<Place>,
}

/// What is said of an object beside its places.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'o> {
    /// The newest GIOP version that this ORB speaks.
    pub version: GiopVersion,
    /// What this ORB knows the object by.
    pub object_key: &'o [u8],
    /// More facts; profiles of version 1.0 have none.
    pub components: &'o [TaggedComponent],
}

/// The profiles for an object at `places`, codec by codec in the order of the first place that each
/// carries. Profiles that only name what other codecs carry come last.
pub(crate) fn profiles_at(
    registry: &Registry,
    places: &[Place],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut shared = carried(registry, places);
    for place in places {
        let codec = registry.codec_for(&place.protocol);
        if let Some(tag) = codec.and_then(|codec| codec.also_named_in()) {
            share(&mut shared, tag, place);
        }
    }
    encoded(registry, &shared, object)
}

/// The same without those last ones: for references that are to be no longer than need be.
pub(crate) fn own_profiles_at(
    registry: &Registry,
    places: &[Place],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    encoded(registry, &carried(registry, places), object)
}

/// The places by the tag of the codec that carries them.
fn carried(registry: &Registry, places: &[Place]) -> Vec<(u32, Vec<Place>)> {
    let mut shared = Vec::new();
    for place in places {
        if let Some(codec) = registry.codec_for(&place.protocol) {
            share(&mut shared, codec.tag(), place);
        }
    }
    shared
}

fn encoded(
    registry: &Registry,
    shared: &[(u32, Vec<Place>)],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut profiles = Vec::new();
    for (tag, places) in shared {
        if let Some(codec) = registry.codec(*tag) {
            profiles.extend(codec.encode(places, object)?);
        }
    }
    Ok(profiles)
}

fn share(shared: &mut Vec<(u32, Vec<Place>)>, tag: u32, place: &Place) {
    match shared.iter_mut().find(|(one, _)| *one == tag) {
        Some((_, places)) => places.push(place.clone()),
        None => shared.push((tag, vec![place.clone()])),
    }
}

/// The newest GIOP version that may be used with an endpoint of this version.
fn newest(version: IiopVersion) -> Result<GiopVersion, IorError> {
    let (major, minor) = (version.major, version.minor);
    version
        .giop()
        .ok_or(IorError::UnsupportedVersion { major, minor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orb::Orb;
    use punctual_ior::tags::profile::{INTERNET_IOP, PUNCTUAL_PAIR, TAO_UIOP};

    fn tags_at(protocols: &[&str]) -> Vec<u32> {
        let orb = Orb::builder().build().unwrap();
        let place = |protocol: &&str| Place {
            protocol: (*protocol).into(),
            address: match *protocol {
                "iiop" => Address::iiop("h", 1),
                link => Address::new(link, "/a"),
            },
        };
        let places: Vec<Place> = protocols.iter().map(place).collect();
        let object = Publication {
            version: GiopVersion::V1_2,
            object_key: b"key",
            components: &[],
        };
        let profiles = profiles_at(&orb.broker().protocols.now(), &places, &object).unwrap();
        profiles.iter().map(|profile| profile.tag).collect()
    }

    #[test]
    fn profiles_stand_in_the_order_of_the_places() {
        let tags = tags_at(&["uiop", "iiop", "shmiop"]);
        assert_eq!(tags, [TAO_UIOP, INTERNET_IOP, PUNCTUAL_PAIR]);
        let tags = tags_at(&["iiop", "shmiop", "uiop"]);
        assert_eq!(tags, [INTERNET_IOP, PUNCTUAL_PAIR, TAO_UIOP]);
    }

    #[test]
    fn a_profile_that_names_what_others_carry_comes_last() {
        let tags = tags_at(&["uiop", "shmiop"]);
        assert_eq!(tags, [TAO_UIOP, PUNCTUAL_PAIR, INTERNET_IOP]);
    }
}
