//! Connecting to a process that listens.

use super::address::{Addresses, NAME, client_address};
use super::common::LinkState;
use super::greeting::{Handshake, Own, PeerMapping};
use super::options::ShmOptions;
use crate::uiop::path;
use crate::{Address, Cause, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::{passing, unix};
use std::sync::Arc;

pub(super) fn connect(
    address: &Address,
    options: &ShmOptions,
    state: &LinkState,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let place = address.place();
    let path = path::checked(place, Phase::Connect)?;
    let deadline = deadline.earlier(Deadline::after(options.handshake));
    let timeout = deadline.remaining();
    if timeout.is_some_and(|left| left.is_zero()) {
        return Err(LinkError::timed_out(Phase::Connect));
    }
    let (socket, name) =
        unix::connect(path, timeout).map_err(|error| LinkError::os(Phase::Connect, error))?;
    let addresses = Addresses {
        local: client_address(place, name.as_deref().unwrap_or("unnamed")),
        peer: Address::new(NAME, place),
    };
    let connected = || -> Result<_, Cause> {
        let mut handshake = Handshake::new(socket, options)?;
        let own = Own::new(options, state)?;
        match handshake.send(&own) {
            // A peer that refuses sends its reason before it closes.
            Ok(()) | Err(Cause::Closed) => {}
            Err(cause) => return Err(cause),
        }
        let theirs = answer(&mut handshake, options, deadline)?;
        Ok(handshake.connect(own, theirs, options, state, addresses))
    };
    let connection = connected().map_err(|cause| LinkError {
        phase: Phase::Connect,
        cause,
    })?;
    Ok(Arc::new(connection))
}

fn answer(
    handshake: &mut Handshake,
    options: &ShmOptions,
    deadline: Deadline,
) -> Result<PeerMapping, Cause> {
    loop {
        if let Some(theirs) = handshake.receive(options)? {
            return Ok(theirs);
        }
        let left = deadline.remaining();
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Cause::TimedOut);
        }
        // Receiving shows the outcome of the wait.
        let _ = passing::wait(handshake.socket(), left);
    }
}
