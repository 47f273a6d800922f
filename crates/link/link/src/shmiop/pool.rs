//! Pool that one side lends from: pieces of its own memory, each out until it has no holder any
//! more.
//!
//! A piece ([`Piece`]) is held by the code that fills or sends it on this side, and may be out at
//! the peer besides, several times. The peer returns it by incrementing the piece's *mark* in its
//! own memory; the pool counts in private how often it sent it, and the marks seen before. The
//! piece is free again when it has no local holder and everything sent was returned. So a peer can
//! keep pieces for ever, at its own cost: this connection then lends no more and copies instead. It
//! can free a piece early only by its own mark, and then only the peer itself reads the new
//! content; a mark that counts more than was sent breaks the protocol.

use super::allocator::{Allocator, Marks, Reference};
use super::copies::Copies;
use super::ends::Ends;
use super::layout::MARKS;
use crate::Cause;
use punctual_exec::lane_lock::LaneGuard;
use punctual_exec::{LaneLock, LockProtocol};
use punctual_sys::memory::Region;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Pool of shared memory from which one side of a connection lends buffers.
pub(super) struct Pool {
    /// Range of the pool's addresses in this process.
    addresses: Range<usize>,
    /// Allocator. Its lock can be lost only if a thread ended while it held it, which leaves the
    /// pool unused.
    allocator: LaneLock<Allocator<Piece>>,
    copies: Arc<Copies>,
}

/// Allocated part of this side's pool of shared memory.
pub(super) struct Piece {
    region: Option<Region>,
    slot: usize,
    pool: Arc<Pool>,
}

impl Marks for Ends {
    fn mark(&self, slot: usize) -> u32 {
        self.theirs.load_acquire(MARKS + slot)
    }
}

impl Pool {
    /// Makes a pool of `memory` whose allocator has the given kind of lock.
    pub(super) fn new(
        memory: Region,
        marks: Arc<dyn Marks>,
        copies: Arc<Copies>,
        lock: LockProtocol,
    ) -> Arc<Self> {
        let begin = memory.as_slice().as_ptr().addr();
        Arc::new(Self {
            addresses: begin..begin + memory.len(),
            allocator: LaneLock::new(lock, Allocator::new(memory, marks)),
            copies,
        })
    }

    /// Returns whether the pool has no memory to lend.
    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Returns the counters of copied bytes.
    pub(super) fn copies(&self) -> &Copies {
        &self.copies
    }

    /// Takes an unused piece of at least `len` bytes; returns `None` where none is free. Its
    /// content is unspecified. Blocks only while another thread has the allocator's lock.
    pub(super) fn take(self: &Arc<Self>, len: usize) -> Option<Piece> {
        let (slot, region) = self.allocator()?.take(len)?;
        Some(Piece {
            region: Some(region),
            slot,
            pool: self.clone(),
        })
    }

    /// Returns whether the given bytes lie in the pool of shared memory.
    pub(super) fn holds(&self, octets: &[u8]) -> bool {
        let begin = octets.as_ptr().addr();
        self.addresses.contains(&begin) && octets.len() <= self.addresses.end - begin
    }

    /// Makes the piece known to the pool, so that it can be found by its addresses.
    pub(super) fn publish(&self, piece: &Arc<Piece>) {
        if let Some(mut allocator) = self.allocator() {
            allocator.publish(piece.slot, Arc::downgrade(piece));
        }
    }

    /// Reverts [`Pool::publish`] if this is the only holder and the peer holds no part of the
    /// piece; returns whether it did.
    pub(super) fn unpublish(&self, piece: &Arc<Piece>) -> bool {
        // New holders come by finding the piece, which the allocator's lock prevents meanwhile.
        self.allocator().is_some_and(|mut allocator| {
            Arc::strong_count(piece) == 1 && allocator.unpublish(piece.slot)
        })
    }

    /// Returns the published piece that contains bytes of this pool, and their offset in it.
    pub(super) fn find(&self, octets: &[u8]) -> Option<(Arc<Piece>, usize)> {
        let offset = self.offset(octets)?;
        let (piece, start) = self.allocator()?.find(offset, octets.len())?;
        Some((piece, offset - start))
    }

    /// Records that octets of this shared pool are sent to the peer by reference. Returns `None` if
    /// they are not in a part of the pool that the peer may read, or the peer holds too many
    /// references to that part already.
    ///
    /// # Errors
    /// The peer broke the protocol: it returned a reference that it had never been sent.
    pub(super) fn refer(&self, octets: &[u8]) -> Result<Option<Reference>, Cause> {
        let Some(offset) = self.offset(octets) else {
            return Ok(None);
        };
        let allocator = self.allocator();
        allocator.map_or(Ok(None), |mut allocator| {
            allocator.refer(offset, octets.len())
        })
    }

    /// Returns the offset in the pool of bytes that lie in it.
    pub(super) fn offset(&self, octets: &[u8]) -> Option<usize> {
        let holds = self.holds(octets) && !octets.is_empty();
        holds.then(|| octets.as_ptr().addr() - self.addresses.start)
    }

    /// Returns the number of bytes of the pool.
    pub(super) fn len(&self) -> usize {
        self.addresses.len()
    }

    fn allocator(&self) -> Option<LaneGuard<'_, Allocator<Piece>>> {
        self.allocator.lock().ok()
    }
}

impl Piece {
    pub(super) fn as_slice(&self) -> &[u8] {
        self.region.as_ref().map_or(&[], Region::as_slice)
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        self.region.as_mut().map_or(&mut [], Region::as_mut_slice)
    }

    /// Returns the number of bytes that the piece takes of its pool.
    pub(super) fn len(&self) -> usize {
        self.region.as_ref().map_or(0, Region::len)
    }

    /// Returns the index of the piece's slot in its pool.
    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    /// Returns the pool from which the piece of memory was allocated.
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let (Some(region), Some(mut allocator)) = (self.region.take(), self.pool.allocator()) {
            allocator.give_back(self.slot, region);
        }
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("octets", &self.addresses.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocator::GRAIN;
    use super::super::copies::CopyCounters;
    use super::super::layout::{REFERENCES, SLOTS};
    use super::super::lending;
    use super::*;
    use crate::LoanMemory;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    struct Peer(AtomicU32);

    impl Marks for Peer {
        /// Returns one mark for all slots, as the tests use only one slot.
        fn mark(&self, _: usize) -> u32 {
            self.0.load(Ordering::Acquire)
        }
    }

    impl Peer {
        fn gives_back(&self, times: u32) {
            self.0.fetch_add(times, Ordering::Release);
        }
    }

    fn pool(len: usize) -> (Arc<Pool>, Arc<Peer>) {
        let (_file, memory) = punctual_sys::memory::create("punctual-test", len).unwrap();
        let peer = Arc::<Peer>::default();
        let copies = Arc::<CopyCounters>::default().open();
        let pool = Pool::new(memory, peer.clone(), copies, LockProtocol::Plain);
        (pool, peer)
    }

    fn free(pool: &Pool) -> Vec<usize> {
        pool.allocator().unwrap().free()
    }

    #[test]
    fn pieces_given_back_in_any_order_join_again() {
        let (pool, _peer) = pool(4096);
        let mut pieces: Vec<_> = (0..4).map(|_| pool.take(1000).unwrap()).collect();
        assert!(pool.take(1000).is_none());
        for at in [2, 0, 1, 0] {
            drop(pieces.remove(at));
        }
        assert_eq!(free(&pool), [4096]);
        assert!(pool.take(usize::MAX).is_none());
    }

    #[test]
    fn slots_run_out_before_memory_and_come_back() {
        let (pool, _peer) = pool(SLOTS * GRAIN * 2);
        let pieces: Vec<_> = (0..SLOTS).map(|_| pool.take(1).unwrap()).collect();
        assert!(pool.take(1).is_none());
        drop(pieces);
        assert!(pool.take(1).is_some());
        assert_eq!(free(&pool), [SLOTS * GRAIN * 2]);
    }

    #[test]
    fn a_piece_that_was_sent_is_free_when_nobody_here_holds_it_and_the_peer_gave_it_back() {
        let (pool, peer) = pool(4096);
        let segment = lending::lend(&pool, &[7; 4096]).unwrap();
        for _ in 0..2 {
            assert!(pool.refer(segment.as_slice()).unwrap().is_some());
        }
        drop(segment);
        assert!(pool.take(1).is_none());
        peer.gives_back(1);
        assert!(pool.take(1).is_none());
        peer.gives_back(1);
        assert_eq!(pool.take(4096).unwrap().as_slice(), [7; 4096]);
    }

    #[test]
    fn a_piece_goes_out_a_bounded_number_of_times() {
        let (pool, peer) = pool(4096);
        let segment = lending::lend(&pool, &[1; 100]).unwrap();
        for _ in 0..REFERENCES {
            assert!(pool.refer(segment.as_slice()).unwrap().is_some());
        }
        assert_eq!(pool.refer(segment.as_slice()).unwrap(), None);
        peer.gives_back(1);
        let tail = &segment.as_slice()[30..];
        let expected = Reference {
            slot: 0,
            offset: 30,
        };
        assert_eq!(pool.refer(tail).unwrap(), Some(expected));
    }

    #[test]
    fn a_peer_that_gives_back_what_it_never_got_is_found_out() {
        let (pool, peer) = pool(4096);
        let segment = lending::lend(&pool, &[1; 100]).unwrap();
        assert!(pool.refer(segment.as_slice()).unwrap().is_some());
        peer.gives_back(2);
        let refused = pool.refer(segment.as_slice()).unwrap_err();
        assert!(matches!(refused, Cause::BadPeer(_)));
        drop(segment);
        // Memory that the peer may still read is not reused.
        assert_eq!(free(&pool), [4096 - 128]);
    }

    #[test]
    fn octets_of_the_pool_that_are_in_no_piece_are_not_referred_to() {
        let (pool, _peer) = pool(4096);
        let segment = lending::lend(&pool, &[1; 64]).unwrap();
        let piece = pool.take(64).unwrap();
        assert_eq!(pool.refer(piece.as_slice()).unwrap(), None);
        assert_eq!(pool.refer(b"elsewhere").unwrap(), None);
        assert!(pool.find(b"elsewhere").is_none());
        assert_eq!(segment.len(), 64);
    }

    #[test]
    fn a_loan_is_lent_where_it_lies() {
        let (pool, _peer) = pool(4096);
        let mut loan = lending::PoolLoan::new(&pool, 100).unwrap();
        loan.as_mut_slice().fill(3);
        let segment = lending::lend(&pool, &loan.as_slice()[10..]).unwrap();
        let place = segment.as_slice().as_ptr();
        assert_eq!(place, loan.as_slice()[10..].as_ptr());
        drop(loan);
        assert_eq!(segment.as_slice(), [3; 90]);
        assert_eq!(free(&pool), [4096 - 128]);
    }

    #[test]
    fn a_loan_changed_while_others_look_at_it_moves_and_leaves_them_what_they_saw() {
        let (pool, peer) = pool(4096);
        let mut loan = lending::PoolLoan::new(&pool, 100).unwrap();
        loan.as_mut_slice().fill(3);
        let first = loan.as_slice().as_ptr();
        let segment = lending::lend(&pool, loan.as_slice()).unwrap();
        loan.as_mut_slice()[0] = 4;
        assert_eq!(segment.as_slice(), [3; 100]);
        assert_eq!(loan.as_slice()[..2], [4, 3]);
        // Held by the peer alone, it moves as well; after that it stays.
        drop(segment);
        let sent = loan.as_slice().as_ptr();
        assert_ne!(first, sent);
        assert!(pool.refer(loan.as_slice()).unwrap().is_some());
        loan.as_mut_slice()[0] = 5;
        let moved = loan.as_slice().as_ptr();
        assert_ne!(sent, moved);
        loan.as_mut_slice()[0] = 6;
        assert_eq!(loan.as_slice().as_ptr(), moved);
        peer.gives_back(1);
        drop(loan);
        assert_eq!(free(&pool), [4096]);
    }

    #[test]
    fn a_loan_that_must_move_where_nothing_is_free_moves_to_the_heap() {
        let (pool, _peer) = pool(4096);
        let mut loan = lending::PoolLoan::new(&pool, 4096).unwrap();
        loan.as_mut_slice().fill(3);
        let segment = lending::lend(&pool, loan.as_slice()).unwrap();
        loan.as_mut_slice()[4095] = 4;
        assert_eq!((loan.as_slice()[0], loan.as_slice()[4095]), (3, 4));
        assert!(!pool.holds(loan.as_slice()));
        assert_eq!(segment.as_slice(), [3; 4096]);
    }
}
