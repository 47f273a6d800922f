//! Connecting side of the link.

use crate::{VsockOptions, address, error};
use punctual_exec::Deadline;
use punctual_link::{Address, Connection, LinkError, Phase, StreamConnection};
use punctual_sys::vsock;
use std::sync::Arc;

pub(crate) fn connect(
    address: &Address,
    options: &VsockOptions,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let peer = address::to_connect(address)?;
    let timeout = deadline.remaining();
    if timeout.is_some_and(|left| left.is_zero()) {
        return Err(LinkError::timed_out(Phase::Connect));
    }
    let (socket, local) = vsock::connect(peer, timeout, options.receive_buffer)
        .map_err(|error| error::at(peer, Phase::Connect, error))?;
    let (peer, local) = (address::of(peer), address::of(local));
    Ok(Arc::new(StreamConnection::new(
        socket,
        peer,
        local,
        options.socket,
    )))
}
