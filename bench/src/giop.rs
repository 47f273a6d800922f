//! Minimal client: GIOP 1.2 over a TCP socket of its own.
//!
//! It replaces an ORB where that would be too much: ten thousand connections in one process, and
//! peers that break the protocol.

use crate::{Error, Result};
use punctual_ior::Ior;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Size of a message's header, in bytes (CORBA 3.3 part 2, §9.4.1).
pub const HEADER: usize = 12;
/// Name of the called operation, which has no parameters and does nothing.
pub const VOID: &str = "cube_void";
/// Upper bound of a reply that is read completely, in bytes.
const LONGEST: usize = 1 << 20;
/// Flags octet for little-endian.
const LITTLE_ENDIAN: u8 = 1;
/// Number of descriptors that a process needs for other purposes than connections.
const SPARE: u64 = 128;
/// Number of connections that come from one address of the loopback.
const CONNECTIONS_OF_HOST: usize = 1 << 14;

/// Remote object to be called, by address and object key.
#[derive(Clone, Debug)]
pub struct Target {
    /// Address of the server that holds the object.
    pub address: SocketAddr,
    /// Object key in the server's object adapter.
    pub key: Vec<u8>,
}

impl Target {
    /// Reads the first IIOP profile of a stringified reference.
    ///
    /// # Errors
    /// The reference has none, or it is invalid.
    pub fn of(reference: &str) -> Result<Self> {
        let ior: Ior = reference.parse()?;
        let profile = ior.iiop_profiles().next();
        let profile = profile.ok_or("the server is not reached by TCP")??;
        let mut addresses = (profile.host.as_str(), profile.port).to_socket_addrs()?;
        Ok(Self {
            address: addresses.next().ok_or("the server has no address")?,
            key: profile.object_key,
        })
    }

    /// Returns a two-way request to this object, as a GIOP message.
    #[must_use]
    pub fn request(&self, operation: &str, id: u32, body: &[u8]) -> Vec<u8> {
        request(&self.key, operation, id, body)
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// The connection cannot be opened.
    pub fn connect(&self) -> Result<Connection> {
        self.connect_from(None)
    }

    /// Connects to the server as the given one of many connections. On the loopback each 16,384 of them come from a host of
    /// their own, as an address has ports for fewer than 30,000.
    ///
    /// # Errors
    /// The connection cannot be opened.
    pub fn connect_as(&self, number: usize) -> Result<Connection> {
        let is_loopback =
            matches!(self.address, SocketAddr::V4(server) if server.ip().is_loopback());
        let host = u8::try_from(number / CONNECTIONS_OF_HOST)?;
        let source = (is_loopback && host > 0).then(|| Ipv4Addr::new(127, 0, 1, host));
        self.connect_from(source)
    }

    fn connect_from(&self, source: Option<Ipv4Addr>) -> Result<Connection> {
        let stream = match source {
            None => TcpStream::connect(self.address)?,
            Some(source) => {
                let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
                bind(&socket, &SocketAddrV4::new(source, 0))?;
                connect(&socket, &self.address)?;
                socket.into()
            }
        };
        stream.set_nodelay(true)?;
        Ok(Connection { stream })
    }
}

/// Returns the header of a GIOP message of the given type and length.
#[must_use]
pub fn header(kind: u8, length: u32) -> [u8; HEADER] {
    let mut header = *b"GIOP\x01\x02\0\0\0\0\0\0";
    header[6] = LITTLE_ENDIAN;
    header[7] = kind;
    header[8..].copy_from_slice(&length.to_le_bytes());
    header
}

/// Returns a two-way request that names its target by object key (§9.4.2.2).
pub(crate) fn request(key: &[u8], operation: &str, id: u32, body: &[u8]) -> Vec<u8> {
    // Response flags of a two-way request, and the disposition KeyAddr.
    const WITH_TARGET: u8 = 3;
    let mut message = header(0, 0).to_vec();
    let number = |message: &mut Vec<u8>, value: usize| {
        message.resize(message.len().next_multiple_of(4), 0);
        // No part is longer than the messages that this module makes.
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        message.extend_from_slice(&value.to_le_bytes());
    };
    message.extend_from_slice(&id.to_le_bytes());
    message.extend_from_slice(&[WITH_TARGET, 0, 0, 0, 0, 0]);
    number(&mut message, key.len());
    message.extend_from_slice(key);
    number(&mut message, operation.len() + 1);
    message.extend_from_slice(operation.as_bytes());
    message.push(0);
    // No service contexts.
    number(&mut message, 0);
    if !body.is_empty() {
        message.resize(message.len().next_multiple_of(8), 0);
        message.extend_from_slice(body);
    }
    let length = u32::try_from(message.len() - HEADER).unwrap_or(u32::MAX);
    message[8..HEADER].copy_from_slice(&length.to_le_bytes());
    message
}

/// Blocking TCP connection for GIOP messages.
#[derive(Debug)]
pub struct Connection {
    /// Socket of the connection.
    pub stream: TcpStream,
}

impl Connection {
    /// Calls the operation that does nothing, and checks its reply.
    ///
    /// # Errors
    /// The server closes, takes longer than `limit`, or answers anything else.
    pub fn call(&mut self, target: &Target, id: u32, limit: Duration) -> Result<()> {
        self.stream.set_read_timeout(Some(limit))?;
        self.stream.write_all(&target.request(VOID, id, &[]))?;
        let mut header = [0; HEADER];
        self.stream.read_exact(&mut header)?;
        let length = reply_length(&header)?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        check_reply(&body, id)
    }
}

/// Checks that these bytes are one whole reply to the given request, without an exception.
///
/// # Errors
/// They are anything else.
pub(crate) fn check_whole_reply(reply: &[u8], id: u32) -> Result<()> {
    let Some((header, body)) = reply.split_first_chunk() else {
        return Err("a reply without a header".into());
    };
    match reply_length(header)? == body.len() {
        true => check_reply(body, id),
        false => Err(format!("a reply of another length than {}", reply.len()).into()),
    }
}

/// Returns the length of the message body, given a reply's header.
fn reply_length(header: &[u8; HEADER]) -> Result<usize> {
    // GIOP allows either byte order; our ORB answers in its own, which here is the request's.
    let [b'G', b'I', b'O', b'P', 1, _, flags, 1, ..] = header else {
        return Err(format!("no reply but {header:02x?}").into());
    };
    let length = [header[8], header[9], header[10], header[11]];
    let length = match flags & LITTLE_ENDIAN {
        0 => u32::from_be_bytes(length),
        _ => u32::from_le_bytes(length),
    } as usize;
    if length > LONGEST {
        return Err(format!("a reply of {length} octets").into());
    }
    Ok(length)
}

/// Checks that the body of a reply has the given request id, and reports no exception.
fn check_reply(body: &[u8], id: u32) -> Result<()> {
    let numbers = body.first_chunk::<8>().map(|octets| {
        let (numbers, _) = octets.as_chunks::<4>();
        (numbers[0], numbers[1])
    });
    match numbers {
        Some((number, [0, 0, 0, 0])) if [id.to_le_bytes(), id.to_be_bytes()].contains(&number) => {
            Ok(())
        }
        _ => Err(Error::from(format!(
            "the reply of request {id} is not its own, or is an exception"
        ))),
    }
}

/// Raises the descriptor limit of this process and its later children, so that it allows this many
/// connections.
///
/// # Errors
/// The system refuses the limit.
pub fn allow(connections: usize) -> Result<()> {
    let wanted = connections as u64 + SPARE;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|now| now >= wanted) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(wanted),
        // Root may raise the hard limit, too.
        maximum: limit.maximum.map(|most| most.max(wanted)),
    };
    setrlimit(Resource::Nofile, raised).map_err(|error| {
        let most = limit.maximum.unwrap_or_default();
        format!("{wanted} descriptors are needed, and this process may have {most}: {error}").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Operation};

    #[test]
    fn a_request_is_as_long_as_that_of_an_orb() {
        let request = request(&[7; 28], VOID, 1, &[]);
        assert_eq!(
            request.len(),
            Case::plain(Operation::CubeVoid).lengths().request
        );
        assert_eq!(request[8..12], 64_u32.to_le_bytes());
        let with_body = super::request(&[7; 28], "cube_long", 1, &[1, 2, 3, 4]);
        assert_eq!(
            with_body.len(),
            Case::plain(Operation::CubeLong).lengths().request
        );
    }

    #[test]
    fn a_reply_to_another_request_or_with_an_exception_is_not_taken() {
        let body = |id: u32, status: u32| [id.to_le_bytes(), status.to_le_bytes()].concat();
        assert!(check_reply(&body(5, 0), 5).is_ok());
        assert!(check_reply(&body(4, 0), 5).is_err());
        assert!(check_reply(&body(5, 2), 5).is_err());
        assert!(check_reply(&[], 5).is_err());
        assert!(reply_length(&header(1, u32::MAX)).is_err());
        assert!(reply_length(&header(5, 0)).is_err());
        assert_eq!(reply_length(&header(1, 12)).unwrap(), 12);
        let whole = |length: u32| [&header(1, length)[..], &body(5, 0)].concat();
        assert!(check_whole_reply(&whole(8), 5).is_ok());
        assert!(check_whole_reply(&whole(12), 5).is_err());
        assert!(check_whole_reply(&header(1, 8)[..5], 5).is_err());
    }
}
