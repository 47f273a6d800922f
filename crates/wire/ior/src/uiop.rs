//! TAO's UIOP profile: IIOP over local sockets.
//!
//! ```text
//! encapsulation { octet major; octet minor; string path; sequence<octet> object_key;
//!                 sequence<TaggedComponent> components;   // from 1.1 on
//! }
//! ```

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal};

use crate::error::IorError;
use crate::path::{get_path, put_path};
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags;
use crate::version::{IiopVersion, get_components, get_version};

/// Body of TAO's UIOP profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UiopProfile {
    /// Highest IIOP version that the server supports.
    pub version: IiopVersion,
    /// Path of the Unix domain socket, encoded without code set conversion.
    pub path: String,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components of the profile; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl UiopProfile {
    /// Reads a profile's data. Data after the known members, as later minor versions may have, is
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
