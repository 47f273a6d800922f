//! Block of memory lent by a connection: filled for sending, or full of received bytes.
//!
//! A dropped block goes back where it came from, so that a warm path allocates nothing: to a cache
//! of the thread that drops it, or to a pool that threads share. Its storage is a vector; lent runs
//! are kept outside of it.

use crate::lend::{Lent, Segment};
use crate::thread_cache;
use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Pool that gets a [`Block`]'s memory back when the block is dropped, for example a lane's.
pub trait MemoryPool: Send + Sync {
    /// Takes the memory back. The vector still holds the block's contents.
    fn give_back(&self, bytes: Vec<u8>);
}

/// Growable byte buffer, whose memory may be on loan from a pool.
#[derive(Default)]
pub struct Block {
    bytes: Vec<u8>,
    when_dropped: OnDrop,
    /// Lent segments and the charge of the bytes, which few messages have. Dropped after the memory was
    /// returned to its pool.
    beside: Option<Box<Beside>>,
}

/// Companions of a block's bytes, dropped out of line: the common drop of a block without any stays
/// cheap.
#[derive(Default)]
struct Beside {
    /// Segments that stand between the bytes, in the order of their places.
    lent: Vec<Lent>,
    charge: Option<Charge>,
}

/// Record of the memory that a block occupies, for as long as the block has it.
pub type Charge = Arc<dyn Any + Send + Sync>;

impl Drop for Beside {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.lent = Vec::new();
        self.charge = None;
    }
}

/// Destination of a block's memory when the block is dropped.
#[derive(Default)]
enum OnDrop {
    /// The memory of the block is freed.
    #[default]
    Free,
    /// Cache of the thread that drops the block, unless the block has grown beyond this many bytes.
    CacheOnThread(usize),
    ToPool(Arc<dyn MemoryPool>),
}

impl Block {
    /// Makes a block that owns `bytes` and frees them when dropped.
    #[must_use]
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            when_dropped: OnDrop::Free,
            beside: None,
        }
    }

    /// Makes an empty block with room for at least `capacity` bytes, from the calling thread's
    /// cache; the thread that drops it caches its memory. A block that has grown beyond `kept`
    /// bytes is cached only while messages need such blocks, and 32 MiB of them in a process at
    /// most. No lock, and no atomic exchange up to `kept`; allocates only when nothing suitable is
    /// cached.
    #[inline]
    #[must_use]
    pub fn of_thread(capacity: usize, kept: usize) -> Self {
        let mut bytes = thread_cache::take();
        if bytes.capacity() < capacity {
            bytes.reserve(capacity);
        }
        Self {
            bytes,
            when_dropped: OnDrop::CacheOnThread(kept),
            beside: None,
        }
    }

    /// Makes a block whose memory is given to `pool` when it is dropped.
    #[must_use]
    pub fn from_pool(bytes: Vec<u8>, pool: Arc<dyn MemoryPool>) -> Self {
        Self {
            bytes,
            when_dropped: OnDrop::ToPool(pool),
            beside: None,
        }
    }

    /// Returns the number of bytes in the block.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the block contains no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes in the block.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes held, to be changed in place.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Returns the number of bytes that fit without an allocation.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Removes all bytes from the block, but keeps the allocated memory.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        if self.beside.is_some() {
            self.beside = None;
        }
    }

    /// Removes all bytes after the first `len` bytes of the block.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Makes room for `additional` more bytes; allocates only if they don't fit.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.bytes.reserve(additional);
    }

    /// Appends `octets` to the block; allocates memory only if the capacity does not suffice.
    #[inline]
    pub fn extend_from_slice(&mut self, octets: &[u8]) {
        self.bytes.extend_from_slice(octets);
    }

    /// Appends one byte to the block.
    #[inline]
    pub fn push(&mut self, octet: u8) {
        self.bytes.push(octet);
    }

    /// Shrinks or grows to `new_len` bytes; new ones have the value `fill`.
    #[inline]
    pub fn resize(&mut self, new_len: usize, fill: u8) {
        self.bytes.resize(new_len, fill);
    }

    /// Drops the first `count` bytes (all, if there are fewer) and moves the rest to the front.
    #[inline]
    pub fn consume_front(&mut self, count: usize) {
        if count >= self.bytes.len() {
            self.bytes.clear();
        } else {
            self.bytes.copy_within(count.., 0);
            self.bytes.truncate(self.bytes.len() - count);
        }
    }

    /// Returns the memory itself, for a link that appends received data to the block.
    ///
    /// Only heap memory can be lent as a vector; a link that lends other memory fills it itself.
    #[inline]
    #[must_use]
    pub fn as_mut_vec(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Puts a block back where [`std::mem::take`] took one from. The empty block left there needs
    /// no drop.
    #[inline]
    pub(crate) fn put_back(&mut self, block: Self) {
        debug_assert!(
            self.capacity() == 0 && self.beside.is_none(),
            "it was taken"
        );
        std::mem::forget(std::mem::replace(self, block));
    }

    /// Converts the block into its memory, which the caller keeps: it does not go back to the pool
    /// or cache.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<u8> {
        self.when_dropped = OnDrop::Free;
        std::mem::take(&mut self.bytes)
    }
}

impl Block {
    /// Attaches a segment after the bytes that the block holds now.
    pub fn attach(&mut self, segment: Arc<dyn Segment>) {
        let at = self.bytes.len();
        self.lent_mut().push(Lent { at, segment });
    }

    /// Returns the segments that stand between the bytes, in order.
    #[inline]
    #[must_use]
    pub fn lent(&self) -> &[Lent] {
        self.beside.as_ref().map_or(&[], |beside| &beside.lent)
    }

    /// Returns the segments, to be taken out or moved.
    #[must_use]
    pub fn lent_mut(&mut self) -> &mut Vec<Lent> {
        &mut self.beside.get_or_insert_default().lent
    }

    /// Keeps `charge` until the block is emptied, or its memory was given back.
    #[cold]
    pub fn attach_charge(&mut self, charge: Charge) {
        self.beside.get_or_insert_default().charge = Some(charge);
    }

    /// Returns the memory charge that was attached to the block, if any.
    #[inline]
    #[must_use]
    pub fn charge(&self) -> Option<&Charge> {
        self.beside.as_ref()?.charge.as_ref()
    }

    /// Empties the block for its next use, or returns its memory if it has grown too large to be
    /// kept.
    #[inline(always)]
    pub fn reuse(&mut self) {
        match self.when_dropped {
            OnDrop::CacheOnThread(kept) if self.bytes.capacity() <= kept => self.clear(),
            _ => *self = Self::default(),
        }
    }

    /// Takes out the segments that stand between the bytes; only the block's own bytes are left.
    #[inline]
    #[must_use]
    pub fn take_lent(&mut self) -> Vec<Lent> {
        let beside = self.beside.as_mut();
        beside.map_or_else(Vec::new, |beside| std::mem::take(&mut beside.lent))
    }

    /// Copies the segments into the block, each in its place.
    #[cold]
    pub fn join(&mut self) {
        let lent = self.take_lent();
        let Some(first) = lent.first() else {
            return;
        };
        let mut before = first.at.min(self.bytes.len());
        let rest = self.bytes.split_off(before);
        let length: usize = lent.iter().map(|lent| lent.segment.len()).sum();
        self.bytes.reserve(rest.len() + length);
        let mut rest = rest.as_slice();
        for Lent { at, segment } in &lent {
            let (own, later) = rest.split_at(at.saturating_sub(before).min(rest.len()));
            self.bytes.extend_from_slice(own);
            self.bytes.extend_from_slice(segment.as_slice());
            (before, rest) = (*at, later);
        }
        self.bytes.extend_from_slice(rest);
    }

    /// Returns the total number of bytes, those of the segments included.
    #[inline]
    #[must_use]
    pub fn full_len(&self) -> usize {
        let Some(beside) = &self.beside else {
            return self.bytes.len();
        };
        let lent: usize = beside.lent.iter().map(|lent| lent.segment.len()).sum();
        self.bytes.len() + lent
    }

    /// Calls `each` with every stretch of bytes in order: segments and the block's own bytes
    /// between them.
    pub fn for_each_stretch<'b>(&'b self, mut each: impl FnMut(&'b [u8])) {
        let mut begin = 0;
        for lent in self.lent() {
            each(self.bytes.get(begin..lent.at).unwrap_or_default());
            each(lent.segment.as_slice());
            begin = lent.at;
        }
        each(self.bytes.get(begin..).unwrap_or_default());
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        match &self.when_dropped {
            OnDrop::Free => {}
            OnDrop::CacheOnThread(kept) => {
                thread_cache::give_back(std::mem::take(&mut self.bytes), *kept)
            }
            OnDrop::ToPool(pool) => pool.give_back(std::mem::take(&mut self.bytes)),
        }
    }
}

impl Deref for Block {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for Block {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<Vec<u8>> for Block {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_vec(bytes)
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The length only: the contents may be secret.
        f.debug_struct("Block")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Kept(Mutex<Vec<Vec<u8>>>);

    impl MemoryPool for Kept {
        fn give_back(&self, bytes: Vec<u8>) {
            self.0.lock().unwrap().push(bytes);
        }
    }

    #[test]
    fn dropped_block_goes_back_to_its_pool_once() {
        let pool = Arc::new(Kept(Mutex::new(Vec::new())));
        drop(Block::from_pool(vec![1, 2, 3], pool.clone()));
        assert_eq!(*pool.0.lock().unwrap(), [vec![1, 2, 3]]);
    }

    #[test]
    fn block_taken_as_a_vector_does_not_go_back() {
        let pool = Arc::new(Kept(Mutex::new(Vec::new())));
        let bytes = Block::from_pool(vec![1, 2, 3], pool.clone()).into_vec();
        assert_eq!(bytes, [1, 2, 3]);
        assert!(pool.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_charge_ends_once_the_memory_was_given_back() {
        let charge: Charge = Arc::new(());
        let pool = Arc::new(Kept(Mutex::new(Vec::new())));
        let mut block = Block::from_pool(vec![1, 2, 3], pool.clone());
        block.attach_charge(charge.clone());
        assert!(block.take_lent().is_empty());
        assert_eq!(Arc::strong_count(&charge), 2);
        drop(block);
        assert_eq!(pool.0.lock().unwrap().len(), 1);
        assert_eq!(Arc::strong_count(&charge), 1);
        let mut block = Block::from_vec(vec![1, 2, 3]);
        block.attach_charge(charge.clone());
        block.clear();
        assert_eq!(Arc::strong_count(&charge), 1);
    }

    #[test]
    fn consuming_the_front_moves_the_tail_down() {
        let mut block = Block::from_vec(vec![1, 2, 3, 4]);
        block.consume_front(3);
        assert_eq!(block.as_slice(), [4]);
        block.consume_front(9);
        assert!(block.is_empty());
    }

    #[test]
    fn debug_output_shows_the_length_and_no_content() {
        assert_eq!(
            format!("{:?}", Block::from_vec(vec![7; 3])),
            "Block { len: 3, .. }"
        );
    }
}
