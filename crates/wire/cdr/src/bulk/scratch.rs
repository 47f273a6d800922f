//! Scratch memory that a thread keeps, for values that cannot be viewed where they were received.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::copy::fill;
use super::layout::PlainData;
use super::shuffle::Turning;

/// Upper bound of the bytes that a thread keeps in all. Larger memory is freed after use.
const KEPT: usize = 256 << 10;

/// Number of pieces of memory that a thread keeps, and so the number of arguments of one call that
/// can use kept memory.
const PIECES: usize = 4;

/// Memory that is aligned for any plain data.
type Memory = Vec<MaybeUninit<u64>>;

thread_local! {
    static CACHE: RefCell<Cache> = const { RefCell::new(Cache { pieces: [const { Vec::new() }; PIECES] }) };
}

struct Cache {
    /// Kept pieces; an unused entry is an empty vector.
    pieces: [Memory; PIECES],
}

impl Cache {
    /// Takes the largest piece of memory from the cache.
    #[inline]
    fn take(&mut self) -> Memory {
        let largest = self.pieces.iter_mut().max_by_key(|piece| piece.capacity());
        largest.map(std::mem::take).unwrap_or_default()
    }

    /// Keeps `memory` in the place of the smallest piece, if it is larger than that and the total
    /// stays within the bound.
    #[inline]
    fn keep(&mut self, memory: Memory) {
        let held: usize = self.pieces.iter().map(Vec::capacity).sum();
        let smallest = self.pieces.iter_mut().min_by_key(|piece| piece.capacity());
        if let Some(smallest) = smallest
            && smallest.capacity() < memory.capacity()
            && held - smallest.capacity() + memory.capacity() <= KEPT / size_of::<u64>()
        {
            *smallest = memory;
        }
    }
}

/// Run of plain data in memory that goes back to the thread when it is dropped. Made only by
/// [`Scratch::with_capacity`], which checks the type.
#[derive(Debug)]
pub(crate) struct Scratch<T> {
    memory: Memory,
    /// Number of values in the memory, all of which are initialised.
    len: usize,
    values: PhantomData<T>,
}

impl<T: PlainData> Scratch<T> {
    const IS_ALIGNED: () = assert!(
        align_of::<T>() <= align_of::<u64>() && size_of::<T>() != 0,
        "plain data is aligned to 8 octets at most"
    );

    /// Makes room for `count` values. Allocates when the thread keeps no piece so large.
    #[inline]
    pub(crate) fn with_capacity(count: usize) -> Self {
        let () = Self::IS_ALIGNED;
        let words = count
            .saturating_mul(size_of::<T>())
            .div_ceil(size_of::<u64>());
        // A thread that is ending may have no cache any more.
        let kept = CACHE.try_with(|cache| cache.borrow_mut().take());
        let mut memory = kept.unwrap_or_default();
        memory.reserve_exact(words);
        Self {
            memory,
            len: 0,
            values: PhantomData,
        }
    }

    /// Appends a value if there is room for it; returns whether there was.
    #[inline]
    pub(crate) fn push(&mut self, value: T) -> bool {
        let at = self.len;
        match self.room().get_mut(at) {
            Some(place) => {
                place.write(value);
                self.len += 1;
                true
            }
            None => false,
        }
    }

    /// Appends `count` values from bytes, those of each number in the stated order; returns what
    /// [`extend_vec`](super::extend_vec) does.
    ///
    /// # Panics
    /// When there is no room for them, or the number of bytes does not fit.
    #[inline]
    pub(crate) fn extend(&mut self, octets: &[u8], count: usize, turning: Turning) -> u8 {
        let len = self.len;
        let room = self.room().get_mut(len..).unwrap_or_default();
        let chars = fill(room, octets, count, turning);
        self.len += count;
        chars
    }

    /// Returns all of the memory as uninitialised slots for values.
    #[inline]
    fn room(&mut self) -> &mut [MaybeUninit<T>] {
        let count = self.memory.capacity() * size_of::<u64>() / size_of::<T>();
        // SAFETY: the memory has that many places and is aligned for `T`; it is borrowed
        // exclusively and need not be initialised.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast::<MaybeUninit<T>>(), count)
        }
    }
}

impl<T> Scratch<T> {
    /// Returns the values in the memory.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the memory is aligned for `T`, as `with_capacity` has ensured, and holds `len`
        // initialised values at its beginning: `len` only grows behind what was written.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<T>(), self.len) }
    }
}

impl<T> Drop for Scratch<T> {
    #[inline]
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        // A thread that ends has no use for it.
        let _ = CACHE.try_with(|cache| cache.borrow_mut().keep(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(pieces: usize, count: usize) -> Vec<usize> {
        let pieces: Vec<Scratch<u64>> =
            (0..pieces).map(|_| Scratch::with_capacity(count)).collect();
        pieces
            .iter()
            .map(|piece| piece.memory.as_ptr().addr())
            .collect()
    }

    #[test]
    fn memory_is_used_again_by_the_thread_that_used_it() {
        let mut before = addresses(PIECES, 100);
        let mut after = addresses(PIECES, 90);
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }

    #[test]
    fn no_more_is_kept_than_a_thread_may_keep() {
        addresses(PIECES, KEPT / size_of::<u64>() / 2);
        drop(Scratch::<u64>::with_capacity(KEPT / size_of::<u64>() + 1));
        addresses(2 * PIECES, 10);
        let held = CACHE.with_borrow(|cache| cache.pieces.iter().map(Vec::capacity).sum::<usize>());
        assert!((1..=KEPT / size_of::<u64>()).contains(&held));
    }

    #[test]
    fn values_are_appended_up_to_what_there_is_room_for() {
        let mut scratch = Scratch::<u16>::with_capacity(3);
        scratch.extend(super::super::octets_of(&[1_u16, 2]), 2, Turning::Straight);
        assert!(scratch.push(3));
        assert_eq!(scratch.as_slice(), [1, 2, 3]);
        while scratch.push(7) {}
        assert!(scratch.as_slice().len() >= 4 - 1);
        assert_eq!(scratch.as_slice()[..3], [1, 2, 3]);
    }

    #[test]
    fn two_of_a_thread_do_not_share() {
        let (mut one, mut other) = (Scratch::with_capacity(2), Scratch::with_capacity(2));
        assert!(one.push(1_u8) && other.push(2_u8));
        assert_eq!((one.as_slice(), other.as_slice()), (&[1][..], &[2][..]));
    }
}
