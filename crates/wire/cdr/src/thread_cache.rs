//! Memory that a thread caches for the blocks of its next calls.
//!
//! A call needs a block to send from and one to receive into; a nested call as many again. More than a
//! few would be memory that nobody uses.

use std::cell::Cell;

/// Vectors that a thread keeps.
const BLOCKS: usize = 4;

struct Cache {
    vectors: [Cell<Vec<u8>>; BLOCKS],
    used: Cell<usize>,
}

thread_local! {
    static CACHE: Cache = const {
        Cache {
            vectors: [const { Cell::new(Vec::new()) }; BLOCKS],
            used: Cell::new(0),
        }
    };
}

/// The vector that was given back last, empty; a new one without memory if there is none.
#[inline]
pub(crate) fn take() -> Vec<u8> {
    // A thread that is ending has no cache any more.
    CACHE.try_with(Cache::take).unwrap_or_default()
}

/// Keeps a vector's memory for the calling thread, unless it is larger than `kept` octets, or enough
/// is cached already.
#[inline]
pub(crate) fn give_back(bytes: Vec<u8>, kept: usize) {
    if bytes.capacity().wrapping_sub(1) < kept {
        // A thread that is ending frees it.
        let _ = CACHE.try_with(|cache| cache.put(bytes));
    }
}

impl Cache {
    #[inline]
    fn take(&self) -> Vec<u8> {
        let last = self.used.get().wrapping_sub(1);
        match self.vectors.get(last) {
            Some(vector) => {
                self.used.set(last);
                vector.take()
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
}

#[cfg(test)]
mod tests {
    use crate::Block;

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

    #[test]
    fn a_block_that_grew_too_large_is_freed() {
        drop(Block::of_thread(4096, 1024));
        assert_eq!(Block::of_thread(0, 1024).capacity(), 0);
    }

    #[test]
    fn a_thread_keeps_no_more_than_a_few() {
        let many: Vec<Block> = (0..20).map(|_| Block::of_thread(64, 1024)).collect();
        drop(many);
        let with_memory = (0..20)
            .map(|_| Block::of_thread(0, 1024))
            .collect::<Vec<_>>();
        let kept = with_memory.iter().filter(|one| one.capacity() > 0).count();
        assert_eq!(kept, super::BLOCKS);
    }
}
