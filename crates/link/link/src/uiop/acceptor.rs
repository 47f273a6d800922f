//! Listening on a Unix socket.

use super::address::{NAME, client_address};
use super::options::UiopOptions;
use super::path::SocketFile;
use crate::socket::StreamConnection;
use crate::{Acceptor, Address, Connection, LinkError, Phase};
use punctual_sys::unix;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug)]
struct UnixAcceptor {
    listener: OwnedFd,
    file: SocketFile,
    address: Address,
    options: UiopOptions,
    closed: AtomicBool,
    /// Number of clients so far that are not bound to a name.
    unnamed: AtomicU64,
}

pub(super) fn listen(
    address: &Address,
    options: UiopOptions,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let (listener, file) = SocketFile::listen(address.place(), options.backlog)?;
    Ok(Box::new(UnixAcceptor {
        address: Address::new(NAME, file.place()),
        listener,
        file,
        options,
        closed: AtomicBool::new(false),
        unnamed: AtomicU64::new(0),
    }))
}

impl UnixAcceptor {
    fn connection(&self, socket: OwnedFd, name: Option<String>) -> io::Result<StreamConnection> {
        self.options.apply(&socket)?;
        let name = name.unwrap_or_else(|| {
            // A name from the kernel is five hexadecimal digits; this cannot be one.
            let number = self.unnamed.fetch_add(1, Ordering::Relaxed);
            format!("unnamed-{number}")
        });
        Ok(StreamConnection::new(
            socket,
            client_address(self.address.place(), &name),
            self.address.clone(),
            self.options.socket(),
        ))
    }
}

impl Acceptor for UnixAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        // Acquire pairs with the Release in `close`: a shut-down listener is seen as closed.
        if self.closed.load(Ordering::Acquire) {
            return Err(LinkError::closed(Phase::Accept));
        }
        match unix::accept(&self.listener) {
            Ok((socket, name)) => {
                let connection = self.connection(socket, name);
                let connection = connection.map_err(|error| LinkError::os(Phase::Accept, error))?;
                Ok(Arc::new(connection))
            }
            Err(_) if self.closed.load(Ordering::Acquire) => Err(LinkError::closed(Phase::Accept)),
            Err(error) => Err(LinkError::os(Phase::Accept, error)),
        }
    }

    fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        // The file first: while it exists, the listener is open, and no process takes it for a
        // leftover.
        self.file.remove();
        let _ = unix::stop_listening(&self.listener);
    }
}

impl Drop for UnixAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}
