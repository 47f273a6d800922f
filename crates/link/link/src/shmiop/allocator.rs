//! Allocator of a pool: first fit, and adjacent free regions are joined. Its tables are in private
//! memory: the free regions, and the state of the slots that hold the others.

use super::layout::{REFERENCES, SLOTS};
use crate::Cause;
use punctual_sys::memory::Region;
use std::sync::{Arc, Weak};

/// Granularity of a piece's size in bytes: pieces share no cache line.
pub(super) const GRAIN: usize = 64;

/// Marks of the peer, by which it returns pieces.
pub(super) trait Marks: Send + Sync {
    /// Returns how many times in total the peer has returned the slot's piece. Its reads of the
    /// piece before the last return are over.
    fn mark(&self, slot: usize) -> u32;
}

/// Allocator of a pool, of which it hands out pieces of type `P`; see the module.
pub(super) struct Allocator<P> {
    /// Free regions in the order of their addresses, no two of them adjacent.
    free: Vec<Region>,
    slots: Vec<Slot<P>>,
    /// Indices of the slots that are not in use.
    unused: Vec<usize>,
    /// Slots without a local holder that the peer has not returned.
    returning: Vec<usize>,
    /// Set once the peer has returned something it never got; its marks are ignored from then on.
    broken: bool,
    marks: Arc<dyn Marks>,
    /// Offset of the pool in the shared memory of the side that owns it.
    start: usize,
}

struct Slot<P> {
    /// Piece, while there is a local holder that may send it.
    piece: Weak<P>,
    /// Offset of the slot's memory in the pool, while the slot is in use.
    start: usize,
    len: usize,
    /// Number of times the piece was sent; `back` is the number of times it is known to have been
    /// returned. Both wrap.
    sent: u32,
    back: u32,
    /// Memory of the slot, once no local holder has the piece.
    region: Option<Region>,
}

/// Reference to a stretch of a piece, as sent to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) slot: u32,
    /// Offset of the lent bytes from the start of the pool.
    pub(super) offset: u32,
}

impl<P> Slot<P> {
    fn unused() -> Self {
        Self {
            piece: Weak::new(),
            start: 0,
            len: 0,
            sent: 0,
            back: 0,
            region: None,
        }
    }
}

impl<P> Allocator<P> {
    /// Makes an allocator of `memory`, all of it free.
    pub(super) fn new(memory: Region, marks: Arc<dyn Marks>) -> Self {
        Self {
            start: memory.start(),
            free: (!memory.is_empty()).then_some(memory).into_iter().collect(),
            slots: (0..SLOTS).map(|_| Slot::unused()).collect(),
            unused: (0..SLOTS).rev().collect(),
            returning: Vec::with_capacity(SLOTS),
            broken: false,
            marks,
        }
    }

    /// Takes a slot and a region of at least `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Option<(usize, Region)> {
        let wanted = len.max(1).checked_next_multiple_of(GRAIN)?;
        self.collect();
        let region = self.cut(wanted)?;
        let Some(slot) = self.unused.pop() else {
            self.put_back(region);
            return None;
        };
        if let Some(entry) = self.slots.get_mut(slot) {
            (entry.start, entry.len) = (region.start() - self.start, region.len());
        }
        Some((slot, region))
    }

    /// Takes back a slot and its region, which are free once the peer has returned them, too.
    pub(super) fn give_back(&mut self, slot: usize, region: Region) {
        if let Some(entry) = self.slots.get_mut(slot) {
            entry.piece = Weak::new();
            entry.region = Some(region);
        }
        self.returning.push(slot);
        self.collect();
    }

    /// Makes the piece known to the allocator, so that [`Allocator::find`] finds it.
    pub(super) fn publish(&mut self, slot: usize, piece: Weak<P>) {
        if let Some(entry) = self.slots.get_mut(slot) {
            entry.piece = piece;
        }
    }

    /// Reverts [`Allocator::publish`] if the peer holds no part of the piece; returns whether it
    /// did.
    pub(super) fn unpublish(&mut self, slot: usize) -> bool {
        self.update_returned(slot);
        match self.slots.get_mut(slot) {
            Some(entry) if entry.sent == entry.back => {
                entry.piece = Weak::new();
                true
            }
            _ => false,
        }
    }

    /// Returns the published piece that contains `len` bytes at `offset` of the pool, and the
    /// piece's offset.
    pub(super) fn find(&self, offset: usize, len: usize) -> Option<(Arc<P>, usize)> {
        let entry = self.slots.get(self.slot_at(offset, len)?)?;
        Some((entry.piece.upgrade()?, entry.start))
    }

    /// Records that bytes of a published piece are sent to the peer. Returns `None` if they are in
    /// no such piece, or the peer holds too many references to it already.
    ///
    /// # Errors
    /// The peer has returned something it never got.
    pub(super) fn refer(&mut self, offset: usize, len: usize) -> Result<Option<Reference>, Cause> {
        let Some(slot) = self.slot_at(offset, len) else {
            return Ok(None);
        };
        self.update_returned(slot);
        if self.broken {
            return Err(Cause::BadPeer("it returned memory that was not lent to it"));
        }
        Ok(self.send(slot, offset))
    }

    fn send(&mut self, slot: usize, offset: usize) -> Option<Reference> {
        let entry = self.slots.get_mut(slot)?;
        if entry.piece.strong_count() == 0 || entry.sent.wrapping_sub(entry.back) >= REFERENCES {
            return None;
        }
        entry.sent = entry.sent.wrapping_add(1);
        Some(Reference {
            slot: u32::try_from(slot).ok()?,
            offset: u32::try_from(offset).ok()?,
        })
    }

    /// Returns the sizes of the free regions, in order.
    #[cfg(test)]
    pub(super) fn free(&self) -> Vec<usize> {
        self.free.iter().map(Region::len).collect()
    }

    /// Frees the slots that the peer has returned.
    fn collect(&mut self) {
        let mut at = 0;
        while let Some(&slot) = self.returning.get(at) {
            self.update_returned(slot);
            match self.slots.get_mut(slot) {
                Some(entry) if entry.sent == entry.back => {
                    self.returning.swap_remove(at);
                    if let Some(region) = std::mem::take(&mut entry.region) {
                        entry.len = 0;
                        self.unused.push(slot);
                        self.put_back(region);
                    }
                }
                _ => at += 1,
            }
        }
    }

    /// Reads a slot's mark, and accepts it if it lies between the last value and the number sent.
    fn update_returned(&mut self, slot: usize) {
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        if entry.sent == entry.back || self.broken {
            return;
        }
        let mark = self.marks.mark(slot);
        if mark.wrapping_sub(entry.back) <= entry.sent.wrapping_sub(entry.back) {
            entry.back = mark;
        } else {
            self.broken = true;
        }
    }

    /// Returns the slot of the piece that contains `len` bytes at `offset`.
    fn slot_at(&self, offset: usize, len: usize) -> Option<usize> {
        let within = |slot: &Slot<P>| {
            slot.start <= offset && slot.len >= len && offset - slot.start <= slot.len - len
        };
        self.slots
            .iter()
            .position(|slot| slot.len > 0 && within(slot))
    }

    /// Takes `len` bytes of the first free region that is large enough.
    fn cut(&mut self, len: usize) -> Option<Region> {
        let at = self.free.iter().position(|free| free.len() >= len)?;
        let (region, rest) = self.free.remove(at).split(len);
        if !rest.is_empty() {
            self.free.insert(at, rest);
        }
        Some(region)
    }

    /// Inserts a region into the free list in the order of addresses, joined with adjacent regions.
    fn put_back(&mut self, region: Region) {
        let at = self
            .free
            .partition_point(|free| free.start() < region.start());
        let region = self.join_next(at, region);
        match at.checked_sub(1) {
            None => self.free.insert(at, region),
            Some(before) => match self.free.remove(before).join(region) {
                Ok(joined) => self.free.insert(before, joined),
                Err((one, other)) => {
                    self.free.insert(before, one);
                    self.free.insert(at, other);
                }
            },
        }
    }

    fn join_next(&mut self, at: usize, region: Region) -> Region {
        if at >= self.free.len() {
            return region;
        }
        match region.join(self.free.remove(at)) {
            Ok(joined) => joined,
            Err((region, next)) => {
                self.free.insert(at, next);
                region
            }
        }
    }
}
