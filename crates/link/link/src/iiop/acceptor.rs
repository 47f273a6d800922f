//! Listening on TCP.

use super::IiopOptions;
use crate::socket::resolve;
use crate::{Acceptor, Address, Cause, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::tcp;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug)]
struct TcpAcceptor {
    listener: TcpListener,
    address: Address,
    options: IiopOptions,
    closed: AtomicBool,
}

pub(super) fn listen(
    address: &Address,
    options: &IiopOptions,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let candidates = resolve(address, Deadline::after(Duration::from_secs(10)))?;
    let mut failure = None;
    for candidate in candidates {
        match tcp::listen(candidate, i32::from(options.backlog)) {
            Ok(listener) => {
                let local = listener
                    .local_addr()
                    .map_err(|error| LinkError::os(Phase::Listen, error))?;
                return Ok(Box::new(TcpAcceptor {
                    listener,
                    address: Address::iiop(&local.ip().to_canonical().to_string(), local.port()),
                    options: *options,
                    closed: AtomicBool::new(false),
                }));
            }
            Err(error) => failure = Some(error),
        }
    }
    let error = failure.unwrap_or_else(|| std::io::ErrorKind::AddrNotAvailable.into());
    Err(LinkError::os(Phase::Listen, error))
}

impl Acceptor for TcpAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let closed = LinkError {
            phase: Phase::Accept,
            cause: Cause::Closed,
        };
        // Acquire pairs with the Release in `close`: a shut listener is seen as closed.
        if self.closed.load(Ordering::Acquire) {
            return Err(closed);
        }
        match self.listener.accept() {
            Ok((stream, peer)) => {
                let peer = Address::iiop(&peer.ip().to_canonical().to_string(), peer.port());
                let connection = self.options.connection(stream, peer);
                connection.map_err(|error| LinkError::os(Phase::Accept, error))
            }
            Err(_) if self.closed.load(Ordering::Acquire) => Err(closed),
            Err(error) => Err(LinkError::os(Phase::Accept, error)),
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // A listener that cannot be shut has nobody waiting on it either.
        let _ = tcp::stop_listening(&self.listener);
    }
}
