//! Peers known to an acceptor, and the datagrams that wait for each. Without a socket.
//!
//! Every quantity that a sender controls is bounded: the number of peers, of those that wait to be
//! accepted, and of the bytes that wait for one and for all. Where those for all are too many, the longest queue gives up its
//! oldest: a sender with many addresses takes no room from one whose datagrams are served in time.

use punctual_cdr::Block;
use punctual_exec::Deadline;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Memory overhead of a queued datagram, in bytes.
const OVERHEAD: usize = 64;

/// Upper bounds of what an acceptor's peers may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerLimits {
    /// Number of peers.
    pub(crate) peers: usize,
    /// Number of peers that wait to be accepted.
    pub(crate) backlog: usize,
    /// Bytes that wait for one peer's reader, with the overhead of each datagram.
    pub(crate) queue: usize,
    /// Bytes that wait for all readers.
    pub(crate) waiting: usize,
}

/// Bytes that wait for the readers of all peers. No other memory depends on the numbers, which change under the lock of a
/// peer's queue.
#[derive(Debug, Default)]
struct Waiting {
    of_acceptor: AtomicUsize,
    /// Bytes that wait for the readers of all acceptors of the link.
    of_link: Arc<AtomicU64>,
}

/// Queue of the datagrams to be received from one peer.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    queue: Mutex<Queue>,
    arrived: Condvar,
    /// Bytes in the queue, with overhead.
    octets: AtomicUsize,
    all: Arc<Waiting>,
}

#[derive(Debug, Default)]
struct Queue {
    datagrams: VecDeque<Block>,
    ended: bool,
}

/// Returns the memory that a queued datagram takes.
fn size(datagram: &Block) -> usize {
    datagram.len() + OVERHEAD
}

/// Outcome of waiting for a datagram from a peer.
#[derive(Debug)]
pub(crate) enum Taken {
    Datagram(Block),
    TimedOut,
    Ended,
}

impl Peer {
    fn new(address: SocketAddr, all: Arc<Waiting>) -> Arc<Self> {
        Arc::new(Self {
            address,
            queue: Mutex::default(),
            arrived: Condvar::new(),
            octets: AtomicUsize::new(0),
            all,
        })
    }

    /// Returns the bytes that wait, with overhead.
    fn octets(&self) -> usize {
        self.octets.load(Ordering::Relaxed)
    }

    /// Counts a datagram that has been queued. The caller has the queue's lock.
    fn count(&self, octets: usize) {
        self.octets.fetch_add(octets, Ordering::Relaxed);
        self.all.of_acceptor.fetch_add(octets, Ordering::Relaxed);
        self.all.of_link.fetch_add(octets as u64, Ordering::Relaxed);
    }

    /// Counts datagrams that have left the queue. The caller has the queue's lock, or the only reference.
    fn discount(&self, octets: usize) {
        self.octets.fetch_sub(octets, Ordering::Relaxed);
        self.all.of_acceptor.fetch_sub(octets, Ordering::Relaxed);
        self.all.of_link.fetch_sub(octets as u64, Ordering::Relaxed);
    }

    /// Takes the oldest datagram out of the queue, whose lock is held.
    fn pop(&self, queue: &mut Queue) -> Option<Block> {
        let datagram = queue.datagrams.pop_front()?;
        self.discount(size(&datagram));
        Some(datagram)
    }

    /// Drops the oldest datagram. Returns `false` if there is none.
    fn drop_oldest(&self) -> bool {
        let mut queue = self.lock();
        self.pop(&mut queue).is_some()
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
        self.count(size(&datagram));
        queue.datagrams.push_back(datagram);
        while self.octets() > limit && queue.datagrams.len() > 1 && self.pop(&mut queue).is_some() {
            dropped += 1;
        }
        drop(queue);
        self.arrived.notify_one();
        dropped
    }

    /// Takes the oldest datagram; waits for one until `deadline`.
    pub(crate) fn take(&self, deadline: Deadline) -> Taken {
        let mut queue = self.lock();
        loop {
            if let Some(datagram) = self.pop(&mut queue) {
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

    /// Ends the queue: drops waiting datagrams and wakes the waiting thread. Returns the number of dropped ones.
    pub(crate) fn end(&self) -> u64 {
        let mut queue = self.lock();
        queue.ended = true;
        let dropped = queue.datagrams.len() as u64;
        queue.datagrams.clear();
        self.discount(self.octets());
        drop(queue);
        self.arrived.notify_all();
        dropped
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.discount(self.octets());
    }
}

/// Table of all peers of one acceptor.
#[derive(Debug)]
pub(crate) struct Peers {
    table: HashMap<SocketAddr, PeerEntry>,
    /// Peers whose connections wait to be accepted.
    fresh: VecDeque<Arc<Peer>>,
    limits: PeerLimits,
    waiting: Arc<Waiting>,
    /// Number of datagrams dropped because they were not received in time.
    dropped: u64,
}

#[derive(Debug)]
struct PeerEntry {
    peer: Arc<Peer>,
    heard: Instant,
}

impl Peers {
    /// Makes an empty table. What waits is counted in `of_link` as well.
    pub(crate) fn new(limits: PeerLimits, of_link: Arc<AtomicU64>) -> Self {
        Self {
            table: HashMap::new(),
            fresh: VecDeque::new(),
            limits: PeerLimits {
                peers: limits.peers.max(1),
                backlog: limits.backlog.max(1),
                ..limits
            },
            waiting: Arc::new(Waiting {
                of_link,
                ..Waiting::default()
            }),
            dropped: 0,
        }
    }

    /// Returns the bytes that wait for all readers, with overhead.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.of_acceptor.load(Ordering::Relaxed)
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
        let newest = size(&datagram);
        if let Some(known) = self.table.get_mut(&from) {
            known.heard = now;
            self.dropped += known.peer.push(datagram, self.limits.queue);
            self.make_room(from, newest);
            return false;
        }
        if !open || self.fresh.len() >= self.limits.backlog {
            self.dropped += 1;
            return false;
        }
        if self.table.len() >= self.limits.peers {
            self.let_the_quietest_go();
        }
        let peer = Peer::new(from, self.waiting.clone());
        peer.push(datagram, self.limits.queue);
        self.fresh.push_back(peer.clone());
        self.table.insert(from, PeerEntry { peer, heard: now });
        self.make_room(from, newest);
        true
    }

    /// Drops the oldest datagrams of the longest queues while too many bytes wait; of queues of one length, those of the peer
    /// that has been silent longest. The datagram of `newest` bytes that has just arrived from `from` stays. Looks at
    /// each peer once for each datagram that is dropped.
    fn make_room(&mut self, from: SocketAddr, newest: usize) {
        while self.waiting() > self.limits.waiting {
            let droppable = |known: &PeerEntry| {
                let kept = if known.peer.address == from {
                    newest
                } else {
                    0
                };
                known.peer.octets().saturating_sub(kept)
            };
            let longest = self.table.values().max_by_key(|known| {
                let silent_longest = std::cmp::Reverse(known.heard);
                (droppable(known), silent_longest)
            });
            match longest {
                // A reader may have been faster, and has made room as well.
                Some(longest) if droppable(longest) > 0 => {
                    self.dropped += u64::from(longest.peer.drop_oldest());
                }
                _ => return,
            }
        }
    }

    /// Takes the next peer whose connection waits to be accepted.
    pub(crate) fn accept(&mut self) -> Option<Arc<Peer>> {
        self.fresh.pop_front()
    }

    /// Forgets `peer`, unless another peer has its address by now. What it has not received is dropped, and counted.
    pub(crate) fn forget(&mut self, peer: &Arc<Peer>) {
        let known = self.table.get(&peer.address);
        if known.is_some_and(|known| Arc::ptr_eq(&known.peer, peer)) {
            self.table.remove(&peer.address);
        }
        self.fresh.retain(|fresh| !Arc::ptr_eq(fresh, peer));
        self.dropped += peer.end();
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
            self.dropped += known.peer.end();
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

    fn peers(peers: usize, backlog: usize, queue: usize) -> Peers {
        let limits = PeerLimits {
            peers,
            backlog,
            queue,
            waiting: 100_000,
        };
        Peers::new(limits, Arc::default())
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
        let mut peers = peers(4, 4, 2 * (OVERHEAD + 1));
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
        let mut peers = peers(4, 4, 10);
        let now = Instant::now();
        peers.deliver(from(1), datagram("small"), now, true);
        peers.deliver(from(1), datagram("larger than ten"), now, true);
        assert_eq!(taken(&peers.accept().unwrap()), "larger than ten");
    }

    #[test]
    fn what_waits_for_all_is_bounded_and_the_longest_queue_makes_room() {
        let limits = PeerLimits {
            peers: 300,
            backlog: 300,
            queue: 4 * (OVERHEAD + 1000),
            waiting: 20 * (OVERHEAD + 1000),
        };
        let of_link = Arc::new(AtomicU64::new(0));
        let mut peers = Peers::new(limits, of_link.clone());
        let now = Instant::now();
        let long = "x".repeat(1000);
        // A short message waits already, and each of 256 forged senders fills its queue.
        peers.deliver(from(1), datagram("served in time"), now, true);
        let mut delivered = 1;
        for port in 2..258 {
            for _ in 0..4 {
                peers.deliver(from(port), datagram(&long), now, true);
                delivered += 1;
                assert!(peers.waiting() <= limits.waiting, "{}", peers.waiting());
            }
        }
        assert_eq!(of_link.load(Ordering::Relaxed), peers.waiting() as u64);
        assert_eq!(taken(&peers.accept().unwrap()), "served in time");
        let dropped = peers.take_dropped();
        assert_eq!(dropped, delivered - 1 - 19);
        // One that is longer than all may be is kept until the next arrives.
        peers.deliver(from(300), datagram(&"y".repeat(30_000)), now, true);
        assert_eq!(peers.waiting(), 30_000 + OVERHEAD);
        assert_eq!(peers.take_dropped(), 19);
        peers.deliver(from(2), datagram(&long), now, true);
        assert_eq!(peers.waiting(), 1000 + OVERHEAD);
        peers.clear();
        assert_eq!((peers.waiting(), of_link.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn the_quietest_peer_is_let_go_and_its_end_reported() {
        let mut peers = peers(2, 4, 1000);
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(peers.deliver(from(1), datagram("a"), at(0), true));
        assert!(peers.deliver(from(2), datagram("b"), at(1), true));
        assert!(!peers.deliver(from(1), datagram("c"), at(2), true));
        let (first, second) = (peers.accept().unwrap(), peers.accept().unwrap());
        assert!(peers.deliver(from(3), datagram("d"), at(3), true));
        assert_eq!(peers.take_dropped(), 1);
        assert_eq!(taken(&second), "Ended");
        assert_eq!(taken(&first), "a");
    }

    #[test]
    fn strangers_are_ignored_when_nobody_accepts_them() {
        let mut peers = peers(9, 1, 1000);
        let now = Instant::now();
        assert!(!peers.deliver(from(1), datagram("a"), now, false));
        assert!(peers.deliver(from(1), datagram("a"), now, true));
        assert!(!peers.deliver(from(2), datagram("b"), now, true));
        assert_eq!(peers.accept().unwrap().address, from(1));
        assert!(peers.accept().is_none());
    }

    #[test]
    fn silence_is_forgotten_and_speech_is_not() {
        let mut peers = peers(9, 9, 1000);
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
