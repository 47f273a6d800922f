//! Multicast groups of MIOP (OMG's Unreliable Multicast Inter-ORB Protocol): the profile TAG_UIPMC and the components that
//! name the group.
//!
//! ```text
//! TAG_UIPMC profile:  encapsulation { octet major; octet minor; string the_address; short the_port;
//!                                     sequence<TaggedComponent> components; }
//! TAG_GROUP_IIOP:     the data of an IIOP profile, by which calls with replies go
//! ```
//!
//! The profile has no object key: the component TAG_GROUP takes its place.

use std::borrow::Cow;

use punctual_cdr::{
    ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal,
};

use crate::component::Component;
use crate::error::IorError;
use crate::group_info::GroupInfo;
use crate::iiop::IiopProfile;
use crate::tagged::{TaggedComponent, TaggedProfile, encapsulate};
use crate::tags;
use crate::version::{IiopVersion, get_version};

/// Body of a UIPMC profile: the address to which requests for a group are sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UipmcProfile {
    /// Version of MIOP.
    pub version: IiopVersion,
    /// IP address of the multicast group; an IPv6 address has no brackets.
    pub address: String,
    /// UDP port number.
    pub port: u16,
    /// Tagged components of the profile, with the group among them.
    pub components: Vec<TaggedComponent>,
}

impl UipmcProfile {
    /// Makes the profile of a group, with an IIOP profile for calls with replies if there is one.
    ///
    /// # Errors
    /// Those of an invalid domain or host: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn of_group(
        group: &GroupInfo,
        (address, port): (&str, u16),
        gateway: Option<&IiopProfile>,
    ) -> Result<Self, CdrError> {
        let mut components = vec![TaggedComponent::group(group)?];
        if let Some(gateway) = gateway {
            components.push(TaggedComponent::group_iiop(gateway)?);
        }
        Ok(Self {
            version: IiopVersion { major: 1, minor: 0 },
            address: address.to_owned(),
            port,
            components,
        })
    }

    /// Reads a profile's data. Data after the known members, as later minor versions may have, is ignored.
    ///
    /// # Errors
    /// [`IorError::UnsupportedVersion`] for another major version than 1, and [`IorError::Cdr`] for malformed data.
    pub fn decode(data: &[u8]) -> Result<Self, IorError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        Ok(Self {
            version: get_version(&mut input)?,
            address: input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Cow::into_owned)?,
            port: input.get_u16()?,
            components: Vec::unmarshal(&mut input)?,
        })
    }

    /// Encodes the profile's data, in this byte order.
    ///
    /// # Errors
    /// Those of an invalid address ([`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`]) and
    /// [`CdrError::LengthOverLimit`].
    pub fn encode(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        Encoder::encapsulated(order, Coding::default(), |out| {
            out.put_u8(self.version.major);
            out.put_u8(self.version.minor);
            out.put_string_in(NarrowCodeSet::Iso8859_1, &self.address)?;
            out.put_u16(self.port);
            self.components.marshal(out)
        })
    }

    /// Encodes the profile as part of a reference.
    ///
    /// # Errors
    /// As [`UipmcProfile::encode`].
    pub fn to_tagged(&self, order: ByteOrder) -> Result<TaggedProfile, CdrError> {
        Ok(TaggedProfile {
            tag: tags::profile::UIPMC,
            data: self.encode(order)?,
        })
    }

    /// Returns the group to which the profile leads, if it has a TAG_GROUP component that can be read.
    #[must_use]
    pub fn group(&self) -> Option<GroupInfo> {
        self.components
            .iter()
            .find_map(|component| match component.decode() {
                Ok(Component::Group(group)) => Some(group),
                _ => None,
            })
    }

    /// Returns the data of the IIOP profile by which calls with replies go, if there is one.
    ///
    /// JacORB gives the component the tag of an IIOP profile, 0, which is that of ORB_TYPE: the data of an ORB type is 8
    /// bytes long, and that of a profile is longer.
    #[must_use]
    pub fn group_iiop(&self) -> Option<&[u8]> {
        let is_gateway = |one: &&TaggedComponent| match one.tag {
            tags::component::GROUP_IIOP => true,
            tags::profile::INTERNET_IOP => one.data.len() > 8,
            _ => false,
        };
        let gateways = self.components.iter().filter(is_gateway);
        gateways
            .map(|one| &one.data[..])
            .find(|data| IiopProfile::decode(data).is_ok())
    }
}

impl TaggedComponent {
    /// Makes a `GROUP` component.
    ///
    /// # Errors
    /// Those of an invalid domain: [`CdrError::InnerNul`], [`CdrError::LengthOverLimit`].
    pub fn group(group: &GroupInfo) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tags::component::GROUP,
            data: encapsulate(|data| group.marshal(data))?,
        })
    }

    /// Makes a `GROUP_IIOP` component.
    ///
    /// # Errors
    /// As [`IiopProfile::encode`].
    pub fn group_iiop(gateway: &IiopProfile) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tags::component::GROUP_IIOP,
            data: gateway.encode(ByteOrder::NATIVE)?,
        })
    }
}
