//! Client's end: a socket of its own, connected to its one peer.

use crate::socket::CachedTimeout;
use crate::{
    Address, BlockPool, Cause, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_sys::dscp::{Dscp, Marking};
use punctual_sys::stream::{self, Direction};
use punctual_sys::traffic;
use punctual_sys::udp;
use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of blocks that a connection keeps for reuse.
const BLOCKS: usize = 4;
/// Initial size of a block in bytes: a datagram that fits an Ethernet frame.
pub(super) const BLOCK: usize = 2048;
/// Room for any datagram, in bytes: one that did not fit would be cut.
pub(super) const ROOM: usize = 65_536;
/// Size in bytes beyond which blocks are not kept.
pub(super) const BLOCK_KEPT: usize = 256 * 1024;

/// How messages become datagrams. Threads may send at the same time.
pub(crate) trait Sending: Send + Sync + std::fmt::Debug {
    /// Sends `parts` as one message; waits for room until `deadline`.
    fn send(
        &self,
        socket: &UdpSocket,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError>;
}

#[derive(Debug)]
pub(crate) struct DatagramConnection<S> {
    socket: UdpSocket,
    marking: Marking,
    peer: Address,
    local: Address,
    pool: Arc<BlockPool>,
    timeout: CachedTimeout,
    closed: AtomicBool,
    sending: S,
}

impl<S> DatagramConnection<S> {
    pub(crate) fn new(
        (socket, marking): (UdpSocket, Marking),
        (local, peer): (Address, Address),
        sending: S,
    ) -> Self {
        Self {
            socket,
            marking,
            peer,
            local,
            pool: BlockPool::new(BLOCKS, BLOCK_KEPT),
            timeout: CachedTimeout::new(Direction::Receive),
            closed: AtomicBool::new(false),
            sending,
        }
    }

    /// Returns whether this side has closed. Acquire pairs with the Release in `close`: a thread
    /// that finds the socket shut down knows the reason.
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl<S: Sending> Connection for DatagramConnection<S> {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        if self.is_closed() {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        }
        self.sending.send(&self.socket, parts, deadline)
    }

    fn sends_apart(&self) -> bool {
        true
    }

    fn receive(
        &self,
        block: &mut Block,
        _need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let bytes = block.as_mut_vec();
        bytes.try_reserve(ROOM).map_err(|_| LinkError {
            phase: Phase::Receive,
            cause: Cause::NoMemory(ROOM),
        })?;
        let mut timeout = deadline.timeout();
        loop {
            let received = self
                .timeout
                .set(&self.socket, timeout)
                .and_then(|()| stream::receive(&self.socket, bytes));
            match received {
                Ok(0) if self.is_closed() => return Err(LinkError::closed(Phase::Receive)),
                // Empty datagrams are ignored.
                Ok(0) => {}
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(LinkError::os(Phase::Receive, error)),
            }
            timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Receive));
            }
        }
    }

    fn pending(&self) -> Pending {
        match udp::waits(&self.socket) {
            _ if self.is_closed() => Pending::End,
            Ok(true) => Pending::Data,
            Ok(false) => Pending::Nothing,
            Err(_) => Pending::End,
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // A socket that cannot be shut down has no waiting threads either.
        let _ = stream::shut(&self.socket);
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn napi_id(&self) -> Option<u32> {
        traffic::napi_id(&self.socket).ok().flatten()
    }

    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.marking.set(&self.socket, dscp)
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Descriptor(self.socket.as_fd())
    }
}
