//! Hash of ids that is read without a lock, while one thread at a time changes it.
//!
//! One chain goes through all slots that have an id, in the order of their hashes with the bits
//! reversed (a split-ordered list: Shalev and Shavit, *Split-Ordered Lists: Lock-Free Extensible
//! Hash Tables*, JACM 53, 2006). Buckets are entry points ('entrances') into the chain. Doubling
//! their number only adds entrances: nothing is moved or copied, and a reader that knows only the
//! old number enters the chain earlier, and finds its id beyond the new entrance. Links are stored
//! in the slots; a bucket has four bytes.
//!
//! A slot that a reader visits may be removed and reused meanwhile, and lead it into another chain
//! or that of free slots. What it finds is right nonetheless, as the slot is pinned and its id
//! compared. A reader that finds nothing repeats the search if a slot was removed meanwhile
//! (`removals`): the counter is raised before the slot gets its next link, so a reader that
//! followed that link sees it. The order makes each walk end.

use super::super::entry::Entry;
use super::super::link::Link;
use super::super::slots::Slots;
use super::super::sync::{AtomicU32, FIRST, OnceLock, Ordering, RandomState};

use std::hash::BuildHasher;

/// Number of segments of buckets, each as large as all before: up to 2^28 for 64 in the first.
const SEGMENTS: usize = 23;

/// Average number of objects per bucket at which the number of buckets is doubled.
const LOAD: u32 = 1;

pub(crate) struct HashIndex {
    /// Hasher with a secret seed: keys may come from peers, which could otherwise cause collisions.
    hasher: RandomState,
    /// Links from the buckets into the chain; 0 for a bucket that is not an entrance yet.
    buckets: [OnceLock<Box<[AtomicU32]>>; SEGMENTS],
    /// Number of buckets in use, a power of two.
    size: AtomicU32,
    /// Number of slots in the chain of the hash table.
    entries: AtomicU32,
    /// Numbers of removed slots, counted by the low bits of their hashes.
    removals: [AtomicU32; FIRST as usize],
}

/// Returns the position of a slot in the chain's order: by the hash with its bits reversed, each
/// bucket before its slots.
fn order_of_slot(hash: u32) -> u64 {
    u64::from(hash.reverse_bits()) << 1 | 1
}

fn order_of_bucket(bucket: u32) -> u64 {
    u64::from(bucket.reverse_bits()) << 1
}

/// Returns the number of the existing bucket that a new bucket splits.
fn parent(bucket: u32) -> u32 {
    debug_assert!(bucket > 0);
    bucket & !(1 << (u32::BITS - 1 - bucket.leading_zeros()))
}

fn link_of(word: u64) -> Link {
    Link::unpack(word as u32)
}

fn hash_in(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Element that has a link: a bucket or a slot.
#[derive(Clone, Copy)]
enum At {
    Bucket(u32),
    Slot(u32),
}

impl HashIndex {
    pub(crate) fn new() -> Self {
        let index = Self {
            hasher: RandomState::new(),
            buckets: std::array::from_fn(|_| OnceLock::new()),
            size: AtomicU32::new(FIRST),
            entries: AtomicU32::new(0),
            removals: std::array::from_fn(|_| AtomicU32::new(0)),
        };
        index.make_segment(0, FIRST);
        if let Some(first) = index.bucket(0) {
            first.store(Link::End.pack(), Ordering::Release);
        }
        index
    }

    /// Calls `is` for the indices of slots that may have this id, until it returns a value. Takes
    /// no lock.
    pub(crate) fn find<R>(
        &self,
        slots: &Slots<Entry>,
        id: &[u8],
        is: impl FnMut(u32) -> Option<R>,
    ) -> Option<R> {
        self.find_hash(slots, self.hash(id), is)
    }

    fn find_hash<R>(
        &self,
        slots: &Slots<Entry>,
        hash: u32,
        mut is: impl FnMut(u32) -> Option<R>,
    ) -> Option<R> {
        let removals = self.removals(hash)?;
        loop {
            // Acquire: earlier removals are visible.
            let before = removals.load(Ordering::Acquire);
            if let Some(found) = self.walk(slots, hash, &mut is) {
                return Some(found);
            }
            // The counter is read after the links, which are loaded with Acquire: a reader that
            // followed a link set after a removal sees the removal counted.
            if removals.load(Ordering::Acquire) == before {
                return None;
            }
        }
    }

    fn walk<R>(
        &self,
        slots: &Slots<Entry>,
        hash: u32,
        is: &mut impl FnMut(u32) -> Option<R>,
    ) -> Option<R> {
        let order = order_of_slot(hash);
        let mut next = self.entrance(hash)?;
        loop {
            match next {
                Link::Slot(index) => {
                    let word = slots.slot(index)?.link();
                    if order_of_slot(hash_in(word)) > order {
                        return None;
                    }
                    if hash_in(word) == hash
                        && let Some(found) = is(index)
                    {
                        return Some(found);
                    }
                    next = link_of(word);
                }
                Link::Bucket(bucket) => {
                    if order_of_bucket(bucket) > order {
                        return None;
                    }
                    next = Link::unpack(self.bucket(bucket)?.load(Ordering::Acquire));
                }
                Link::End | Link::Free(_) | Link::NotSet => return None,
            }
        }
    }

    /// Adds the slot of an active object to the chain of the hash table.
    pub(crate) fn insert(&self, slots: &Slots<Entry>, id: &[u8], index: u32) {
        self.insert_hash(slots, self.hash(id), index);
    }

    fn insert_hash(&self, slots: &Slots<Entry>, hash: u32, index: u32) {
        self.grow();
        let bucket = hash & (self.size.load(Ordering::Relaxed) - 1);
        self.make_entrance(slots, bucket);
        let (at, next) = self.position(slots, At::Bucket(bucket), order_of_slot(hash), None);
        if let Some(slot) = slots.slot(index) {
            slot.set_link(u64::from(hash) << 32 | u64::from(next.pack()));
            self.set(slots, at, Link::Slot(index));
            self.entries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes a slot from the chain. The slot's own link stays until the slot is used again, for
    /// readers that are visiting it.
    pub(crate) fn remove(&self, slots: &Slots<Entry>, id: &[u8], index: u32) {
        let hash = self.hash(id);
        let bucket = self.nearest(hash & (self.size.load(Ordering::Relaxed) - 1));
        let (at, next) = self.position(slots, At::Bucket(bucket), order_of_slot(hash), Some(index));
        let (Link::Slot(found), Some(slot)) = (next, slots.slot(index)) else {
            return;
        };
        debug_assert_eq!(found, index, "what is open is in the chain");
        self.set(slots, at, link_of(slot.link()));
        if let Some(removals) = self.removals(hash) {
            // Release: after the slot is out, and before it gets another link.
            removals.fetch_add(1, Ordering::Release);
        }
        self.entries.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the last element before `slot`, or before the position `order` if no slot is given,
    /// and its link. For threads that change the chain.
    fn position(
        &self,
        slots: &Slots<Entry>,
        from: At,
        order: u64,
        slot: Option<u32>,
    ) -> (At, Link) {
        let mut at = from;
        loop {
            let next = self.get(slots, at);
            let (step, next_order) = match next {
                Link::Slot(index) => {
                    let word = slots.slot(index).map_or(0, |slot| slot.link());
                    (At::Slot(index), order_of_slot(hash_in(word)))
                }
                Link::Bucket(bucket) => (At::Bucket(bucket), order_of_bucket(bucket)),
                Link::End | Link::Free(_) | Link::NotSet => return (at, Link::End),
            };
            let here = match slot {
                Some(slot) => next == Link::Slot(slot) || next_order > order,
                None => next_order >= order,
            };
            if here {
                return (at, next);
            }
            at = step;
        }
    }

    fn get(&self, slots: &Slots<Entry>, at: At) -> Link {
        match at {
            At::Bucket(bucket) => self
                .bucket(bucket)
                .map_or(Link::End, |link| Link::unpack(link.load(Ordering::Acquire))),
            At::Slot(index) => slots
                .slot(index)
                .map_or(Link::End, |slot| link_of(slot.link())),
        }
    }

    fn set(&self, slots: &Slots<Entry>, at: At, link: Link) {
        match at {
            At::Bucket(bucket) => {
                if let Some(place) = self.bucket(bucket) {
                    place.store(link.pack(), Ordering::Release);
                }
            }
            At::Slot(index) => {
                if let Some(slot) = slots.slot(index) {
                    let hash = slot.link() & !u64::from(u32::MAX);
                    slot.set_link(hash | u64::from(link.pack()));
                }
            }
        }
    }

    /// Doubles the number of buckets when there are as many entries as buckets. New buckets become
    /// entrances one by one.
    fn grow(&self) {
        let size = self.size.load(Ordering::Relaxed);
        if self.entries.load(Ordering::Relaxed) < size.saturating_mul(LOAD) {
            return;
        }
        let (segment, _) = place_of_bucket(size);
        if segment < SEGMENTS {
            self.make_segment(segment, size);
            // Release: a reader of the number finds the buckets.
            self.size.store(size * 2, Ordering::Release);
        }
    }

    fn make_segment(&self, segment: usize, size: u32) {
        if let Some(place) = self.buckets.get(segment) {
            place.get_or_init(|| (0..size).map(|_| AtomicU32::new(0)).collect());
        }
    }

    /// Makes a bucket an entrance to the chain, after the buckets that it splits.
    fn make_entrance(&self, slots: &Slots<Entry>, bucket: u32) {
        while self.nearest(bucket) != bucket {
            let mut make = bucket;
            while self.nearest(parent(make)) != parent(make) {
                make = parent(make);
            }
            let order = order_of_bucket(make);
            let (at, next) = self.position(slots, At::Bucket(parent(make)), order, None);
            // Its own link is set first: a reader that enters here finds the rest of the chain.
            self.set(slots, At::Bucket(make), next);
            self.set(slots, at, Link::Bucket(make));
        }
    }

    /// Returns the link from which the search for a hash begins.
    fn entrance(&self, hash: u32) -> Option<Link> {
        // Acquire: pairs with the Release in `grow`.
        let mut bucket = hash & (self.size.load(Ordering::Acquire) - 1);
        loop {
            match Link::unpack(self.bucket(bucket)?.load(Ordering::Acquire)) {
                Link::NotSet => bucket = parent(bucket),
                link => return Some(link),
            }
        }
    }

    /// Returns the bucket if it is an entrance; otherwise the nearest one that it splits and that
    /// is an entrance.
    fn nearest(&self, mut bucket: u32) -> u32 {
        let is_set = |bucket| {
            let link = self.bucket(bucket).map(|link| link.load(Ordering::Relaxed));
            link.is_some_and(|link| Link::unpack(link) != Link::NotSet)
        };
        while bucket > 0 && !is_set(bucket) {
            bucket = parent(bucket);
        }
        bucket
    }

    #[inline]
    fn bucket(&self, bucket: u32) -> Option<&AtomicU32> {
        let (segment, offset) = place_of_bucket(bucket);
        self.buckets.get(segment)?.get()?.get(offset)
    }

    fn removals(&self, hash: u32) -> Option<&AtomicU32> {
        self.removals.get((hash % FIRST) as usize)
    }

    fn hash(&self, id: &[u8]) -> u32 {
        self.hasher.hash_one(id) as u32
    }
}

/// Returns the segment of a bucket, and its position in the segment.
#[inline]
fn place_of_bucket(bucket: u32) -> (usize, usize) {
    let segment = u32::BITS - (bucket / FIRST).leading_zeros();
    let first = if segment == 0 {
        0
    } else {
        FIRST << (segment - 1)
    };
    (segment as usize, (bucket - first) as usize)
}
