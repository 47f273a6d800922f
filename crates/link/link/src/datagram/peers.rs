//! Peers known to an acceptor, and the datagrams that wait for each. Without a socket.
//!
//! Every quantity that a sender controls is bounded: the number of peers, of those that wait to be
//! accepted, and of the bytes that wait for one.

use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Memory overhead of a queued datagram, in bytes.
const OVERHEAD: usize = 64;

/// Queue of the datagrams to be received from one peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    queue: Mutex<Queue>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    datagrams: VecDeque<Block>,
    octets: usize,
    ended: bool,
}

/// Outcome of waiting for a datagram from a peer.
#[derive(Debug)]
pub(crate) enum Taken {
    Datagram(Block),
    TimedOut,
    Ended,
}

impl Peer {
    fn new(address: SocketAddr) -> Arc<Self> {
        Arc::new(Self {
            address,
            queue: Mutex::default(),
            arrived: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a datagram; the oldest make room for it. Returns the number of dropped ones.
    fn push(&self, datagram: Block, limit: usize) -> u64 {
        let mut queue = self.lock();
        let mut dropped = 0;
        if queue.ended {
            return dropped;
        }
        queue.octets += datagram.len() + OVERHEAD;
        queue.datagrams.push_back(datagram);
        while queue.octets > limit && queue.datagrams.len() > 1 {
            if let Some(oldest) = queue.datagrams.pop_front() {
                queue.octets -= oldest.len() + OVERHEAD;
                dropped += 1;
            }
        }
        drop(queue);
        self.arrived.notify_one();
        dropped
    }

    /// Takes the oldest datagram; waits for one until `deadline`.
    pub(crate) fn take(&self, deadline: Deadline) -> Taken {
        let mut queue = self.lock();
        loop {
            if let Some(datagram) = queue.datagrams.pop_front() {
                queue.octets -= datagram.len() + OVERHEAD;
                return Taken::Datagram(datagram);
            }
            if queue.ended {
                return Taken::Ended;
            }
            queue = match deadline.remaining() {
                None => self.arrived.wait(queue),
                Some(left) if left.is_zero() => return Taken::TimedOut,
                Some(left) => {
                    let waited = self.arrived.wait_timeout(queue, left);
                    Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
                }
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether a datagram waits, and whether the queue has ended.
    pub(crate) fn state(&self) -> (bool, bool) {
        let queue = self.lock();
        (!queue.datagrams.is_empty(), queue.ended)
    }

    /// Ends the queue: drops waiting datagrams and wakes the waiting thread.
    pub(crate) fn end(&self) {
        let mut queue = self.lock();
        queue.ended = true;
        queue.datagrams.clear();
        queue.octets = 0;
        drop(queue);
        self.arrived.notify_all();
    }
}

/// Table of all peers of one acceptor.
#[derive(Debug)]
pub(crate) struct Peers {
    table: HashMap<SocketAddr, PeerEntry>,
    /// Peers whose connections wait to be accepted.
    fresh: VecDeque<Arc<Peer>>,
    limit: usize,
    backlog: usize,
    queue: usize,
    /// Number of datagrams dropped because they were not received in time.
    dropped: u64,
}

#[derive(Debug)]
struct PeerEntry {
    peer: Arc<Peer>,
    heard: Instant,
}

impl Peers {
    pub(crate) fn new(limit: usize, backlog: usize, queue: usize) -> Self {
        Self {
            table: HashMap::new(),
            fresh: VecDeque::new(),
            limit: limit.max(1),
            backlog: backlog.max(1),
            queue,
            dropped: 0,
        }
    }

    /// Returns the number of datagrams dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Hands a datagram to the peer it came from. Returns `true` for a new peer, to be accepted; an
    /// unknown sender's datagram is dropped where `open` is false or too many wait already.
    pub(crate) fn deliver(
        &mut self,
        from: SocketAddr,
        datagram: Block,
        now: Instant,
        open: bool,
    ) -> bool {
        if let Some(known) = self.table.get_mut(&from) {
            known.heard = now;
            self.dropped += known.peer.push(datagram, self.queue);
            return false;
        }
        if !open || self.fresh.len() >= self.backlog {
            self.dropped += 1;
            return false;
        }
        if self.table.len() >= self.limit {
            self.let_the_quietest_go();
        }
        let peer = Peer::new(from);
        peer.push(datagram, self.queue);
        self.fresh.push_back(peer.clone());
        self.table.insert(from, PeerEntry { peer, heard: now });
        true
    }

    /// Takes the next peer whose connection waits to be accepted.
    pub(crate) fn accept(&mut self) -> Option<Arc<Peer>> {
        self.fresh.pop_front()
    }

    /// Forgets `peer`, unless another peer has its address by now.
    pub(crate) fn forget(&mut self, peer: &Arc<Peer>) {
        let known = self.table.get(&peer.address);
        if known.is_some_and(|known| Arc::ptr_eq(&known.peer, peer)) {
            self.table.remove(&peer.address);
        }
        self.fresh.retain(|fresh| !Arc::ptr_eq(fresh, peer));
        peer.end();
    }

    /// Removes the peers whose connections were not accepted.
    pub(crate) fn drop_unaccepted(&mut self) {
        for peer in std::mem::take(&mut self.fresh) {
            self.forget(&peer);
        }
    }

    /// Removes the peers that have sent nothing for the time `idle`.
    pub(crate) fn drop_idle(&mut self, now: Instant, idle: Duration) {
        let silent: Vec<Arc<Peer>> = self
            .table
            .values()
            .filter(|known| now.saturating_duration_since(known.heard) >= idle)
            .map(|known| known.peer.clone())
            .collect();
        for peer in silent {
            self.forget(&peer);
        }
    }

    /// Removes all peers, and ends their connections.
    pub(crate) fn clear(&mut self) {
        self.fresh.clear();
        for (_, known) in self.table.drain() {
            known.peer.end();
        }
    }

    fn let_the_quietest_go(&mut self) {
        let quietest = self.table.values().min_by_key(|known| known.heard);
        if let Some(peer) = quietest.map(|known| known.peer.clone()) {
            self.forget(&peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(port: u16) -> SocketAddr {
        ([127, 0, 0, 1], port).into()
    }

    fn datagram(text: &str) -> Block {
        Block::from_vec(text.as_bytes().to_vec())
    }

    fn taken(peer: &Peer) -> String {
        match peer.take(Deadline::after(Duration::ZERO)) {
            Taken::Datagram(block) => String::from_utf8(block.to_vec()).unwrap(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_oldest_datagram_makes_room_and_is_counted() {
        let mut peers = Peers::new(4, 4, 2 * (OVERHEAD + 1));
        let now = Instant::now();
        for text in ["a", "b", "c", "d"] {
            peers.deliver(from(1), datagram(text), now, true);
        }
        let peer = peers.accept().unwrap();
        assert_eq!((taken(&peer), taken(&peer)), ("c".into(), "d".into()));
        assert_eq!((peers.take_dropped(), peers.take_dropped()), (2, 0));
        assert_eq!(taken(&peer), "TimedOut");
    }

    #[test]
    fn a_datagram_larger_than_the_queue_is_kept_alone() {
        let mut peers = Peers::new(4, 4, 10);
        let now = Instant::now();
        peers.deliver(from(1), datagram("small"), now, true);
        peers.deliver(from(1), datagram("larger than ten"), now, true);
        assert_eq!(taken(&peers.accept().unwrap()), "larger than ten");
    }

    #[test]
    fn the_quietest_peer_is_let_go_and_its_end_reported() {
        let mut peers = Peers::new(2, 4, 1000);
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(peers.deliver(from(1), datagram("a"), at(0), true));
        assert!(peers.deliver(from(2), datagram("b"), at(1), true));
        assert!(!peers.deliver(from(1), datagram("c"), at(2), true));
        let (first, second) = (peers.accept().unwrap(), peers.accept().unwrap());
        assert!(peers.deliver(from(3), datagram("d"), at(3), true));
        assert_eq!(taken(&second), "Ended");
        assert_eq!(taken(&first), "a");
    }

    #[test]
    fn strangers_are_ignored_when_nobody_accepts_them() {
        let mut peers = Peers::new(9, 1, 1000);
        let now = Instant::now();
        assert!(!peers.deliver(from(1), datagram("a"), now, false));
        assert!(peers.deliver(from(1), datagram("a"), now, true));
        assert!(!peers.deliver(from(2), datagram("b"), now, true));
        assert_eq!(peers.accept().unwrap().address, from(1));
        assert!(peers.accept().is_none());
    }

    #[test]
    fn silence_is_forgotten_and_speech_is_not() {
        let mut peers = Peers::new(9, 9, 1000);
        let begin = Instant::now();
        let idle = Duration::from_secs(10);
        peers.deliver(from(1), datagram("a"), begin, true);
        peers.deliver(from(2), datagram("b"), begin, true);
        peers.deliver(from(2), datagram("c"), begin + idle / 2, true);
        peers.drop_idle(begin + idle, idle);
        assert_eq!(peers.accept().unwrap().address, from(2));
        peers.drop_idle(begin + 2 * idle, idle);
        assert!(peers.is_empty());
    }
}
