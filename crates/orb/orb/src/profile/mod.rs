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

use punctual_cdr::{CdrError, GiopVersion};
use punctual_ior::{IiopVersion, IorError, TaggedComponent, TaggedProfile};
use punctual_link::Address;
use std::fmt::Debug;

/// Reads and writes the profiles of one tag.
pub trait ProfileCodec: Send + Sync + Debug {
    /// The profiles' tag.
    fn tag(&self) -> u32;

    /// Whether references name places of this protocol in profiles of this codec.
    fn carries(&self, protocol: &str) -> bool;

    /// Reads a profile's data.
    ///
    /// # Errors
    /// [`IorError`] when they do not decode.
    fn decode(&self, data: &[u8]) -> Result<PlacedProfile, IorError>;

    /// The profiles for an object at `places`, all of them carried by this codec, at least one.
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

/// The newest GIOP version that may be used with an endpoint of this version.
fn newest(version: IiopVersion) -> Result<GiopVersion, IorError> {
    let (major, minor) = (version.major, version.minor);
    version
        .giop()
        .ok_or(IorError::UnsupportedVersion { major, minor })
}
