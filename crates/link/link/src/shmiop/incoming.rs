//! Memory lent by the peer: stretches of its pool or its common pool, until they are returned.

use super::copies::Copies;
use super::ends::Ends;
use super::layout::{COMMON_MARKS, MARKS, REFERENCES, SLOTS};
use super::written::{Written, copy_written};
use crate::Cause;
use punctual_cdr::Segment;
use punctual_sys::memory::{PeerMemory, Trusted};
use std::fmt;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Common pool of a peer, as mapped by this side.
#[derive(Debug)]
pub(super) struct PeerCommon {
    pub(super) memory: PeerMemory,
    /// End of the lifeline, by which the peer knows how long the memory may be used here.
    pub(super) _lifeline: OwnedFd,
}

/// Pool or common pool of the peer as seen by this side, and the parts of it held here.
pub(super) struct Incoming {
    ends: Arc<Ends>,
    /// Memory of the common pool; `None` for the pool, which is part of the peer's own memory.
    common: Option<PeerCommon>,
    /// Index of the first mark in this side's memory.
    marks: usize,
    /// Offset of the pool in the peer's memory; `len` is its size.
    begin: usize,
    len: usize,
    /// Permission to view bytes and numbers in place, if the options trust the peer.
    trusted: Option<Trusted>,
    /// Number of holders of each slot of the peer's pool.
    held: Vec<AtomicU32>,
    /// Number of bytes held, those of one slot once for each holder.
    octets: AtomicUsize,
    written: Written,
    copies: Arc<Copies>,
}

impl Incoming {
    /// Makes the view of the peer's pool: `len` bytes of its memory from `begin` on.
    pub(super) fn new(
        ends: Arc<Ends>,
        begin: usize,
        len: usize,
        trusted: Option<Trusted>,
        copies: Arc<Copies>,
    ) -> Arc<Self> {
        Self::of(ends, None, begin..begin + len, trusted, copies)
    }

    /// Makes the view of the peer's common pool.
    pub(super) fn common(
        ends: Arc<Ends>,
        common: PeerCommon,
        trusted: Option<Trusted>,
        copies: Arc<Copies>,
    ) -> Arc<Self> {
        let all = 0..common.memory.len();
        Self::of(ends, Some(common), all, trusted, copies)
    }

    fn of(
        ends: Arc<Ends>,
        common: Option<PeerCommon>,
        place: Range<usize>,
        trusted: Option<Trusted>,
        copies: Arc<Copies>,
    ) -> Arc<Self> {
        let (begin, len) = (place.start, place.len());
        Arc::new(Self {
            ends,
            marks: match common {
                None => MARKS,
                Some(_) => COMMON_MARKS,
            },
            common,
            begin,
            len,
            trusted,
            held: (0..SLOTS).map(|_| AtomicU32::new(0)).collect(),
            octets: AtomicUsize::new(0),
            written: Written::new(begin + len),
            copies,
        })
    }

    /// Takes a stretch that the peer lends.
    ///
    /// # Errors
    /// [`Cause::BadPeer`]: there is no such slot, or no such stretch of its pool; or more is held
    /// of it than an honest peer lends.
    pub(super) fn take(
        self: &Arc<Self>,
        slot: u32,
        offset: u32,
        length: u32,
    ) -> Result<Arc<dyn Segment>, Cause> {
        let (slot, offset, len) = (slot as usize, offset as usize, length as usize);
        let Some(held) = self.held.get(slot) else {
            return Err(Cause::BadPeer("it lent from a slot that does not exist"));
        };
        if len == 0 || offset + len > self.len {
            return Err(Cause::BadPeer("it lent memory outside of its pool"));
        }
        // Only this thread adds, so the value read is an upper bound. Returned memory was
        // subtracted before the peer could know; its Release is in `give_back`.
        let most = self.len * REFERENCES as usize;
        if held.load(Ordering::Acquire) >= REFERENCES
            || self.octets.load(Ordering::Acquire) + len > most
        {
            return Err(Cause::BadPeer("it lent more at once than its pool allows"));
        }
        held.fetch_add(1, Ordering::Relaxed);
        self.octets.fetch_add(len, Ordering::Relaxed);
        Ok(Arc::new(Borrowed {
            pool: self.clone(),
            slot,
            begin: self.begin + offset,
            len,
            copy: OnceLock::new(),
            given_back: AtomicBool::new(false),
        }))
    }

    /// Returns the memory in which the pool lies.
    fn memory(&self) -> &PeerMemory {
        let common = self.common.as_ref();
        common.map_or(&self.ends.theirs, |common| &common.memory)
    }

    fn give_back(&self, slot: usize, len: usize) {
        self.octets.fetch_sub(len, Ordering::Release);
        if let Some(held) = self.held.get(slot) {
            held.fetch_sub(1, Ordering::Release);
        }
        // Release pairs with the peer's acquiring load of the mark: reading is over by then.
        self.ends.mine[self.marks + slot].fetch_add(1, Ordering::Release);
    }
}

/// Range of bytes borrowed from a pool of the peer's.
struct Borrowed {
    pool: Arc<Incoming>,
    slot: usize,
    /// Offset of the borrowed bytes in the memory of their pool.
    begin: usize,
    len: usize,
    /// Private copy, made when the bytes first had to be stable.
    copy: OnceLock<Box<[u8]>>,
    given_back: AtomicBool,
}

impl Borrowed {
    fn give_back(&self) {
        // AcqRel: whichever thread returns it, the reads of the others are over.
        if !self.given_back.swap(true, Ordering::AcqRel) {
            self.pool.give_back(self.slot, self.len);
        }
    }

    /// Returns the range of the borrowed bytes in the memory of their pool.
    fn stretch(&self) -> Range<usize> {
        self.begin..self.begin + self.len
    }

    fn copied(&self) -> &[u8] {
        self.copy.get_or_init(|| {
            let (memory, stretch) = (self.pool.memory(), self.stretch());
            let octets = if self.pool.written.has_all(memory, &stretch) {
                let mut octets = Vec::with_capacity(self.len);
                // The stretch was checked when it was taken.
                let _ = memory.append_to(self.begin, self.len, &mut octets);
                octets
            } else {
                let mut octets = vec![0; self.len];
                copy_written(memory, &stretch, &mut octets);
                octets
            };
            self.pool.copies.out_of_pool.add(self.len);
            octets.into_boxed_slice()
        })
    }
}

impl Segment for Borrowed {
    fn len(&self) -> usize {
        self.len
    }

    fn as_slice(&self) -> &[u8] {
        let copy = self.copied();
        // One that may be viewed in place is returned when no view can exist any more.
        if self.pool.trusted.is_none() {
            self.give_back();
        }
        copy
    }

    fn view(&self) -> &[u8] {
        let Some(choice) = self.pool.trusted else {
            return self.as_slice();
        };
        if let Some(copy) = self.copy.get() {
            return copy;
        }
        // The stretch was checked when it was taken.
        let memory = self.pool.memory();
        let seen = memory.view(self.begin, self.len, choice);
        seen.unwrap_or_default()
    }

    fn copy_to(&self, to: &mut [u8]) {
        if let Some(copy) = self.copy.get() {
            to.copy_from_slice(copy);
            return;
        }
        let (memory, stretch) = (self.pool.memory(), self.stretch());
        if self.pool.written.has_all(memory, &stretch) {
            // As long as the stretch, which was checked when it was taken.
            let _ = memory.copy_to(self.begin, to);
        } else {
            to.fill(0);
            copy_written(memory, &stretch, to);
        }
        self.pool.copies.out_of_pool.add(to.len());
        // Acquire pairs with the exchange in `give_back`. Another thread may have made the private
        // copy meanwhile and returned the stretch, to be filled again: then that copy holds its
        // content.
        if self.given_back.load(Ordering::Acquire)
            && let Some(copy) = self.copy.get()
        {
            to.copy_from_slice(copy);
        }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Borrowed")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("octets", &self.len)
            .finish_non_exhaustive()
    }
}
