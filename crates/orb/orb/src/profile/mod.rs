//! Locations of objects in references: a codec for each profile tag.
//!
//! A profile is not part of a link: one IIOP profile can hold TLS, alternate addresses and Unix
//! sockets as components. A codec decodes the endpoints in its profiles and encodes them; the
//! registered protocols of the ORB decide which of them it can reach.

mod demands;
#[cfg(feature = "datagrams")]
mod diop;
mod endpoint;
mod iiop;
mod origin;
mod pair;
mod priorities;
#[cfg(test)]
mod priorities_tests;
mod published;
mod uiop;

pub(crate) use demands::{Demand, demanded_by_all};
#[cfg(feature = "datagrams")]
pub(crate) use diop::DiopCodec;
pub use endpoint::{EndpointQualities, LaneId, ProfileEndpoint, SecurityRequirement};
pub(crate) use iiop::IiopCodec;
pub(crate) use origin::Origin;
pub(crate) use pair::PairCodec;
pub use published::{EndpointChoice, PublishedEndpoints};
pub(crate) use uiop::UiopCodec;

use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IiopVersion, IorError, TaggedComponent, TaggedProfile};
use std::fmt::Debug;

/// ORB type of Punctual in the component TAG_ORB_TYPE.
pub(crate) const ORB_TYPE: u32 = punctual_ior::tags::orb_type::PUNCTUAL;

/// Codec of the IOR profiles that have one tag.
pub trait ProfileCodec: Send + Sync + Debug {
    /// Returns the tag of the profiles that the codec encodes and decodes.
    fn tag(&self) -> u32;

    /// Returns whether references contain endpoints of this protocol in profiles of this codec.
    fn carries(&self, protocol: &str) -> bool;

    /// Returns the tag of another codec in whose profiles some clients look for endpoints of this
    /// one; such endpoints are passed to that codec, too.
    fn also_named_in(&self) -> Option<u32> {
        None
    }

    /// Reads a profile's data.
    ///
    /// # Errors
    /// [`IorError`] if the data cannot be decoded.
    fn decode(&self, data: &[u8]) -> Result<DecodedProfile, IorError>;

    /// Returns the profiles inside a profile, whose endpoints are tried after its own: each has an object key of its own.
    /// Default none. Profiles inside of these are not looked for.
    fn nested(&self, data: &[u8]) -> Vec<TaggedProfile> {
        let _ = data;
        Vec::new()
    }

    /// Writes one or more profiles for an object at `endpoints`: the endpoints that this codec
    /// carries, and those of other codecs that are also put into its profiles.
    ///
    /// If profiles hold the object key verbatim, once, they are encoded once for all keys of a
    /// certain length, and the bytes of the key are inserted for each object.
    ///
    /// # Errors
    /// Text or lengths that cannot be encoded.
    fn encode(
        &self,
        endpoints: &[ProfileEndpoint],
        object: &Publication<'_>,
    ) -> Result<Vec<TaggedProfile>, CdrError>;
}

/// Decoded contents of an IOR profile.
#[derive(Clone, Debug)]
pub struct DecodedProfile {
    /// Newest GIOP version that the server speaks at these endpoints.
    pub version: GiopVersion,
    /// Object key: the identification of the object within its server.
    pub object_key: Vec<u8>,
    /// Components other than those that were decoded to endpoints.
    pub components: Vec<TaggedComponent>,
    /// Endpoints in the profile, in the server's order of preference.
    pub endpoints: Vec<ProfileEndpoint>,
}

/// Published information about an object, apart from its endpoints.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'o> {
    /// Newest GIOP version that the publishing ORB speaks.
    pub version: GiopVersion,
    /// Object key: the identification of the object within this ORB.
    pub object_key: &'o [u8],
    /// Additional tagged components; profiles of version 1.0 have none.
    pub components: &'o [TaggedComponent],
}

/// Returns the newest GIOP version that may be used with a profile of this IIOP version.
fn newest(version: IiopVersion) -> Result<GiopVersion, IorError> {
    let (major, minor) = (version.major, version.minor);
    version
        .giop()
        .ok_or(IorError::UnsupportedVersion { major, minor })
}
