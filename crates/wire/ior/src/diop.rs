//! TAO's DIOP profile: one-way requests over UDP. Its body is that of the IIOP profile.

use punctual_cdr::{ByteOrder, CdrError};

use crate::error::IorError;
use crate::iiop::IiopProfile;
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags;
use crate::version::IiopVersion;

/// Body of TAO's DIOP profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DiopProfile {
    /// Highest IIOP version that the server supports.
    pub version: IiopVersion,
    /// Host name or IP address; an IPv6 address has no brackets.
    pub host: String,
    /// UDP port number of the server.
    pub port: u16,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components of the profile; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl DiopProfile {
    /// Reads a profile's data.
    ///
    /// # Errors
    /// As [`IiopProfile::decode`].
    pub fn decode(data: &[u8]) -> Result<Self, IorError> {
        IiopProfile::decode(data).map(Self::from)
    }

    /// Encodes the profile's data, in this byte order.
    ///
    /// # Errors
    /// As [`IiopProfile::encode`].
    pub fn encode(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        IiopProfile::from(self.clone()).encode(order)
    }

    /// Encodes the profile as part of a reference.
    ///
    /// # Errors
    /// As [`IiopProfile::encode`].
    pub fn to_tagged(&self, order: ByteOrder) -> Result<TaggedProfile, CdrError> {
        Ok(TaggedProfile {
            tag: tags::profile::TAO_DIOP,
            data: self.encode(order)?,
        })
    }
}

impl From<IiopProfile> for DiopProfile {
    fn from(same: IiopProfile) -> Self {
        Self {
            version: same.version,
            host: same.host,
            port: same.port,
            object_key: same.object_key,
            components: same.components,
        }
    }
}

impl From<DiopProfile> for IiopProfile {
    fn from(same: DiopProfile) -> Self {
        Self {
            version: same.version,
            host: same.host,
            port: same.port,
            object_key: same.object_key,
            components: same.components,
        }
    }
}
