//! Listening side of the link.

use crate::connection::CheckedConnection;
use crate::{Options, address};
use punctual_link::{Acceptor, Address, Connection, LinkError, Phase};
use rustix::net::{Shutdown, shutdown};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Acceptor of the example link, with the TCP socket on which it listens.
#[derive(Debug)]
pub(crate) struct CheckedAcceptor {
    listener: TcpListener,
    address: Address,
    options: Options,
    closed: AtomicBool,
}

pub(crate) fn listen(address: &Address, options: Options) -> Result<Box<dyn Acceptor>, LinkError> {
    let os = |error| LinkError::os(Phase::Listen, error);
    let listener = TcpListener::bind(address::socket(address)?).map_err(os)?;
    let address = address::link(listener.local_addr().map_err(os)?);
    Ok(Box::new(CheckedAcceptor {
        listener,
        address,
        options,
        closed: AtomicBool::new(false),
    }))
}

impl CheckedAcceptor {
    /// Returns whether `close` was called. Acquire pairs with the Release in `close`.
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Acceptor for CheckedAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        if self.is_closed() {
            return Err(LinkError::closed(Phase::Accept));
        }
        let accepted = self
            .listener
            .accept()
            .and_then(|(stream, _)| CheckedConnection::new(stream, self.options));
        match accepted {
            Ok(connection) => Ok(Arc::new(connection)),
            Err(_) if self.is_closed() => Err(LinkError::closed(Phase::Accept)),
            Err(error) => Err(LinkError::os(Phase::Accept, error)),
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // On Linux this wakes threads that wait in `accept`. It fails only if the socket was shut
        // down before.
        let _ = shutdown(&self.listener, Shutdown::Both);
    }
}
