//! Listening on UDP: one socket for all peers, and a thread that distributes their messages.
//!
//! The thread lives as long as the acceptor is open or one of its connections is.

use super::address;
use super::connection::{BLOCK, BLOCK_KEPT, ROOM};
use super::options::DiopOptions;
use super::peers::{Peer, PeerLimits, Peers, Taken};
use super::transmit::{To, transmit};
use crate::{
    Acceptor, Address, BlockPool, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::{Deadline, ThreadSpec};
use punctual_sys::dscp::{Dscp, Marking};
use punctual_sys::{stream, udp};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of datagram buffers kept for reuse, and of blocks, for all peers of an acceptor.
const DATAGRAMS: usize = 64;
/// Number of failed receives in a row after which the socket is given up.
const FAILURES: u32 = 1000;

/// What makes messages of datagrams, before they are distributed to the peers' connections.
pub(crate) trait Intake: Send + 'static {
    /// Returns the message that is complete with this datagram, if one is.
    fn take<'d>(
        &mut self,
        from: SocketAddr,
        datagram: &'d [u8],
        now: Instant,
    ) -> Option<Cow<'d, [u8]>>;

    /// Drops what has become too old. Called from time to time, also when nothing arrives.
    fn look(&mut self, now: Instant) {
        let _ = now;
    }
}

/// Datagrams that are messages each.
pub(crate) struct Whole;

impl Intake for Whole {
    fn take<'d>(&mut self, _: SocketAddr, datagram: &'d [u8], _: Instant) -> Option<Cow<'d, [u8]>> {
        (!datagram.is_empty()).then_some(Cow::Borrowed(datagram))
    }
}

/// Properties of an acceptor beside its socket.
pub(crate) struct Listening {
    /// Name of the link, for the addresses of peers.
    pub(crate) link: &'static str,
    /// Name of the thread that receives.
    pub(crate) thread: &'static str,
    /// Address of the acceptor.
    pub(crate) address: Address,
    pub(crate) options: DiopOptions,
    /// Interval in which the thread looks for what has become too old.
    pub(crate) look: Duration,
    /// Whether peers may be sent anything; otherwise messages to them are dropped.
    pub(crate) answers: bool,
    pub(crate) tally: Tally,
}

/// Counts of all acceptors of a link together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Number of dropped messages.
    pub(crate) dropped: Arc<AtomicU64>,
    /// Bytes of messages that wait for their reader, with overhead.
    pub(crate) waiting: Arc<AtomicU64>,
}

/// State shared by the acceptor, its thread and its connections.
struct Shared {
    socket: UdpSocket,
    marking: Marking,
    of: Listening,
    /// Buffers of the messages that wait.
    pool: Arc<BlockPool>,
    /// Blocks that the connections lend: of all peers, so that many of them do not keep some each.
    lent: Arc<BlockPool>,
    state: Mutex<State>,
    accepted: Condvar,
}

struct State {
    peers: Peers,
    listening: bool,
}

#[derive(Debug)]
struct DatagramAcceptor {
    address: Address,
    /// Shared state; `None` once closed, so that the socket is closed with the last connection.
    shared: Mutex<Option<Arc<Shared>>>,
}

/// Server's connection to one peer, over the UDP socket that all peers share.
#[derive(Debug)]
struct PeerConnection {
    shared: Arc<Shared>,
    peer: Arc<Peer>,
    address: Address,
}

/// Begins to receive from a socket, on a thread of its own.
pub(crate) fn begin(
    socket: UdpSocket,
    of: Listening,
    intake: impl Intake,
) -> io::Result<Box<dyn Acceptor>> {
    // The thread also looks around when no datagram arrives.
    let look = of.look.min(of.options.idle / 2);
    let look = look.clamp(Duration::from_millis(1), Duration::from_secs(30));
    socket.set_read_timeout(Some(look))?;
    let options = of.options;
    let limits = PeerLimits {
        peers: options.peers,
        backlog: options.backlog,
        queue: options.queue,
        waiting: options.waiting,
    };
    let shared = Arc::new(Shared {
        socket,
        marking: options.marking(),
        pool: BlockPool::new(DATAGRAMS, BLOCK_KEPT),
        lent: BlockPool::new(DATAGRAMS, BLOCK_KEPT),
        state: Mutex::new(State {
            peers: Peers::new(limits, of.tally.waiting.clone()),
            listening: true,
        }),
        accepted: Condvar::new(),
        of,
    });
    let reading = shared.clone();
    ThreadSpec::named(shared.of.thread).start(move || reading.distribute(intake, look))?;
    Ok(Box::new(DatagramAcceptor {
        address: shared.of.address.clone(),
        shared: Mutex::new(Some(shared)),
    }))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives for all peers until neither acceptor nor connection is left.
    fn distribute(&self, mut intake: impl Intake, look: Duration) {
        let mut buffer = vec![0; ROOM];
        let mut failures = 0;
        let mut looked = Instant::now();
        while failures < FAILURES {
            let received = udp::receive(&self.socket, &mut buffer);
            let now = Instant::now();
            let looks = now.saturating_duration_since(looked) >= look;
            if looks {
                looked = now;
                intake.look(now);
            }
            let message = match received {
                // The socket was shut down.
                Ok((_, None)) => {
                    failures += 1;
                    None
                }
                Ok((length, Some(from))) => {
                    failures = 0;
                    let octets = buffer.get(..length).unwrap_or_default();
                    let message = intake.take(from, octets, now);
                    message.map(|message| (from, self.block(message)))
                }
                Err(error) => {
                    let waits = error.kind() == io::ErrorKind::WouldBlock;
                    failures = if waits { 0 } else { failures + 1 };
                    None
                }
            };
            let mut state = self.lock();
            if !state.listening && state.peers.is_empty() {
                return;
            }
            if looks {
                state.peers.drop_idle(now, self.of.options.idle);
            }
            if let Some((from, message)) = message {
                let open = state.listening;
                if state.peers.deliver(from, message, now, open) {
                    self.accepted.notify_one();
                }
                let dropped = state.peers.take_dropped();
                self.of.tally.dropped.fetch_add(dropped, Ordering::Relaxed);
            }
        }
        let mut state = self.lock();
        state.listening = false;
        state.peers.clear();
        drop(state);
        self.accepted.notify_all();
    }

    fn block(&self, message: Cow<'_, [u8]>) -> Block {
        match message {
            Cow::Owned(message) => Block::from_vec(message),
            Cow::Borrowed(message) => {
                let mut block = self.pool.lend(message.len());
                block.extend_from_slice(message);
                block
            }
        }
    }

    fn accept(&self) -> Option<Arc<Peer>> {
        let mut state = self.lock();
        loop {
            if !state.listening {
                return None;
            }
            if let Some(peer) = state.peers.accept() {
                return Some(peer);
            }
            let waited = self.accepted.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop_listening(&self) {
        let mut state = self.lock();
        state.listening = false;
        state.peers.drop_unaccepted();
        self.end_if_unused(&state);
        drop(state);
        self.accepted.notify_all();
    }

    fn forget(&self, peer: &Arc<Peer>) {
        let mut state = self.lock();
        state.peers.forget(peer);
        self.end_if_unused(&state);
    }

    /// Wakes the thread, which ends, when neither acceptor nor connection is left.
    fn end_if_unused(&self, state: &State) {
        if !state.listening && state.peers.is_empty() {
            // It reports the lack of a peer, and wakes the reader all the same.
            let _ = stream::shut(&self.socket);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("local", &self.of.address)
            .finish_non_exhaustive()
    }
}

impl DatagramAcceptor {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Shared>>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acceptor for DatagramAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let closed = || LinkError::closed(Phase::Accept);
        let shared = self.lock().clone().ok_or_else(closed)?;
        let peer = shared.accept().ok_or_else(closed)?;
        Ok(Arc::new(PeerConnection {
            address: address::from_socket(shared.of.link, peer.address),
            peer,
            shared,
        }))
    }

    fn close(&self) {
        let shared = self.lock().take();
        if let Some(shared) = shared {
            shared.stop_listening();
        }
    }
}

impl Drop for DatagramAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}

impl Connection for PeerConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.shared.lent.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        if self.peer.state().1 {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
        }
        if !self.shared.of.answers {
            return Ok(());
        }
        transmit(
            &self.shared.socket,
            parts,
            To::Peer(self.peer.address),
            deadline,
        )
    }

    fn receive(
        &self,
        block: &mut Block,
        _need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        match self.peer.take(deadline) {
            Taken::Datagram(datagram) => {
                block.extend_from_slice(&datagram);
                Ok(datagram.len())
            }
            Taken::TimedOut => Err(LinkError::timed_out(Phase::Receive)),
            Taken::Ended => Err(LinkError::closed(Phase::Receive)),
        }
    }

    fn pending(&self) -> Pending {
        match self.peer.state() {
            (true, _) => Pending::Data,
            (false, true) => Pending::End,
            (false, false) => Pending::Nothing,
        }
    }

    fn close(&self) {
        self.shared.forget(&self.peer);
    }

    fn peer(&self) -> &Address {
        &self.address
    }

    fn local(&self) -> &Address {
        &self.shared.of.address
    }

    /// Marks the packets of all peers: they are sent by one socket, whose endpoint has one priority.
    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.shared.marking.set(&self.shared.socket, dscp)
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Own
    }
}

impl Drop for PeerConnection {
    fn drop(&mut self) {
        self.close();
    }
}
