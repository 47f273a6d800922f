//! Connecting over a Unix socket.

use super::address::{NAME, client_address};
use super::options::UiopOptions;
use super::path;
use crate::socket::StreamConnection;
use crate::{Address, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::stream::{Direction, set_timeout};
use punctual_sys::unix;
use std::sync::Arc;

pub(super) fn connect(
    address: &Address,
    options: &UiopOptions,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let place = address.place();
    let path = path::checked(place, Phase::Connect)?;
    let timeout = deadline.remaining();
    if timeout.is_some_and(|left| left.is_zero()) {
        return Err(LinkError::timed_out(Phase::Connect));
    }
    let failed = |error| LinkError::os(Phase::Connect, error);
    let (socket, name) = unix::connect(path, timeout).map_err(failed)?;
    options.apply(&socket).map_err(failed)?;
    // Connecting used the socket's time-out; from here on the connection sets it.
    set_timeout(&socket, Direction::Send, None).map_err(failed)?;
    let local = client_address(place, name.as_deref().unwrap_or("unnamed"));
    let peer = Address::new(NAME, place);
    let connection = StreamConnection::new(socket, peer, local, options.socket());
    Ok(Arc::new(connection))
}
