//! Connecting side of the link.

use crate::connection::CheckedConnection;
use crate::{Options, address};
use punctual_exec::Deadline;
use punctual_link::{Address, Connection, LinkError, Phase};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

pub(crate) fn connect(
    address: &Address,
    options: Options,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let stream = dial(address::socket(address)?, deadline)?;
    let connection = CheckedConnection::new(stream, options)
        .map_err(|error| LinkError::os(Phase::Connect, error))?;
    Ok(Arc::new(connection))
}

fn dial(to: SocketAddr, deadline: Deadline) -> Result<TcpStream, LinkError> {
    let dialed = match deadline.remaining() {
        None => TcpStream::connect(to),
        Some(left) if left.is_zero() => return Err(LinkError::timed_out(Phase::Connect)),
        Some(left) => TcpStream::connect_timeout(&to, left),
    };
    dialed.map_err(|error| match error.kind() {
        // The standard library's own time-out carries no errno; the kernel's ETIMEDOUT does.
        io::ErrorKind::TimedOut if error.raw_os_error().is_none() => {
            LinkError::timed_out(Phase::Connect)
        }
        _ => LinkError::os(Phase::Connect, error),
    })
}
