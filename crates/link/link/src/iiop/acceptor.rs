//! Listening on TCP.

use super::options::IiopOptions;
use crate::socket::resolve;
use crate::{Acceptor, Address, Cause, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::inherited::InheritedListener;
use punctual_sys::tcp;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Debug)]
struct TcpAcceptor {
    listener: Listener,
    address: Address,
    options: IiopOptions,
    closed: AtomicBool,
}

#[derive(Debug)]
enum Listener {
    Own(TcpListener),
    Inherited(InheritedListener),
}

pub(super) fn listen(
    address: &Address,
    options: &IiopOptions,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let failed = |error| LinkError::os(Phase::Listen, error);
    let listener = match options.inherited {
        Some(number) => Listener::Inherited(InheritedListener::take(number).map_err(failed)?),
        None => Listener::Own(bound(address, options)?),
    };
    let local = match &listener {
        Listener::Own(listener) => listener.local_addr(),
        Listener::Inherited(listener) => listener.local_addr(),
    };
    let local = local.map_err(failed)?;
    if let Listener::Own(listener) = &listener {
        // Refused here, as otherwise each connection would be.
        options.tcp.traffic.apply(listener).map_err(failed)?;
    }
    Ok(Box::new(TcpAcceptor {
        listener,
        address: Address::iiop(&local.ip().to_canonical().to_string(), local.port()),
        options: *options,
        closed: AtomicBool::new(false),
    }))
}

/// Listens at the first of the host's addresses that is available.
fn bound(address: &Address, options: &IiopOptions) -> Result<TcpListener, LinkError> {
    let candidates = resolve(address, Deadline::after(Duration::from_secs(10)))?;
    let mut failure = io::ErrorKind::AddrNotAvailable.into();
    for candidate in candidates {
        match tcp::listen_steered(candidate, i32::from(options.backlog), options.incoming_cpu) {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(LinkError::os(Phase::Listen, failure))
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
        // Acquire pairs with the Release in `close`: a shut-down listener is seen as closed.
        if self.closed.load(Ordering::Acquire) {
            return Err(closed);
        }
        let accepted = match &self.listener {
            Listener::Own(listener) => listener.accept(),
            Listener::Inherited(listener) => listener.accept(),
        };
        match accepted {
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
        match &self.listener {
            Listener::Own(listener) => {
                // A listener that cannot be shut down has no waiting threads either.
                let _ = tcp::stop_listening(listener);
            }
            Listener::Inherited(listener) => listener.stop(),
        }
    }
}
