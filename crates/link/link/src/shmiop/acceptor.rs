//! Listening: connections whose handshake has succeeded in the background are handed to `accept`.

use super::copies::CopyCounters;
use super::handshake_thread::HandshakeThread;
use super::{Allow, NAME, ShmOptions};
use crate::uiop::path::SocketFile;
use crate::{Acceptor, Address, Connection, LinkError, Phase};
use punctual_exec::ThreadSpec;
use punctual_sys::unix;
use std::collections::VecDeque;
use std::fs::Permissions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Upper bound of the connections that wait for their handshake, in the kernel, and to be accepted.
const BACKLOG: u16 = 128;

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
    counters: Arc<CopyCounters>,
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
        counters,
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

/// Queue of accepted connections, or errors, from the handshake thread to `accept`.
#[derive(Debug, Default)]
pub(super) struct AcceptQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

type Accepted = Result<Arc<dyn Connection>, LinkError>;

#[derive(Debug, Default)]
struct Waiting {
    accepted: VecDeque<Accepted>,
    closed: bool,
}

impl AcceptQueue {
    /// Hands over a connection, or an error of the operating system. Blocks while the queue is
    /// full, and, behind an error, until that was taken: the caller of `accept` decides when to
    /// retry. Returns whether the acceptor is still open.
    pub(super) fn put(&self, accepted: Accepted) -> bool {
        let is_error = accepted.is_err();
        let mut waiting = self.waiting();
        waiting = self.until(waiting, |waiting| {
            waiting.accepted.len() < usize::from(BACKLOG)
        });
        if waiting.closed {
            return false;
        }
        waiting.accepted.push_back(accepted);
        self.changed.notify_all();
        if is_error {
            waiting = self.until(waiting, |waiting| waiting.accepted.is_empty());
        }
        !waiting.closed
    }

    fn take(&self) -> Accepted {
        let mut waiting = self.waiting();
        waiting = self.until(waiting, |waiting| !waiting.accepted.is_empty());
        if waiting.closed {
            return Err(LinkError::closed(Phase::Accept));
        }
        let accepted = waiting.accepted.pop_front();
        self.changed.notify_all();
        accepted.unwrap_or_else(|| Err(LinkError::closed(Phase::Accept)))
    }

    /// Closes the queue; returns whether this call did.
    fn close(&self) -> bool {
        let mut waiting = self.waiting();
        let first = !std::mem::replace(&mut waiting.closed, true);
        let dropped = std::mem::take(&mut waiting.accepted);
        self.changed.notify_all();
        drop(waiting);
        // Connections that will not be accepted are closed outside of the lock.
        drop(dropped);
        first
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `done`, or closed.
    fn until<'w>(
        &self,
        waiting: MutexGuard<'w, Waiting>,
        done: impl Fn(&Waiting) -> bool,
    ) -> MutexGuard<'w, Waiting> {
        self.changed
            .wait_while(waiting, |waiting| !waiting.closed && !done(waiting))
            .unwrap_or_else(PoisonError::into_inner)
    }
}
