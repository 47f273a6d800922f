//! Memory that a connection lends: filled for sending, or full of what was received.
//!
//! A block goes home when it is dropped, so that a warm path allocates nothing. Today its
//! storage is a vector; the type is opaque so that memory lent by a ring can take its place.

use crate::lend::{Lent, Segment};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Where a [`Block`]'s memory goes when the block is dropped, for example a lane's pool.
pub trait Home: Send + Sync {
    /// Takes the memory back. The vector still holds what the block held.
    fn give_back(&self, bytes: Vec<u8>);
}

/// A growable run of octets on loan.
#[derive(Default)]
pub struct Block {
    bytes: Vec<u8>,
    home: Option<Arc<dyn Home>>,
    /// Segments that stand between the octets, in the order of their places.
    lent: Vec<Lent>,
}

impl Block {
    /// A block that owns `bytes` and frees them when dropped.
    #[must_use]
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            home: None,
            lent: Vec::new(),
        }
    }

    /// A block whose memory is given to `home` when it is dropped.
    #[must_use]
    pub fn with_home(bytes: Vec<u8>, home: Arc<dyn Home>) -> Self {
        Self {
            bytes,
            home: Some(home),
            lent: Vec::new(),
        }
    }

    /// The number of octets held.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the block holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The octets held.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The octets held, to be changed in place.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// How many octets fit without an allocation.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Empties the block and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.lent.clear();
    }

    /// Keeps the first `len` octets.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }

    /// Makes room for `additional` octets more; allocates only if they don't fit.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.bytes.reserve(additional);
    }

    /// Appends `octets`; allocates only if they don't fit.
    #[inline]
    pub fn extend_from_slice(&mut self, octets: &[u8]) {
        self.bytes.extend_from_slice(octets);
    }

    /// Appends one octet.
    #[inline]
    pub fn push(&mut self, octet: u8) {
        self.bytes.push(octet);
    }

    /// Shrinks or grows to `new_len` octets; new ones have the value `fill`.
    #[inline]
    pub fn resize(&mut self, new_len: usize, fill: u8) {
        self.bytes.resize(new_len, fill);
    }

    /// Drops the first `count` octets (all, if there are fewer) and moves the rest to the front.
    #[inline]
    pub fn consume_front(&mut self, count: usize) {
        if count >= self.bytes.len() {
            self.bytes.clear();
        } else {
            self.bytes.copy_within(count.., 0);
            self.bytes.truncate(self.bytes.len() - count);
        }
    }

    /// The memory itself, for a link that receives behind what the block holds.
    ///
    /// Only heap memory can be lent as a vector; a link that lends other memory fills it itself.
    #[inline]
    #[must_use]
    pub fn as_mut_vec(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Keeps the memory for good: it does not go home.
    #[must_use]
    pub fn into_vec(mut self) -> Vec<u8> {
        self.home = None;
        self.lent.clear();
        std::mem::take(&mut self.bytes)
    }
}

impl Block {
    /// Lets a segment stand behind the octets that the block holds now.
    pub fn attach(&mut self, segment: Arc<dyn Segment>) {
        self.lent.push(Lent {
            at: self.bytes.len(),
            segment,
        });
    }

    /// The segments that stand between the octets, in order.
    #[inline]
    #[must_use]
    pub fn lent(&self) -> &[Lent] {
        &self.lent
    }

    /// The segments, to be taken out or moved.
    #[inline]
    #[must_use]
    pub fn lent_mut(&mut self) -> &mut Vec<Lent> {
        &mut self.lent
    }

    /// Octets in all, those of the segments included.
    #[inline]
    #[must_use]
    pub fn full_len(&self) -> usize {
        if self.lent.is_empty() {
            return self.bytes.len();
        }
        let lent: usize = self.lent.iter().map(|lent| lent.segment.len()).sum();
        self.bytes.len() + lent
    }

    /// Calls `each` with every stretch of octets in order, segments and what lies between them.
    pub fn for_each_stretch<'b>(&'b self, mut each: impl FnMut(&'b [u8])) {
        let mut begin = 0;
        for lent in &self.lent {
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
        if let Some(home) = self.home.take() {
            home.give_back(std::mem::take(&mut self.bytes));
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
        // The length only: what it holds may be somebody's secret.
        f.debug_struct("Block")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Shelf(Mutex<Vec<Vec<u8>>>);

    impl Home for Shelf {
        fn give_back(&self, bytes: Vec<u8>) {
            self.0.lock().unwrap().push(bytes);
        }
    }

    #[test]
    fn dropped_block_goes_home_once() {
        let shelf = Arc::new(Shelf(Mutex::new(Vec::new())));
        drop(Block::with_home(vec![1, 2, 3], shelf.clone()));
        assert_eq!(*shelf.0.lock().unwrap(), [vec![1, 2, 3]]);
    }

    #[test]
    fn block_taken_as_a_vector_does_not_go_home() {
        let shelf = Arc::new(Shelf(Mutex::new(Vec::new())));
        let bytes = Block::with_home(vec![1, 2, 3], shelf.clone()).into_vec();
        assert_eq!(bytes, [1, 2, 3]);
        assert!(shelf.0.lock().unwrap().is_empty());
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
