//! Memory that a thread caches for the blocks of its next calls.
//!
//! A call needs a block to send from and one to receive into; a nested call needs as many again.
//! More than a few would be unused memory.
//!
//! Large blocks are kept, too, while they are needed and the process keeps few bytes in them: to
//! get a megabyte from the operating system, a page at a time, takes ten times as long as to fill
//! it. Peers influence how many threads there are, and how long the messages that they receive, so
//! all threads share one bound.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of byte vectors that the cache of each thread keeps.
const BLOCKS: usize = 4;
/// Upper bound of the bytes that the process keeps in unused large vectors.
const LARGE_IN_ALL: usize = 32 << 20;
/// Number of large vectors that a thread keeps, so that a few threads do not take the whole bound.
const MOST_LARGE: u32 = 2;
/// Size of the largest vector that is kept, in bytes.
const LARGEST: usize = 4 << 20;
/// Number of uses in a row that a small vector would have served, after which a large one is freed.
const UNNEEDED: u32 = 64;

/// Bytes in the large vectors that are kept now. Relaxed: a mere bound; it publishes nothing.
static LARGE: AtomicUsize = AtomicUsize::new(0);

struct Cache {
    vectors: [Cell<Vec<u8>>; BLOCKS],
    used: Cell<usize>,
    /// Set of the entries of `vectors` that hold a large vector, as bits.
    large: Cell<u8>,
    /// Uses of large vectors in a row that a small one would have served.
    unneeded: Cell<u32>,
}

thread_local! {
    static CACHE: Cache = const {
        Cache {
            vectors: [const { Cell::new(Vec::new()) }; BLOCKS],
            used: Cell::new(0),
            large: Cell::new(0),
            unneeded: Cell::new(0),
        }
    };
}

/// Takes the vector that was given back last, empty; a new one without memory if there is none.
#[inline]
pub(crate) fn take() -> Vec<u8> {
    // A thread that is ending has no cache any more.
    CACHE.try_with(Cache::take).unwrap_or_default()
}

/// Keeps a vector's memory for the calling thread, unless enough is cached already. One larger than
/// `kept` bytes is kept only while such are needed and the process keeps few of them; never if
/// `kept` is 0.
#[inline]
pub(crate) fn give_back(bytes: Vec<u8>, kept: usize) {
    if bytes.capacity().wrapping_sub(1) < kept {
        // A thread that is ending frees it.
        let _ = CACHE.try_with(|cache| cache.put(bytes));
    } else {
        give_back_large(bytes, kept);
    }
}

#[cold]
fn give_back_large(bytes: Vec<u8>, kept: usize) {
    if (1..=LARGEST).contains(&bytes.capacity()) && kept > 0 {
        let _ = CACHE.try_with(|cache| cache.put_large(bytes, kept));
    }
}

impl Cache {
    #[inline]
    fn take(&self) -> Vec<u8> {
        let last = self.used.get().wrapping_sub(1);
        match self.vectors.get(last) {
            Some(vector) => {
                self.used.set(last);
                let bytes = vector.take();
                if self.large.get() != 0 {
                    self.took(last, &bytes);
                }
                bytes
            }
            None => Vec::new(),
        }
    }

    #[inline]
    fn put(&self, mut bytes: Vec<u8>) {
        let used = self.used.get();
        if let Some(vector) = self.vectors.get(used) {
            bytes.clear();
            vector.set(bytes);
            self.used.set(used + 1);
        }
    }

    /// Keeps a large vector, if there is room for it.
    fn put_large(&self, bytes: Vec<u8>, kept: usize) {
        let used = self.used.get();
        let unneeded = match bytes.len() <= kept {
            true => self.unneeded.get() + 1,
            false => 0,
        };
        self.unneeded.set(unneeded % UNNEEDED);
        let is_full = used == BLOCKS || self.large.get().count_ones() == MOST_LARGE;
        if is_full || unneeded == UNNEEDED {
            return;
        }
        let capacity = bytes.capacity();
        if LARGE.fetch_add(capacity, Ordering::Relaxed) + capacity > LARGE_IN_ALL {
            LARGE.fetch_sub(capacity, Ordering::Relaxed);
            return;
        }
        self.large.set(self.large.get() | 1 << used);
        self.put(bytes);
    }

    /// Records that the vector at index `place` is no longer cached.
    fn took(&self, place: usize, bytes: &Vec<u8>) {
        let large = self.large.get();
        if large >> place & 1 == 1 {
            self.large.set(large & !(1 << place));
            LARGE.fetch_sub(bytes.capacity(), Ordering::Relaxed);
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        while self.used.get() > 0 {
            drop(self.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;
    use std::sync::{Arc, Barrier, Mutex};

    #[test]
    fn memory_given_back_is_lent_again_and_empty() {
        let mut block = Block::of_thread(100, 1024);
        block.extend_from_slice(b"secret");
        let memory = block.as_slice().as_ptr();
        drop(block);
        let again = Block::of_thread(100, 1024);
        assert!(again.is_empty());
        assert_eq!(again.as_slice().as_ptr(), memory);
    }

    /// Serialises the tests, as the large blocks of the process are shared state.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn of_length(length: usize) -> Block {
        let mut block = Block::of_thread(0, 1024);
        block.resize(length, 1);
        block
    }

    #[test]
    fn a_large_block_is_kept_while_it_is_needed() {
        let _alone = ONE_AT_A_TIME.lock();
        drop(of_length(4096));
        let uses = |length| (0..2 * UNNEEDED).map(move |_| of_length(length).capacity());
        assert!(uses(2000).all(|capacity| capacity >= 4096));
        let kept = uses(10).position(|capacity| capacity < 4096);
        assert_eq!(kept, Some(UNNEEDED as usize));
    }

    #[test]
    fn of_large_blocks_the_process_keeps_few_octets_whatever_its_threads_do() {
        let _alone = ONE_AT_A_TIME.lock();
        let all = Arc::new(Barrier::new(40));
        let thread = |all: Arc<Barrier>| {
            std::thread::spawn(move || {
                drop(of_length(1 << 20));
                all.wait();
                Block::of_thread(0, 1024).capacity()
            })
        };
        let threads: Vec<_> = (0..40).map(|_| thread(all.clone())).collect();
        let kept: usize = threads.into_iter().map(|one| one.join().unwrap()).sum();
        assert_eq!(kept, LARGE_IN_ALL);
        // They are freed with their threads.
        assert_eq!(LARGE.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_block_that_grew_very_large_is_freed_and_so_is_any_where_none_is_to_be_kept() {
        drop(of_length(LARGEST + 1));
        assert_eq!(Block::of_thread(0, 1024).capacity(), 0);
        drop(Block::of_thread(4096, 0));
        assert_eq!(Block::of_thread(0, 0).capacity(), 0);
    }

    #[test]
    fn a_thread_keeps_no_more_than_a_few() {
        let many: Vec<Block> = (0..20).map(|_| Block::of_thread(64, 1024)).collect();
        drop(many);
        let with_memory = (0..20)
            .map(|_| Block::of_thread(0, 1024))
            .collect::<Vec<_>>();
        let kept = with_memory.iter().filter(|one| one.capacity() > 0).count();
        assert_eq!(kept, BLOCKS);
    }
}
