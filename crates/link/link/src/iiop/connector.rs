//! Connecting over TCP: each of the host's addresses in turn.

use super::options::IiopOptions;
use crate::socket::{no_number, resolve};
use crate::{Address, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

pub(super) fn connect(
    address: &Address,
    options: &IiopOptions,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let candidates = resolve(address, deadline)?;
    let mut failure = None;
    for candidate in candidates {
        match dial(candidate, deadline) {
            Ok(stream) => {
                let connection = options.connection(stream, address.clone());
                return connection.map_err(|error| LinkError::os(Phase::Connect, error));
            }
            Err(error) => failure = Some(error),
        }
        if deadline.has_passed() {
            break;
        }
    }
    Err(failure.unwrap_or_else(|| no_number(Phase::Connect)))
}

fn dial(candidate: SocketAddr, deadline: Deadline) -> Result<TcpStream, LinkError> {
    let dialed = match deadline.remaining() {
        None => TcpStream::connect(candidate),
        Some(left) if left.is_zero() => return Err(LinkError::timed_out(Phase::Connect)),
        Some(left) => TcpStream::connect_timeout(&candidate, left),
    };
    dialed.map_err(|error| match error.kind() {
        // The standard library's own time-out carries no errno; the kernel's ETIMEDOUT does.
        io::ErrorKind::TimedOut if error.raw_os_error().is_none() => {
            LinkError::timed_out(Phase::Connect)
        }
        _ => LinkError::os(Phase::Connect, error),
    })
}
