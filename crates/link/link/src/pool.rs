//! Pool of the blocks that a connection lends, kept for the next call.

use crossbeam_queue::ArrayQueue;
use punctual_cdr::{Block, MemoryPool};
use std::sync::Arc;

/// Pool of unused blocks. No lock: borrowing and returning are each one atomic exchange.
#[derive(Debug)]
pub struct BlockPool {
    resting: ArrayQueue<Vec<u8>>,
    kept: usize,
}

impl BlockPool {
    /// Makes a pool that keeps at most `blocks` blocks, and none that has grown beyond `kept`
    /// bytes, so that one large message does not hold its memory for ever.
    #[must_use]
    pub fn new(blocks: usize, kept: usize) -> Arc<Self> {
        Arc::new(Self {
            resting: ArrayQueue::new(blocks.max(1)),
            kept,
        })
    }

    /// Lends an empty block with room for at least `capacity` bytes.
    #[must_use]
    pub fn lend(self: &Arc<Self>, capacity: usize) -> Block {
        let mut bytes = self.resting.pop().unwrap_or_default();
        bytes.reserve(capacity);
        Block::from_pool(bytes, self.clone())
    }
}

impl MemoryPool for BlockPool {
    fn give_back(&self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= self.kept {
            bytes.clear();
            // The pool is full: the memory is freed.
            let _ = self.resting.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_given_back_is_lent_again() {
        let pool = BlockPool::new(2, 1024);
        let mut block = pool.lend(100);
        block.extend_from_slice(b"secret");
        let memory = block.as_slice().as_ptr();
        drop(block);
        let again = pool.lend(100);
        assert!(again.is_empty());
        assert_eq!(again.as_slice().as_ptr(), memory);
    }

    #[test]
    fn a_block_that_grew_too_large_is_freed() {
        let pool = BlockPool::new(2, 1024);
        drop(pool.lend(4096));
        assert!(pool.resting.is_empty());
    }
}
