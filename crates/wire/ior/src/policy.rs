//! Policies in a reference: those of Real-time CORBA that servers publish (Real-time CORBA 1.2,
//! §5.7 and §5.16).
//!
//! A policy's value is an encapsulation. The standard leaves its content open; this is TAO's:
//!
//! ```text
//! PriorityModel  { enum { CLIENT_PROPAGATED, SERVER_DECLARED }; short server_priority; }
//! PriorityBands  { sequence<struct { short low; short high; }> }
//! ClientProtocol { sequence<struct { ulong profile_tag; /* nothing for GIOP, then the transport's properties */ }> }
//!   IIOP, SCIOP    long send_buffer_size, recv_buffer_size; boolean keep_alive, dont_route, no_delay;
//!   UIOP           long send_buffer_size, recv_buffer_size;
//!   SHMIOP         as IIOP; long preallocate_buffer_size; string mmap_filename, mmap_lockname;
//!   DIOP           nothing
//! ```

use punctual_cdr::{
    CdrError, Coding, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal, unmarshal_each,
};

use crate::component::PolicyValue;
use crate::tags::{policy as kind, profile};

/// Decoded value of an exported policy of a known type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyMeaning {
    /// Priority model: the source of the priority at which a request is served.
    PriorityModel {
        /// Priority model of the policy: CLIENT_PROPAGATED or SERVER_DECLARED.
        model: PriorityModel,
        /// Priority of the server, which applies where the server declares it, and to requests that
        /// carry none.
        server_priority: i16,
    },
    /// Ranges of priorities, each with a connection of its own: the lowest and the highest of each.
    PriorityBands(Vec<(i16, i16)>),
    /// ClientProtocolPolicy: protocols that clients should use, in order of preference.
    ClientProtocols(Vec<ClientProtocol>),
    /// Policy of a type that is not decoded.
    Other,
}

/// Source of the priority at which a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityModel {
    /// CLIENT_PROPAGATED: the client sends its priority with each request.
    ClientPropagated,
    /// The server declares the priority, in the object's reference.
    ServerDeclared,
}

impl Marshal for PriorityModel {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(match self {
            Self::ClientPropagated => 0,
            Self::ServerDeclared => 1,
        });
        Ok(())
    }
}

impl Unmarshal for PriorityModel {
    const MIN_SIZE: usize = 4;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        match input.get_u32()? {
            0 => Ok(Self::ClientPropagated),
            1 => Ok(Self::ServerDeclared),
            other => Err(CdrError::UnknownEnumerator(other)),
        }
    }
}

/// Protocol of a ClientProtocolPolicy, with its transport properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProtocol {
    /// Profile tag of the protocol.
    pub profile: u32,
    /// Transport properties of the protocol's connections.
    pub properties: TransportProperties,
}

/// Properties of a protocol's transport; `None` for those that it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransportProperties {
    /// Size of a socket's send buffer in bytes; 0 for the system's choice.
    pub send_buffer: Option<i32>,
    /// Size of a socket's receive buffer in bytes; 0 for the system's choice.
    pub receive_buffer: Option<i32>,
    /// `true` if SO_KEEPALIVE is set, by which a vanished peer is detected.
    pub keep_alive: Option<bool>,
    /// `true` if only hosts of the same network are reached.
    pub dont_route: Option<bool>,
    /// `true` if TCP_NODELAY is set, by which small messages are sent at once.
    pub no_delay: Option<bool>,
    /// Size of the shared memory that is allocated at the start, in bytes.
    pub preallocated: Option<i32>,
    /// File of shared memory, and the name of its lock.
    pub shared_memory: Option<(String, String)>,
}

impl PolicyValue {
    /// Decodes the value.
    ///
    /// # Errors
    /// A [`CdrError`] if it does not match its type. An unknown type gives
    /// [`PolicyMeaning::Other`].
    pub fn decode(&self) -> Result<PolicyMeaning, CdrError> {
        let open = || Decoder::of_encapsulation(&self.data, Coding::default());
        Ok(match self.kind {
            kind::PRIORITY_MODEL => priority_model(&mut open()?)?,
            kind::PRIORITY_BANDED_CONNECTION => {
                let band = |input: &mut Decoder<'_>| Ok((input.get_i16()?, input.get_i16()?));
                PolicyMeaning::PriorityBands(unmarshal_each(&mut open()?, 4, band)?)
            }
            kind::CLIENT_PROTOCOL => {
                PolicyMeaning::ClientProtocols(unmarshal_each(&mut open()?, 4, client_protocol)?)
            }
            _ => PolicyMeaning::Other,
        })
    }
}

fn priority_model(input: &mut Decoder<'_>) -> Result<PolicyMeaning, CdrError> {
    Ok(PolicyMeaning::PriorityModel {
        model: PriorityModel::unmarshal(input)?,
        server_priority: input.get_i16()?,
    })
}

fn client_protocol(input: &mut Decoder<'_>) -> Result<ClientProtocol, CdrError> {
    let profile = input.get_u32()?;
    let mut properties = TransportProperties::default();
    let has_buffers = matches!(
        profile,
        profile::INTERNET_IOP | profile::TAO_UIOP | profile::TAO_SHMIOP | profile::TAO_SCIOP
    );
    match profile {
        profile::TAO_DIOP => {}
        _ if has_buffers => {
            properties.send_buffer = Some(input.get_i32()?);
            properties.receive_buffer = Some(input.get_i32()?);
        }
        // The begin of the next protocol is then unknown.
        _ => return Err(CdrError::Invalid("the properties of an unknown protocol")),
    }
    if has_buffers && profile != profile::TAO_UIOP {
        properties.keep_alive = Some(input.get_bool()?);
        properties.dont_route = Some(input.get_bool()?);
        properties.no_delay = Some(input.get_bool()?);
    }
    if profile == profile::TAO_SHMIOP {
        properties.preallocated = Some(input.get_i32()?);
        let mut text = || {
            input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Into::into)
        };
        properties.shared_memory = Some((text()?, text()?));
    }
    Ok(ClientProtocol {
        profile,
        properties,
    })
}
