//! Components that are decoded: information on an object or an endpoint, inside a profile.

use std::borrow::Cow;

use punctual_cdr::{CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};

use crate::csi::{self, CompoundMechanism};
use crate::endpoint::Endpoint;
use crate::ft_group::FtGroup;
use crate::group_info::GroupInfo;
use crate::path::{get_path, put_path};
use crate::security::SslSecTrans;
use crate::tagged::{TaggedComponent, encapsulate};
use crate::tags::component as tag;

/// Decoded data of a tagged component of a known type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Component {
    /// ORB_TYPE component: the id of the ORB that created the reference.
    OrbType(u32),
    /// CODE_SETS component: the code sets that the server supports.
    CodeSets(CodeSetComponentInfo),
    /// ALTERNATE_IIOP_ADDRESS component: an additional host and port of the object.
    AlternateIiopAddress(Endpoint),
    /// SSL_SEC_TRANS component: the TLS port and its security association options.
    SslSecTrans(SslSecTrans),
    /// CSI_SEC_MECH_LIST component: the CSIv2 mechanisms that the server accepts.
    CsiMechanisms(Vec<CompoundMechanism>),
    /// omniORB's UNIX_TRANS component: the Unix domain socket of the server.
    UnixTrans(UnixTrans),
    /// POLICIES component: the policies that the server exports.
    Policies(Vec<PolicyValue>),
    /// FT_GROUP component: the object group of which the reference is.
    FtGroup(FtGroup),
    /// FT_PRIMARY component: whether the profile is one of the group's primary member.
    FtPrimary(bool),
    /// FT_HEARTBEAT_ENABLED component: whether the server answers heartbeats.
    FtHeartbeatEnabled(bool),
    /// GROUP component: the multicast group to which the profile leads.
    Group(GroupInfo),
    /// GROUP_IIOP component: the data of the IIOP profile by which calls with replies to a multicast group go.
    GroupIiop(Vec<u8>),
    /// Component of a type that is not decoded.
    Other,
}

/// Code sets of a server (CORBA 3.3 part 2, §7.10.2.4).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CodeSetComponentInfo {
    /// Code sets of the server for `char` and `string`.
    pub char_data: CodeSetComponent,
    /// Code sets of the server for `wchar` and `wstring`.
    pub wchar_data: CodeSetComponent,
}

/// Code sets of one kind of text, by their number in the OSF registry.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CodeSetComponent {
    /// Native code set of the server; 0 for none.
    pub native: u32,
    /// Conversion code sets: those that the server can convert from and to.
    pub conversion: Vec<u32>,
}

/// omniORB's local socket: usable on the host of this name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnixTrans {
    /// Host name of the server, as the server itself knows it.
    pub host: String,
    /// Path of the server's Unix domain socket.
    pub path: String,
}

/// Exported policy of a POLICIES component, with its value in encoded form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyValue {
    /// Policy type.
    pub kind: u32,
    /// Value of the policy, encoded as an encapsulation.
    pub data: Vec<u8>,
}

impl TaggedComponent {
    /// Decodes the data.
    ///
    /// # Errors
    /// A [`CdrError`] if the data does not match its tag. An unknown tag gives
    /// [`Component::Other`].
    pub fn decode(&self) -> Result<Component, CdrError> {
        let open = || Decoder::of_encapsulation(&self.data, Coding::default());
        Ok(match self.tag {
            tag::ORB_TYPE => Component::OrbType(open()?.get_u32()?),
            tag::CODE_SETS => Component::CodeSets(Unmarshal::unmarshal(&mut open()?)?),
            tag::ALTERNATE_IIOP_ADDRESS => {
                Component::AlternateIiopAddress(Endpoint::unmarshal(&mut open()?)?)
            }
            tag::SSL_SEC_TRANS => Component::SslSecTrans(Unmarshal::unmarshal(&mut open()?)?),
            tag::CSI_SEC_MECH_LIST => Component::CsiMechanisms(csi::mechanisms(&mut open()?)?),
            tag::OMNIORB_UNIX_TRANS => Component::UnixTrans(Unmarshal::unmarshal(&mut open()?)?),
            tag::POLICIES => Component::Policies(Vec::unmarshal(&mut open()?)?),
            tag::FT_GROUP => Component::FtGroup(Unmarshal::unmarshal(&mut open()?)?),
            tag::FT_PRIMARY => Component::FtPrimary(Unmarshal::unmarshal(&mut open()?)?),
            tag::FT_HEARTBEAT_ENABLED => {
                Component::FtHeartbeatEnabled(Unmarshal::unmarshal(&mut open()?)?)
            }
            tag::GROUP => Component::Group(Unmarshal::unmarshal(&mut open()?)?),
            tag::GROUP_IIOP => Component::GroupIiop(self.data.clone()),
            _ => Component::Other,
        })
    }

    /// Creates an `ORB_TYPE` component.
    #[must_use]
    pub fn orb_type(id: u32) -> Self {
        let data = encapsulate(|data| {
            data.put_u32(id);
            Ok(())
        });
        Self {
            tag: tag::ORB_TYPE,
            data: data.unwrap_or_default(),
        }
    }

    /// Makes a `CODE_SETS` component.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`].
    pub fn code_sets(info: &CodeSetComponentInfo) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::CODE_SETS,
            data: encapsulate(|data| info.marshal(data))?,
        })
    }

    /// Makes an `ALTERNATE_IIOP_ADDRESS` component.
    ///
    /// # Errors
    /// Those of an invalid host name: [`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`].
    pub fn alternate_iiop_address(endpoint: &Endpoint) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::ALTERNATE_IIOP_ADDRESS,
            data: encapsulate(|data| endpoint.marshal(data))?,
        })
    }

    /// Creates an `SSL_SEC_TRANS` component.
    #[must_use]
    pub fn ssl_sec_trans(ssl: &SslSecTrans) -> Self {
        Self {
            tag: tag::SSL_SEC_TRANS,
            data: encapsulate(|data| ssl.marshal(data)).unwrap_or_default(),
        }
    }

    /// Makes omniORB's `UNIX_TRANS` component.
    ///
    /// # Errors
    /// Those of an invalid host name: [`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`].
    pub fn unix_trans(socket: &UnixTrans) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::OMNIORB_UNIX_TRANS,
            data: encapsulate(|data| socket.marshal(data))?,
        })
    }

    /// Makes a `POLICIES` component.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`].
    pub fn policies(policies: &[PolicyValue]) -> Result<Self, CdrError> {
        Ok(Self {
            tag: tag::POLICIES,
            data: encapsulate(|data| policies.marshal(data))?,
        })
    }
}

impl Marshal for PolicyValue {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.kind);
        out.put_octets(&self.data)
    }
}

impl Unmarshal for PolicyValue {
    const MIN_SIZE: usize = 8;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            kind: input.get_u32()?,
            data: input.get_octets()?.to_vec(),
        })
    }
}

impl Marshal for CodeSetComponent {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.native);
        self.conversion.marshal(out)
    }
}

impl Unmarshal for CodeSetComponent {
    const MIN_SIZE: usize = 8;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            native: input.get_u32()?,
            conversion: Vec::unmarshal(input)?,
        })
    }
}

impl Marshal for CodeSetComponentInfo {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.char_data.marshal(out)?;
        self.wchar_data.marshal(out)
    }
}

impl Unmarshal for CodeSetComponentInfo {
    const MIN_SIZE: usize = 16;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            char_data: Unmarshal::unmarshal(input)?,
            wchar_data: Unmarshal::unmarshal(input)?,
        })
    }
}

impl Marshal for UnixTrans {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string_in(NarrowCodeSet::Iso8859_1, &self.host)?;
        put_path(out, &self.path)
    }
}

impl Unmarshal for UnixTrans {
    const MIN_SIZE: usize = 10;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            host: input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Cow::into_owned)?,
            path: get_path(input)?,
        })
    }
}
