//! Listening on UDP: one socket for all peers, and a thread that distributes their datagrams.
//!
//! The thread lives as long as the acceptor is open or one of its connections is.

use super::address;
use super::connection::{BLOCK, BLOCK_KEPT, BLOCKS, ROOM};
use super::options::DiopOptions;
use super::peers::{Peer, Peers, Taken};
use super::transmit::{To, transmit};
use crate::socket::resolve;
use crate::{
    Acceptor, Address, BlockPool, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::{Deadline, ThreadSpec};
use punctual_sys::dscp::Dscp;
use punctual_sys::{stream, udp};
use std::fmt;
use std::io::{self, IoSlice};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of datagram buffers kept for reuse, for all peers of an acceptor.
const DATAGRAMS: usize = 64;
/// Number of failed receives in a row after which the socket is given up.
const FAILURES: u32 = 1000;

/// State shared by the acceptor, its thread and its connections.
struct Shared {
    socket: UdpSocket,
    local: Address,
    options: DiopOptions,
    pool: Arc<BlockPool>,
    state: Mutex<State>,
    accepted: Condvar,
    /// Number of dropped datagrams, counted for all acceptors of the link together.
    dropped: Arc<AtomicU64>,
}

struct State {
    peers: Peers,
    listening: bool,
}

#[derive(Debug)]
struct DiopAcceptor {
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
    pool: Arc<BlockPool>,
}

pub(super) fn listen(
    address: &Address,
    options: DiopOptions,
    dropped: &Arc<AtomicU64>,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let failed = |error| LinkError::os(Phase::Listen, error);
    let mut failure = None;
    for candidate in resolve(address, Deadline::after(Duration::from_secs(10)))? {
        match udp::bind(candidate) {
            Ok(socket) => return begin(socket, options, dropped.clone()).map_err(failed),
            Err(error) => failure = Some(error),
        }
    }
    Err(failed(
        failure.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()),
    ))
}

fn begin(
    socket: UdpSocket,
    options: DiopOptions,
    dropped: Arc<AtomicU64>,
) -> io::Result<Box<dyn Acceptor>> {
    options.apply(&socket)?;
    // The thread also checks for silent peers when no datagram arrives.
    let look = (options.idle / 2).clamp(Duration::from_millis(1), Duration::from_secs(30));
    socket.set_read_timeout(Some(look))?;
    let local = address::from_socket(socket.local_addr()?);
    let shared = Arc::new(Shared {
        socket,
        local: local.clone(),
        options,
        pool: BlockPool::new(DATAGRAMS, BLOCK_KEPT),
        state: Mutex::new(State {
            peers: Peers::new(options.peers, options.backlog, options.queue),
            listening: true,
        }),
        accepted: Condvar::new(),
        dropped,
    });
    let reading = shared.clone();
    ThreadSpec::named("punctual-diop").start(move || reading.distribute())?;
    Ok(Box::new(DiopAcceptor {
        address: local,
        shared: Mutex::new(Some(shared)),
    }))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives for all peers until neither acceptor nor connection is left.
    fn distribute(&self) {
        let mut buffer = vec![0; ROOM];
        let mut failures = 0;
        let mut looked = Instant::now();
        while failures < FAILURES {
            let received = udp::receive(&self.socket, &mut buffer);
            let now = Instant::now();
            let mut state = self.lock();
            if !state.listening && state.peers.is_empty() {
                return;
            }
            if now.saturating_duration_since(looked) >= self.options.idle / 2 {
                looked = now;
                state.peers.drop_idle(now, self.options.idle);
            }
            match received {
                // The socket was shut down.
                Ok((_, None)) => failures += 1,
                Ok((length, Some(from))) => {
                    failures = 0;
                    let octets = buffer.get(..length).unwrap_or_default();
                    if octets.is_empty() {
                        continue;
                    }
                    let mut datagram = self.pool.lend(octets.len());
                    datagram.extend_from_slice(octets);
                    let open = state.listening;
                    if state.peers.deliver(from, datagram, now, open) {
                        self.accepted.notify_one();
                    }
                    let dropped = state.peers.take_dropped();
                    self.dropped.fetch_add(dropped, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => failures = 0,
                Err(_) => failures += 1,
            }
        }
        let mut state = self.lock();
        state.listening = false;
        state.peers.clear();
        drop(state);
        self.accepted.notify_all();
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
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

impl DiopAcceptor {
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Shared>>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acceptor for DiopAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let closed = || LinkError::closed(Phase::Accept);
        let shared = self.lock().clone().ok_or_else(closed)?;
        let peer = shared.accept().ok_or_else(closed)?;
        Ok(Arc::new(PeerConnection {
            address: address::from_socket(peer.address),
            peer,
            pool: BlockPool::new(BLOCKS, BLOCK_KEPT),
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

impl Drop for DiopAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}

impl Connection for PeerConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        if self.peer.state().1 {
            let error = LinkError::closed(Phase::Send);
            return Err(SendError { error, sent: 0 });
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
        &self.shared.local
    }

    /// Marks the packets of all peers: they are sent by one socket, whose endpoint has one priority.
    fn set_dscp(&self, dscp: Dscp) -> io::Result<()> {
        dscp.apply(&self.shared.socket)
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
