//! TAO's UIOP profile: IIOP over local sockets.
//!
//! ```text
//! encapsulation { octet major; octet minor; string path; sequence<octet> object_key;
//!                 sequence<TaggedComponent> components;   // from 1.1 on
//! }
//! ```

use std::borrow::Cow;

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet};

use crate::component::TaggedComponent;
use crate::error::IorError;
use crate::iiop::{IiopVersion, get_components, get_version};
use crate::profile::TaggedProfile;
use crate::tags;

/// Body of TAO's UIOP profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UiopProfile {
    /// Highest version that the server speaks.
    pub version: IiopVersion,
    /// Path of the socket, encoded without conversion.
    pub path: String,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components; version 1.0 has none.
    pub components: Vec<TaggedComponent>,
}

impl UiopProfile {
    /// Reads a profile's data. Data behind the known members, as later minor versions may have, is
    /// ignored.
    ///
    /// # Errors
    /// [`IorError::UnsupportedVersion`] for another major version than 1, and [`IorError::Cdr`] for
    /// malformed data and for a path that is not UTF-8.
    pub fn decode(data: &[u8]) -> Result<Self, IorError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        let version = get_version(&mut input)?;
        Ok(Self {
            version,
            path: get_path(&mut input)?,
            object_key: input.get_octets()?.to_vec(),
            components: get_components(&mut input, version)?,
        })
    }

    /// Encodes the profile's data, in this byte order.
    ///
    /// # Errors
    /// That of an invalid path ([`CdrError::InnerNul`]) and [`CdrError::LengthOverLimit`].
    pub fn encode(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        Encoder::encapsulated(order, Coding::default(), |out| {
            out.put_u8(self.version.major);
            out.put_u8(self.version.minor);
            put_path(out, &self.path)?;
            out.put_octets(&self.object_key)?;
            if self.version.has_components() {
                self.components.marshal(out)?;
            }
            Ok(())
        })
    }

    /// Encodes the profile as part of a reference.
    ///
    /// # Errors
    /// As [`UiopProfile::encode`].
    pub fn to_tagged(&self, order: ByteOrder) -> Result<TaggedProfile, CdrError> {
        Ok(TaggedProfile {
            tag: tags::profile::TAO_UIOP,
            data: self.encode(order)?,
        })
    }
}

/// Reads a path. To the operating system a path is bytes: no code set is converted, so only UTF-8
/// passes.
pub(crate) fn get_path(input: &mut Decoder<'_>) -> Result<String, CdrError> {
    let path = input.get_string_in(NarrowCodeSet::Utf8);
    path.map(Cow::into_owned)
}

pub(crate) fn put_path(out: &mut Encoder<'_>, path: &str) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Utf8, path)
}
