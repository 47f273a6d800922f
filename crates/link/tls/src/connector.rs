//! Connecting over TCP, and the handshake.

use crate::connection::TlsConnection;
use crate::handshake::Handshake;
use crate::options::TlsOptions;
use crate::source::Source;
use punctual_exec::Deadline;
use punctual_link::{Address, Cause, Connection, LinkError, Phase, Properties, resolve};
use punctual_sys::stream::{Direction, set_timeout};
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;

const NOTATION: &str = "host:port, with an IPv6 address in brackets";

pub(crate) fn connect(
    address: &Address,
    options: &TlsOptions,
    source: &Source,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let host = host_and_port(address)?.0;
    let name = server_name(options.server_name.as_deref().unwrap_or(host))?;
    let Some(config) = source.configs().client else {
        let reason = "no authority is trusted to vouch for a server: name a file of certificates";
        return Err(os(io::Error::new(io::ErrorKind::NotFound, reason)));
    };
    let stream = dial(address, deadline)?;
    options.tcp.apply(&stream).map_err(os)?;
    let tls = ClientConnection::new(config, name).map_err(|error| os(io::Error::other(error)))?;
    let mut handshake = Handshake::new(stream, tls);
    let bound = deadline.earlier(Deadline::after(options.handshake_timeout));
    complete(&mut handshake, bound)?;
    let connection = TlsConnection::new(handshake, address.clone(), options).map_err(os)?;
    Ok(Arc::new(connection))
}

fn complete(handshake: &mut Handshake, deadline: Deadline) -> Result<(), LinkError> {
    loop {
        let left = deadline.remaining();
        if left.is_some_and(|left| left.is_zero()) {
            return Err(LinkError::timed_out(Phase::Connect));
        }
        for direction in [Direction::Receive, Direction::Send] {
            set_timeout(&handshake.stream, direction, left).map_err(os)?;
        }
        if handshake.advance().map_err(os)? {
            return Ok(());
        }
    }
}

/// Checks the property `server_name`, if there is one.
pub(crate) fn check_server_name(properties: &Properties) -> Result<(), LinkError> {
    let Some(name) = properties.get("server_name") else {
        return Ok(());
    };
    server_name(name).map(drop).map_err(|error| LinkError {
        cause: Cause::BadProperty {
            property: format!("server_name={name}").into(),
            expected: NAME_IN_CERTIFICATE,
        },
        ..error
    })
}

/// Form of a server name, for errors.
const NAME_IN_CERTIFICATE: &str = "a host name or an IP address valid in a certificate";

/// Returns the server name that the server's certificate must be valid for.
fn server_name(text: &str) -> Result<ServerName<'static>, LinkError> {
    ServerName::try_from(text.to_owned()).map_err(|_| LinkError {
        phase: Phase::Connect,
        cause: Cause::BadAddress(NAME_IN_CERTIFICATE),
    })
}

fn os(error: io::Error) -> LinkError {
    LinkError::os(Phase::Connect, error)
}

fn host_and_port(address: &Address) -> Result<(&str, u16), LinkError> {
    address.host_and_port().ok_or(LinkError {
        phase: Phase::Resolve,
        cause: Cause::BadAddress(NOTATION),
    })
}

/// Connects to each of the host's addresses in turn.
fn dial(address: &Address, deadline: Deadline) -> Result<TcpStream, LinkError> {
    let mut failure = None;
    for candidate in resolve(address, deadline)? {
        let dialed = match deadline.remaining() {
            None => TcpStream::connect(candidate),
            Some(left) if left.is_zero() => return Err(LinkError::timed_out(Phase::Connect)),
            Some(left) => TcpStream::connect_timeout(&candidate, left),
        };
        match dialed {
            Ok(stream) => return Ok(stream),
            // The standard library's own time-out carries no errno; the kernel's ETIMEDOUT does.
            Err(error)
                if error.kind() == io::ErrorKind::TimedOut && error.raw_os_error().is_none() =>
            {
                return Err(LinkError::timed_out(Phase::Connect));
            }
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.map_or_else(no_number, os))
}

fn no_number() -> LinkError {
    let error = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    LinkError::os(Phase::Resolve, error)
}
