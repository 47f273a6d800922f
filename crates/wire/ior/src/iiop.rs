//! IIOP profile (CORBA 3.3 part 2, §9.7.2): host, port and object key.
//!
//! ```text
//! encapsulation { octet major; octet minor; string host; ushort port; sequence<octet> object_key;
//!                 sequence<TaggedComponent> components;   // from 1.1 on
//! }
//! ```

use std::borrow::Cow;

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet};

use crate::component::{CodeSetComponentInfo, Component};
use crate::endpoint::Endpoint;
use crate::error::IorError;
use crate::tagged::{TaggedComponent, TaggedProfile};
use crate::tags;
use crate::version::{IiopVersion, get_components, get_version};

/// Body of an IIOP profile. TAO's SHMIOP profile has the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IiopProfile {
    /// Highest IIOP version that the server supports.
    pub version: IiopVersion,
    /// Host name or IP address; an IPv6 address has no brackets.
    pub host: String,
    /// TCP port number of the server.
    pub port: u16,
    /// Object key, by which the server identifies the object.
    pub object_key: Vec<u8>,
    /// Tagged components of the profile; none in version 1.0.
    pub components: Vec<TaggedComponent>,
}

impl IiopProfile {
    /// Reads a profile's data. Data after the known members, as later minor versions may have, is
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
