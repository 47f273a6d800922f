//! Listening side of the link.

use crate::{VsockOptions, address, error};
use punctual_link::{Acceptor, Address, Connection, LinkError, Phase, StreamConnection};
use punctual_sys::vsock::Listener;
use std::sync::Arc;

/// Acceptor, with the socket on which it listens.
#[derive(Debug)]
struct VsockAcceptor {
    listener: Listener,
    address: Address,
    options: VsockOptions,
}

pub(crate) fn listen(
    address: &Address,
    options: VsockOptions,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let at = address::to_listen(address)?;
    let listener = Listener::bind(at, i32::from(options.backlog), options.receive_buffer)
        .map_err(|error| error::at(at, Phase::Listen, error))?;
    Ok(Box::new(VsockAcceptor {
        address: address::of(listener.address()),
        listener,
        options,
    }))
}

impl Acceptor for VsockAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let accepted = self.listener.accept();
        let accepted = accepted.map_err(|error| LinkError::os(Phase::Accept, error))?;
        let (socket, peer) = accepted.ok_or(LinkError::closed(Phase::Accept))?;
        let (peer, local) = (address::of(peer), self.address.clone());
        let options = self.options.socket;
        Ok(Arc::new(StreamConnection::new(
            socket, peer, local, options,
        )))
    }

    fn close(&self) {
        self.listener.close();
    }
}
