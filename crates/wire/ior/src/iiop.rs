//! IIOP profile (CORBA 3.3 part 2, §9.7.2): host, port and object key.
//!
//! ```text
//! encapsulation { octet major; octet minor; string host; ushort port; sequence<octet> object_key;
//!                 sequence<TaggedComponent> components;   // from 1.1 on
//! }
//! ```

use std::borrow::Cow;
use std::fmt;

use punctual_cdr::{
    ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Marshal, NarrowCodeSet, Unmarshal,
};

use crate::component::{CodeSetComponentInfo, Component, TaggedComponent};
use crate::error::IorError;
use crate::profile::TaggedProfile;
use crate::tags;

/// Version in a profile, as received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IiopVersion {
    /// Major version; only 1 is defined.
    pub major: u8,
    /// Minor version; one above 2 is treated as 2.
    pub minor: u8,
}

impl IiopVersion {
    /// Returns the highest GIOP version usable with an endpoint of this version, if any is known.
    #[must_use]
    pub const fn giop(self) -> Option<GiopVersion> {
        GiopVersion::common_with(self.major, self.minor)
    }

    /// Returns whether profiles of this version have components.
    #[must_use]
    pub const fn has_components(self) -> bool {
        self.minor > 0 || self.major > 1
    }
}

impl From<GiopVersion> for IiopVersion {
    fn from(version: GiopVersion) -> Self {
        Self {
            major: version.major(),
            minor: version.minor(),
        }
    }
}

impl fmt::Display for IiopVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Host name or IP address; an IPv6 address has no brackets here.
    pub host: String,
    /// Port number.
    pub port: u16,
}

/// Shows `host:port`, an IPv6 address in brackets.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Body of an IIOP profile. TAO's SHMIOP profile has the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IiopProfile {
    /// Highest version that the server speaks.
    pub version: IiopVersion,
    /// Host name or IP address; an IPv6 address has no brackets.
    pub host: String,
    /// Port number.
    pub port: u16,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components; version 1.0 has none.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Reads a profile's data. Data behind the known members, as later minor versions may have, is
    /// ignored.
    ///
    /// # Errors
    /// [`IorError::UnsupportedVersion`] for another major version than 1, and [`IorError::Cdr`] for
    /// malformed data.
    pub fn decode(data: &[u8]) -> Result<Self, IorError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        let version = get_version(&mut input)?;
        Ok(Self {
            version,
            host: input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Cow::into_owned)?,
            port: input.get_u16()?,
            object_key: input.get_octets()?.to_vec(),
            components: get_components(&mut input, version)?,
        })
    }

    /// Encodes the profile's data, in this byte order.
    ///
    /// # Errors
    /// Those of an invalid host name ([`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`])
    /// and [`CdrError::LengthOverLimit`].
    pub fn encode(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        Encoder::encapsulated(order, Coding::default(), |out| {
            out.put_u8(self.version.major);
            out.put_u8(self.version.minor);
            out.put_string_in(NarrowCodeSet::Iso8859_1, &self.host)?;
            out.put_u16(self.port);
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
    /// As [`IiopProfile::encode`].
    pub fn to_tagged(&self, order: ByteOrder) -> Result<TaggedProfile, CdrError> {
        Ok(TaggedProfile {
            tag: tags::profile::INTERNET_IOP,
            data: self.encode(order)?,
        })
    }

    /// Returns the profile's own endpoint and, after it, the alternate addresses among its
    /// components that can be read.
    pub fn endpoints(&self) -> impl Iterator<Item = Endpoint> + '_ {
        let own = Endpoint {
            host: self.host.clone(),
            port: self.port,
        };
        std::iter::once(own).chain(self.components.iter().filter_map(|component| {
            match component.decode() {
                Ok(Component::AlternateIiopAddress(endpoint)) => Some(endpoint),
                _ => None,
            }
        }))
    }

    /// Returns the server's code sets, if it published any that can be read.
    #[must_use]
    pub fn code_sets(&self) -> Option<CodeSetComponentInfo> {
        self.components
            .iter()
            .find_map(|component| match component.decode() {
                Ok(Component::CodeSets(info)) => Some(info),
                _ => None,
            })
    }
}

pub(crate) fn get_version(input: &mut Decoder<'_>) -> Result<IiopVersion, IorError> {
    let major = input.get_u8()?;
    let minor = input.get_u8()?;
    if major != 1 {
        return Err(IorError::UnsupportedVersion { major, minor });
    }
    Ok(IiopVersion { major, minor })
}

pub(crate) fn get_components(
    input: &mut Decoder<'_>,
    version: IiopVersion,
) -> Result<Vec<TaggedComponent>, CdrError> {
    if version.has_components() {
        Vec::unmarshal(input)
    } else {
        Ok(Vec::new())
    }
}
