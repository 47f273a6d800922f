//! Listening: connections whose handshake has succeeded in the background are handed to `accept`.

use super::accept_queue::{AcceptQueue, BACKLOG};
use super::address::NAME;
use super::common::LinkState;
use super::handshake_thread::HandshakeThread;
use super::options::{Allow, ShmOptions};
use crate::uiop::path::SocketFile;
use crate::{Acceptor, Address, Connection, LinkError, Phase};
use punctual_exec::ThreadSpec;
use punctual_sys::unix;
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

#[derive(Debug)]
struct ShmAcceptor {
    listener: Arc<OwnedFd>,
    file: SocketFile,
    address: Address,
    queue: Arc<AcceptQueue>,
}

pub(super) fn listen(
    address: &Address,
    options: ShmOptions,
    state: Arc<LinkState>,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let (listener, file) = SocketFile::listen(address.place(), BACKLOG)?;
    let failed = |error| LinkError::os(Phase::Listen, error);
    if options.allow != Allow::SameUser {
        // Access is decided by the client's credentials, not by the file's mode.
        std::fs::set_permissions(file.place(), Permissions::from_mode(0o666)).map_err(failed)?;
    }
    // A client may have left before it is accepted, which must not block.
    let listener = UnixListener::from(listener);
    listener.set_nonblocking(true).map_err(failed)?;
    let acceptor = ShmAcceptor {
        listener: Arc::new(listener.into()),
        address: Address::new(NAME, file.place()),
        file,
        queue: Arc::default(),
    };
    let thread = HandshakeThread::new(
        acceptor.listener.clone(),
        acceptor.address.clone(),
        options,
        state,
        acceptor.queue.clone(),
    );
    ThreadSpec::named("punctual-shm")
        .start(move || thread.run())
        .map_err(|error| failed(error.into()))?;
    Ok(Box::new(acceptor))
}

impl Acceptor for ShmAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        self.queue.take()
    }

    fn close(&self) {
        if self.queue.close() {
            // The file first: while it exists, the listener is open, and no process takes it for a
            // leftover.
            self.file.remove();
            // Ends the handshake thread, too.
            let _ = unix::stop_listening(&*self.listener);
        }
    }
}

impl Drop for ShmAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}
