//! Common pool: memory of the link that all of its connections lend from, so that bytes which go to
//! several peers are copied there once.
//!
//! It belongs to the link, and every peer whose connection has the option maps it: each of them can
//! read what is lent to the others. A piece is held by the code that sends it, as one of a
//! connection's own pool is, and by each connection at whose peer it is out ([`Holder`]). It is free
//! again once none of them holds it. Where no piece is free, or a peer holds its share already, a
//! connection lends from its own pool.
//!
//! Holders are asked for what their peers have returned when they send, and, some at a time, when
//! nothing is free. One whose connection is closed stays until its peer has returned everything or
//! is gone: an honest peer may still use what it has received. While there are such, one holder is
//! asked for each run that is copied, and all for each new connection.

use super::allocator::Marks;
use super::copies::CopyCounters;
use super::holder::{Holder, SHARE};
use super::lending;
use super::pool::Pool;
use crate::Cause;
use punctual_cdr::Segment;
use punctual_exec::{LaneLock, LockProtocol};
use punctual_sys::lifeline::Lifeline;
use punctual_sys::memory;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Upper bound of the holders that are asked at once when nothing is free.
const ASKED_AT_ONCE: usize = 16;
/// Number of closed connections with pieces out at which new connections do without the pool: the
/// memory of each stays until its peer has returned them or is gone.
const MOST_LEFT: usize = 64;

/// State that all connections of a link share.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    pub(super) counters: Arc<CopyCounters>,
    /// Common pool, while a connection uses it.
    common: Mutex<Weak<CommonPool>>,
}

/// Common pool of a link, and its holders.
pub(super) struct CommonPool {
    file: OwnedFd,
    size: u32,
    pool: Arc<Pool>,
    holders: LaneLock<Holders>,
    /// Number of holders whose connections are closed. It changes while the lock is held, and is
    /// read without: relaxed, as a value of a moment ago does.
    left: AtomicUsize,
}

#[derive(Default)]
struct Holders {
    all: Vec<Arc<Holder>>,
    /// Index of the holder that is asked next.
    next: usize,
}

/// Common pool as one peer gets it: the pool, and the lifeline of which the peer holds an end.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) common: Arc<CommonPool>,
    lifeline: Lifeline,
    held: OwnedFd,
}

/// One connection's access to the common pool.
#[derive(Debug)]
pub(super) struct CommonAccess {
    common: Arc<CommonPool>,
    pub(super) holder: Arc<Holder>,
}

/// Marks of a pool whose slots are never out at one peer alone.
struct NoMarks;

impl Marks for NoMarks {
    fn mark(&self, _: usize) -> u32 {
        0
    }
}

impl LinkState {
    /// Returns the common pool for a new connection that wants one of `size` bytes; a pool that is
    /// in use keeps its size. `None` if `size` is 0, or too many closed connections hold pieces.
    ///
    /// # Errors
    /// [`Cause::Os`]: there is no memory.
    pub(super) fn common_pool(&self, size: u32) -> Result<Option<Arc<CommonPool>>, Cause> {
        if size == 0 {
            return Ok(None);
        }
        let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = common.upgrade() {
            return Ok((pool.left() < MOST_LEFT).then_some(pool));
        }
        let pool = Arc::new(CommonPool::new(size, &self.counters)?);
        *common = Arc::downgrade(&pool);
        Ok(Some(pool))
    }
}

impl CommonPool {
    /// Makes a common pool of `size` bytes.
    pub(super) fn new(size: u32, counters: &Arc<CopyCounters>) -> Result<Self, Cause> {
        let made = memory::create("punctual-shmiop-common", size as usize);
        let (file, memory) = made.map_err(Cause::Os)?;
        // Threads of different priorities share it.
        let lock = LockProtocol::InheritPriority;
        Ok(Self {
            file,
            size,
            pool: Pool::new(memory, Arc::new(NoMarks), counters.open(), lock),
            holders: LaneLock::new(lock, Holders::default()),
            left: AtomicUsize::new(0),
        })
    }

    /// Returns the number of bytes of the pool.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// Copies bytes into a new piece, for any number of connections; `None` if none is free, or the
    /// bytes are more than a peer's share. Blocks only while another thread has the lock, with
    /// priority inheritance.
    pub(super) fn put(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        if octets.len() > self.pool.len() / SHARE {
            return None;
        }
        if self.has_left() {
            self.collect(1);
        }
        let put = || lending::copy_into(&self.pool, octets);
        put().or_else(|| self.collect(ASKED_AT_ONCE).then(put).flatten())
    }

    /// Asks some holders what their peers have returned; returns whether that freed anything. Drops
    /// the holders that are at their end.
    fn collect(&self, most: usize) -> bool {
        let Ok(mut holders) = self.holders.lock() else {
            return false;
        };
        let mut freed = false;
        for _ in 0..most.min(holders.all.len()) {
            let at = holders.next % holders.all.len();
            let Some(holder) = holders.all.get(at) else {
                break;
            };
            freed |= holder.collect();
            if holder.is_at_its_end() {
                holders.all.swap_remove(at);
                self.left.fetch_sub(1, Ordering::Relaxed);
                freed = true;
                if holders.all.is_empty() {
                    break;
                }
            } else {
                holders.next = at + 1;
            }
        }
        freed
    }

    /// Returns whether there are closed connections whose peers may hold pieces.
    fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Returns the number of closed connections whose peers hold pieces.
    fn left(&self) -> usize {
        if self.has_left() {
            self.collect(usize::MAX);
        }
        self.left.load(Ordering::Relaxed)
    }
}

impl Offer {
    /// Makes the offer of `common` to one peer.
    ///
    /// # Errors
    /// [`Cause::Os`]: this process may not open more descriptors.
    pub(super) fn new(common: Arc<CommonPool>) -> Result<Self, Cause> {
        let (lifeline, held) = Lifeline::new().map_err(Cause::Os)?;
        Ok(Self {
            common,
            lifeline,
            held,
        })
    }

    /// Returns the descriptors that the peer gets: the memory, and its end of the lifeline.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.common.file.as_fd(), self.held.as_fd()]
    }

    /// Makes the connection's access, once the peer has its descriptors; `marks` are those by which
    /// the peer returns pieces.
    pub(super) fn accepted(self, marks: Arc<dyn Marks>) -> CommonAccess {
        let pool = self.common.pool.clone();
        let holder = Arc::new(Holder::new(pool, marks, self.lifeline));
        if let Ok(mut holders) = self.common.holders.lock() {
            holders.all.push(holder.clone());
        }
        CommonAccess {
            common: self.common,
            holder,
        }
    }
}

impl CommonAccess {
    /// Returns the link's pool.
    pub(super) fn common(&self) -> &CommonPool {
        &self.common
    }
}

impl Drop for CommonAccess {
    fn drop(&mut self) {
        let Ok(mut holders) = self.common.holders.lock() else {
            return;
        };
        // Closed under the lock, so that it is counted before another thread finds it at its end.
        self.holder.close();
        self.holder.collect();
        // It stays while its peer holds pieces.
        if self.holder.is_at_its_end() {
            holders.all.retain(|one| !Arc::ptr_eq(one, &self.holder));
        } else {
            self.common.left.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for CommonPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommonPool")
            .field("octets", &self.size)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::allocator::Reference;
    use super::super::layout::REFERENCES;
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const SIZE: u32 = 16 * 1024;
    /// Largest part of the pool that is out at one peer.
    const SHARE: usize = SIZE as usize / super::SHARE;

    /// Peer with one mark for all slots, and its end of the lifeline.
    struct Peer {
        marks: Arc<AtomicMarks>,
        lifeline: Option<OwnedFd>,
    }

    #[derive(Default)]
    struct AtomicMarks(AtomicU32);

    impl Marks for AtomicMarks {
        fn mark(&self, _: usize) -> u32 {
            self.0.load(Ordering::Acquire)
        }
    }

    impl Peer {
        fn gives_back(&self, times: u32) {
            self.marks.0.fetch_add(times, Ordering::Release);
        }
    }

    fn common() -> (LinkState, Arc<CommonPool>) {
        let state = LinkState::default();
        let common = state.common_pool(SIZE).unwrap().unwrap();
        (state, common)
    }

    fn connect(common: &Arc<CommonPool>) -> (CommonAccess, Peer) {
        let offer = Offer::new(common.clone()).unwrap();
        let peer = Peer {
            marks: Arc::default(),
            lifeline: Some(offer.held.try_clone().unwrap()),
        };
        (offer.accepted(peer.marks.clone()), peer)
    }

    fn refer(access: &CommonAccess, octets: &[u8]) -> Option<Reference> {
        access.holder.refer(octets).unwrap()
    }

    /// Returns whether the whole pool is free, as is seen by those who want something.
    fn is_all_free(common: &CommonPool) -> bool {
        let put = || (0..super::SHARE).map_while(|_| common.put(&[0; SHARE]));
        // The first round may only find out, and lie around what was not free at its beginning.
        (0..2).any(|_| put().collect::<Vec<_>>().len() == super::SHARE)
    }

    fn holder_count(common: &CommonPool) -> usize {
        common.holders.lock().unwrap().all.len()
    }

    #[test]
    fn octets_put_once_are_lent_by_all_connections_and_free_once_all_peers_gave_them_back() {
        let (state, common) = common();
        let connections = [(); 3].map(|()| connect(&common));
        let copy = common.put(&[7; 1000]).unwrap();
        for (access, _) in &connections {
            let lent = access.holder.lend(copy.as_slice()).unwrap();
            assert_eq!(lent.as_slice().as_ptr(), copy.as_slice().as_ptr());
            assert!(refer(access, lent.as_slice()).is_some());
        }
        assert_eq!(state.counters.total().into_pool, 1000);
        drop(copy);
        for (_, peer) in &connections {
            assert!(!is_all_free(&common));
            peer.gives_back(1);
        }
        assert!(is_all_free(&common));
    }

    #[test]
    fn a_part_of_a_piece_is_referred_to_by_its_place_in_the_pool() {
        let (_state, common) = common();
        let (access, _peer) = connect(&common);
        let copies = [1, 2].map(|fill| common.put(&[fill; 128]).unwrap());
        let part = &copies[1].as_slice()[30..];
        assert_eq!(access.holder.lend(part).unwrap().as_slice(), [2; 98]);
        let expected = Reference {
            slot: 1,
            offset: 128 + 30,
        };
        assert_eq!(refer(&access, part), Some(expected));
        assert!(access.holder.lend(&[1; 128]).is_none(), "it lies elsewhere");
        assert_eq!(refer(&access, &[1; 128]), None);
    }

    #[test]
    fn a_peer_that_keeps_pieces_gets_no_more_than_its_share_and_others_go_on() {
        let (_state, common) = common();
        let [(keeps, peer), (other, _)] = [(); 2].map(|()| connect(&common));
        let copies = [(); 3].map(|()| common.put(&[1; SHARE / 2]).unwrap());
        for copy in &copies[..2] {
            assert!(refer(&keeps, copy.as_slice()).is_some());
        }
        let third = copies[2].as_slice();
        assert!(keeps.holder.lend(third).is_none());
        assert_eq!(refer(&keeps, third), None);
        assert!(other.holder.lend(third).is_some());
        assert!(refer(&other, third).is_some());
        // The marks of all slots are one.
        peer.gives_back(1);
        assert!(keeps.holder.lend(third).is_some());
    }

    #[test]
    fn a_piece_is_out_at_a_peer_a_bounded_number_of_times() {
        let (_state, common) = common();
        let (access, peer) = connect(&common);
        let copy = common.put(&[1; 100]).unwrap();
        for _ in 0..REFERENCES {
            assert!(refer(&access, copy.as_slice()).is_some());
        }
        assert_eq!(refer(&access, copy.as_slice()), None);
        assert!(access.holder.lend(copy.as_slice()).is_none());
        peer.gives_back(1);
        assert!(refer(&access, copy.as_slice()).is_some());
    }

    #[test]
    fn a_peer_that_gives_back_what_it_never_got_is_found_out_and_frees_nothing() {
        let (_state, common) = common();
        let (access, mut peer) = connect(&common);
        let copy = common.put(&[1; 100]).unwrap();
        assert!(refer(&access, copy.as_slice()).is_some());
        peer.gives_back(2);
        let refused = access.holder.refer(copy.as_slice()).unwrap_err();
        assert!(matches!(refused, Cause::BadPeer(_)));
        drop((copy, access));
        assert!(!is_all_free(&common));
        peer.lifeline = None;
        assert!(is_all_free(&common));
    }

    #[test]
    fn what_is_out_when_a_connection_ends_stays_until_it_is_given_back_or_the_peer_is_gone() {
        let (_state, common) = common();
        let [(one, one_peer), (other, mut other_peer)] = [(); 2].map(|()| connect(&common));
        let copy = common.put(&[1; 100]).unwrap();
        for access in [&one, &other] {
            assert!(refer(access, copy.as_slice()).is_some());
        }
        drop((copy, one, other));
        assert_eq!(holder_count(&common), 2);
        one_peer.gives_back(1);
        assert!(!is_all_free(&common));
        assert_eq!(holder_count(&common), 1);
        other_peer.lifeline = None;
        assert!(is_all_free(&common));
        assert_eq!(holder_count(&common), 0);
    }

    #[test]
    fn what_a_closed_connection_leaves_ends_with_its_peer_also_where_the_pool_has_room() {
        let (_state, common) = common();
        let (access, mut peer) = connect(&common);
        let copy = common.put(&[1; 100]).unwrap();
        assert!(refer(&access, copy.as_slice()).is_some());
        drop(access);
        assert!(common.put(&[1; 100]).is_some());
        assert_eq!(holder_count(&common), 1);
        peer.lifeline = None;
        assert!(common.put(&[1; 100]).is_some());
        assert_eq!((holder_count(&common), common.has_left()), (0, false));
    }

    #[test]
    fn a_connection_that_ends_with_nothing_out_leaves_nothing() {
        let (_state, common) = common();
        let (access, _peer) = connect(&common);
        drop(access);
        assert_eq!(holder_count(&common), 0);
    }

    #[test]
    fn nothing_is_put_into_a_full_pool_until_a_peer_gave_something_back() {
        let (_state, common) = common();
        let connections = [(); 4].map(|()| connect(&common));
        for (access, _) in &connections {
            let copy = common.put(&[1; SHARE]).unwrap();
            assert!(refer(access, copy.as_slice()).is_some());
        }
        assert!(common.put(&[1]).is_none());
        connections[2].1.gives_back(1);
        assert!(common.put(&[1; SHARE]).is_some());
    }

    #[test]
    fn more_than_a_peers_share_is_not_copied_to_the_pool() {
        let (state, common) = common();
        assert!(common.put(&[1; SHARE + 1]).is_none());
        assert_eq!(state.counters.total().into_pool, 0);
    }

    #[test]
    fn many_peers_are_asked_in_turn_when_nothing_is_free() {
        let (_state, common) = common();
        let connections: Vec<_> = (0..5 * ASKED_AT_ONCE).map(|_| connect(&common)).collect();
        let copy = common.put(&[1; SHARE]).unwrap();
        for (access, peer) in &connections {
            assert!(refer(access, copy.as_slice()).is_some());
            peer.gives_back(1);
        }
        drop(copy);
        assert!((0..5).any(|_| is_all_free(&common)));
    }

    #[test]
    fn a_pool_is_made_anew_once_no_connection_uses_it() {
        let (state, common) = common();
        let again = state.common_pool(4096).unwrap().unwrap();
        assert!(Arc::ptr_eq(&common, &again), "it keeps its size");
        assert!(state.common_pool(0).unwrap().is_none());
        drop((common, again));
        assert_eq!(state.common_pool(4096).unwrap().unwrap().size(), 4096);
    }

    #[test]
    fn connections_do_without_where_too_many_closed_ones_hold_pieces() {
        let (state, common) = common();
        let copy = common.put(&[1; 100]).unwrap();
        let peers: Vec<_> = (0..MOST_LEFT)
            .map(|_| {
                let (access, peer) = connect(&common);
                assert!(refer(&access, copy.as_slice()).is_some());
                peer
            })
            .collect();
        assert!(state.common_pool(SIZE).unwrap().is_none());
        drop(peers);
        assert!(state.common_pool(SIZE).unwrap().is_some());
    }
}
