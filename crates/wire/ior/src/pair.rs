//! Punctual's own profile: an object behind any pair of a messaging protocol and a link, for pairs
//! without a profile of other ORBs.
//!
//! ```text
//! encapsulation { octet major; octet minor; string protocol; sequence<string> places;
//!                 sequence<octet> object_key; sequence<TaggedComponent> components; }
//! ```

use std::borrow::Cow;

use punctual_cdr::{
    ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal, marshal_each,
    unmarshal_each,
};

use crate::error::IorError;
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags;

/// Least size of an encoded location: a length, one character, and a NUL.
const MIN_PLACE: usize = 6;

/// Version that is written; a later minor version is read as this one.
const VERSION: (u8, u8) = (1, 0);

/// Body of the profile for a pair of a messaging protocol and a link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PairProfile {
    /// Names of the messaging protocol, of adapters if there are any, and of the link, joined by
    /// `+`: `giop_lite+uiop`, `giop+reliable+diop`.
    pub protocol: String,
    /// Locations at which the object can be reached, in the link's notation and in the server's
    /// order; at least one, and none empty.
    pub places: Vec<String>,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components of the profile.
    pub components: Vec<TaggedComponent>,
}

impl PairProfile {
    /// Reads a profile's data. Data after the known members, as later minor versions may have, is
    /// ignored.
    ///
    /// # Errors
    /// [`IorError::UnsupportedVersion`] for another major version than 1, and [`IorError::Cdr`] for
    /// malformed data: [`CdrError::Invalid`] for a protocol that is not a pair, or if there is no
    /// location.
    pub fn decode(data: &[u8]) -> Result<Self, IorError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        let (major, minor) = (input.get_u8()?, input.get_u8()?);
        if major != VERSION.0 {
            return Err(IorError::UnsupportedVersion { major, minor });
        }
        let profile = Self {
            protocol: get_text(&mut input)?,
            places: unmarshal_each(&mut input, MIN_PLACE, get_text)?,
            object_key: input.get_octets()?.to_vec(),
            components: Vec::unmarshal(&mut input)?,
        };
        profile.check()?;
        Ok(profile)
    }

    /// Encodes the profile's data, in this byte order.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] for a protocol that is not a pair, or if there is no location;
    /// [`CdrError::InnerNul`] and [`CdrError::LengthOverLimit`].
    pub fn encode(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        self.check()?;
        Encoder::encapsulated(order, Coding::default(), |out| {
            out.put_u8(VERSION.0);
            out.put_u8(VERSION.1);
            out.put_string_in(NarrowCodeSet::Utf8, &self.protocol)?;
            marshal_each(&self.places, out, |place, out| {
                out.put_string_in(NarrowCodeSet::Utf8, place)
            })?;
            out.put_octets(&self.object_key)?;
            self.components.marshal(out)
        })
    }

    /// Encodes the profile as part of a reference.
    ///
    /// # Errors
    /// As [`PairProfile::encode`].
    pub fn to_tagged(&self, order: ByteOrder) -> Result<TaggedProfile, CdrError> {
        Ok(TaggedProfile {
            tag: tags::profile::PUNCTUAL_PAIR,
            data: self.encode(order)?,
        })
    }

    /// Returns the name of the profile's messaging protocol.
    #[must_use]
    pub fn messaging(&self) -> &str {
        self.protocol.split_once('+').map_or("", |(name, _)| name)
    }

    /// Returns the name of the link, with those of the adapters before it.
    #[must_use]
    pub fn link(&self) -> &str {
        self.protocol.split_once('+').map_or("", |(_, name)| name)
    }

    fn check(&self) -> Result<(), CdrError> {
        if !is_pair(&self.protocol) {
            return Err(CdrError::Invalid(
                "a protocol is a messaging protocol and a link, joined by '+'",
            ));
        }
        if self.places.is_empty() || self.places.iter().any(String::is_empty) {
            return Err(CdrError::Invalid(
                "a profile has no address, or an empty one",
            ));
        }
        Ok(())
    }
}

/// Returns whether a text is at least two names, joined by `+`.
pub(crate) fn is_pair(protocol: &str) -> bool {
    protocol.contains('+') && protocol.split('+').all(is_name)
}

fn is_name(text: &str) -> bool {
    let allowed = |octet: u8| octet.is_ascii_alphanumeric() || b"_-.".contains(&octet);
    !text.is_empty() && text.bytes().all(allowed)
}

fn get_text(input: &mut Decoder<'_>) -> Result<String, CdrError> {
    let text = input.get_string_in(NarrowCodeSet::Utf8);
    text.map(Cow::into_owned)
}
