//! Handshake thread of an acceptor: accepts peers and receives their greetings, many at a time, so
//! that a slow, silent or hostile one delays no other.

use super::accept_queue::AcceptQueue;
use super::address::{Addresses, client_address};
use super::common::LinkState;
use super::connection::ShmConnection;
use super::greeting::{Handshake, Own, PeerMapping};
use super::options::ShmOptions;
use crate::{Address, Cause, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::passing::{self, Found};
use punctual_sys::unix;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Upper bound of handshakes under way; beyond it the oldest is dropped.
const MAX_PENDING: usize = 64;

/// Thread that performs the handshakes of an acceptor's new connections.
#[derive(Debug)]
pub(super) struct HandshakeThread {
    listener: Arc<OwnedFd>,
    address: Address,
    options: ShmOptions,
    state: Arc<LinkState>,
    queue: Arc<AcceptQueue>,
    /// Pending peers in the order of their arrival, which is that of their deadlines.
    pending: VecDeque<PendingPeer>,
    /// Number of clients so far whose end has no name.
    unnamed: u64,
}

#[derive(Debug)]
struct PendingPeer {
    handshake: Handshake,
    name: String,
    deadline: Deadline,
}

/// Error for an acceptor that is closed.
struct Closed;

impl HandshakeThread {
    pub(super) fn new(
        listener: Arc<OwnedFd>,
        address: Address,
        options: ShmOptions,
        state: Arc<LinkState>,
        queue: Arc<AcceptQueue>,
    ) -> Self {
        Self {
            listener,
            address,
            options,
            state,
            queue,
            pending: VecDeque::new(),
            unnamed: 0,
        }
    }

    /// Performs handshakes until the listener is shut down.
    pub(super) fn run(mut self) {
        while self.step().is_ok() {}
    }

    fn step(&mut self) -> Result<(), Closed> {
        let found = match self.wait() {
            Ok(found) => found,
            Err(error) => return self.report(error),
        };
        let (listener, pending) = found.split_first().ok_or(Closed)?;
        if *listener == Found::End {
            return Err(Closed);
        }
        self.advance(pending)?;
        if *listener == Found::Data {
            self.accept()?;
        }
        self.pending.retain(|peer| !peer.deadline.has_passed());
        Ok(())
    }

    /// Waits for the listener and the pending peers, in this order.
    fn wait(&self) -> std::io::Result<Vec<Found>> {
        let first = self.pending.front();
        let timeout: Option<Duration> = first.and_then(|peer| peer.deadline.remaining());
        let pending = self.pending.iter().map(|peer| peer.handshake.socket());
        let sockets: Vec<BorrowedFd<'_>> = std::iter::once(&*self.listener)
            .chain(pending)
            .map(AsFd::as_fd)
            .collect();
        passing::wait_all(&sockets, timeout)
    }

    /// Continues with the peers that sent something, or left, and passes on those whose handshake is
    /// done.
    fn advance(&mut self, found: &[Found]) -> Result<(), Closed> {
        let mut found = found.iter();
        for mut peer in std::mem::take(&mut self.pending) {
            // There is one result for each peer.
            if found.next().is_none_or(|found| *found == Found::Nothing) {
                self.pending.push_back(peer);
                continue;
            }
            match self.answer(&mut peer) {
                Ok(None) => self.pending.push_back(peer),
                Ok(Some((own, theirs))) => {
                    let connection = self.connect(peer, own, theirs);
                    if !self.queue.put(Ok(Arc::new(connection))) {
                        return Err(Closed);
                    }
                }
                Err(Cause::Os(error)) => self.report(error)?,
                // The peer's fault, and irrelevant to the caller of `accept`.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn answer(&self, peer: &mut PendingPeer) -> Result<Option<(Own, PeerMapping)>, Cause> {
        let Some(theirs) = peer.handshake.receive(&self.options)? else {
            return Ok(None);
        };
        let own = Own::new(&self.options, &self.state)?;
        peer.handshake.send(&own)?;
        Ok(Some((own, theirs)))
    }

    fn connect(&self, peer: PendingPeer, own: Own, theirs: PeerMapping) -> ShmConnection {
        let addresses = Addresses {
            local: self.address.clone(),
            peer: client_address(self.address.place(), &peer.name),
        };
        peer.handshake
            .connect(own, theirs, &self.options, &self.state, addresses)
    }

    fn accept(&mut self) -> Result<(), Closed> {
        let (socket, name) = match unix::accept(&*self.listener) {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return self.report(error),
        };
        let name = name.unwrap_or_else(|| {
            self.unnamed += 1;
            format!("unnamed-{}", self.unnamed)
        });
        // A peer that is not allowed here has been notified.
        if let Ok(handshake) = Handshake::new(socket, &self.options) {
            if self.pending.len() == MAX_PENDING {
                self.pending.pop_front();
            }
            self.pending.push_back(PendingPeer {
                handshake,
                name,
                deadline: Deadline::after(self.options.handshake),
            });
        }
        Ok(())
    }

    /// Reports an operating system error to `accept`, and waits until it was taken.
    fn report(&self, error: std::io::Error) -> Result<(), Closed> {
        let error = LinkError::os(Phase::Accept, error);
        let goes_on = self.queue.put(Err(error));
        if goes_on { Ok(()) } else { Err(Closed) }
    }
}
