//! What references say of where an object is: a codec for each profile tag.
//!
//! A profile is not part of a link: one IIOP profile can hold TLS, alternate addresses and Unix
//! sockets as components. A codec reads the endpoints out of its profiles and writes them in; which of
//! them this ORB can reach, the protocols that it has registered decide.

mod diop;
mod endpoint;
mod iiop;
mod pair;
mod published;
mod uiop;

pub(crate) use diop::DiopCodec;
pub use endpoint::{EndpointQualities, LaneId, Priority, ProfileEndpoint, SecurityRequirement};
pub(crate) use iiop::IiopCodec;
pub(crate) use pair::PairCodec;
pub use published::{EndpointChoice, PublishedEndpoints};
pub(crate) use uiop::UiopCodec;

use crate::protocol::Registry;
use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IiopVersion, IorError, TaggedComponent, TaggedProfile};
use std::fmt::Debug;

/// Punctual's own ORB type, `PUN` and a NUL, in TAG_ORB_TYPE.
pub(crate) const ORB_TYPE: u32 = 0x5055_4e00;

/// Reads and writes the profiles of one tag.
pub trait ProfileCodec: Send + Sync + Debug {
    /// The profiles' tag.
    fn tag(&self) -> u32;

    /// Whether references name endpoints of this protocol in profiles of this codec.
    fn carries(&self, protocol: &str) -> bool;

    /// The tag of another codec's profiles in which some clients look for endpoints of this one: they are
    /// handed to that codec too.
    fn also_named_in(&self) -> Option<u32> {
        None
    }

    /// Reads a profile's data.
    ///
    /// # Errors
    /// [`IorError`] when they do not decode.
    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError>;

    /// The profiles for an object at `endpoints`, at least one: those that this codec carries, and
    /// those that others say are also named in its profiles.
    ///
    /// # Errors
    /// Text or lengths that cannot be encoded.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError>;
}

/// What a profile says.
#[derive(Clone, Debug)]
pub struct DecodedProfile {
    /// The newest GIOP version that the server speaks there.
    pub version: GiopVersion,
    /// What the server knows the object by.
    pub object_key: Vec<u8>,
    /// More facts.
    pub components: Vec<TaggedComponent>,
    /// Where it is, in the server's order of preference.
    pub endpoints: Vec<ProfileEndpoint>,
}

/// What is said of an object beside its endpoints.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'o> {
    /// The newest GIOP version that this ORB speaks.
    pub version: GiopVersion,
    /// What this ORB knows the object by.
    pub object_key: &'o [u8],
    /// More facts; profiles of version 1.0 have none.
    pub components: &'o [TaggedComponent],
}

/// The profiles for an object at `endpoints`, codec by codec in the order of the first that each
/// carries. Profiles that only name what other codecs carry come last.
pub(crate) fn profiles_for(
    registry: &Registry,
    endpoints: &[ProfileEndpoint],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut shared = carried(registry, endpoints);
    for endpoint in endpoints {
        let codec = registry.codec_for(&endpoint.protocol);
        if let Some(tag) = codec.and_then(|codec| codec.also_named_in()) {
            share(&mut shared, tag, endpoint);
        }
    }
    encoded(registry, &shared, object)
}

/// The same without those last ones: for references that are to be no longer than need be.
pub(crate) fn own_profiles_for(
    registry: &Registry,
    endpoints: &[ProfileEndpoint],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    encoded(registry, &carried(registry, endpoints), object)
}

/// The endpoints by the tag of the codec that carries them.
fn carried(registry: &Registry, endpoints: &[ProfileEndpoint]) -> Vec<(u32, Vec<ProfileEndpoint>)> {
    let mut shared = Vec::new();
    for endpoint in endpoints {
        if let Some(codec) = registry.codec_for(&endpoint.protocol) {
            share(&mut shared, codec.tag(), endpoint);
        }
    }
    shared
}

fn encoded(
    registry: &Registry,
    shared: &[(u32, Vec<ProfileEndpoint>)],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut profiles = Vec::new();
    for (tag, endpoints) in shared {
        if let Some(codec) = registry.codec(*tag) {
            profiles.extend(codec.encode(endpoints, object)?);
        }
    }
    Ok(profiles)
}

fn share(shared: &mut Vec<(u32, Vec<ProfileEndpoint>)>, tag: u32, endpoint: &ProfileEndpoint) {
    match shared.iter_mut().find(|(one, _)| *one == tag) {
        Some((_, endpoints)) => endpoints.push(endpoint.clone()),
        None => shared.push((tag, vec![endpoint.clone()])),
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
    use punctual_link::Address;

    fn tags_at(protocols: &[&str]) -> Vec<u32> {
        let orb = Orb::builder().build().unwrap();
        let endpoint = |protocol: &&str| match *protocol {
            "iiop" => ProfileEndpoint::new("iiop", Address::iiop("h", 1)),
            link => ProfileEndpoint::new(link, Address::new(link, "/a")),
        };
        let endpoints: Vec<ProfileEndpoint> = protocols.iter().map(endpoint).collect();
        let object = Publication {
            version: GiopVersion::V1_2,
            object_key: b"key",
            components: &[],
        };
        let profiles = profiles_for(&orb.broker().protocols.now(), &endpoints, &object).unwrap();
        profiles.iter().map(|profile| profile.tag).collect()
    }

    #[test]
    fn profiles_stand_in_the_order_of_the_endpoints() {
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
