//! Blocks of a log in memory: the last ones that were appended or read, up to a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::block::Block;

/// Cache of blocks, by their positions. The one that came first leaves first.
#[derive(Debug)]
pub(super) struct Cache {
    /// Blocks, each with the number under which it came.
    blocks: HashMap<u64, (u64, Arc<Block>)>,
    /// Positions of the blocks, by these numbers.
    order: BTreeMap<u64, u64>,
    /// Number of the next block.
    next: u64,
    bytes: usize,
    most_bytes: usize,
}

impl Cache {
    /// Creates an empty cache of at most `most_bytes` bytes, or of one block that is longer.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            blocks: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
            bytes: 0,
            most_bytes,
        }
    }

    pub(super) fn block(&self, position: u64) -> Option<Arc<Block>> {
        self.blocks.get(&position).map(|(_, block)| block.clone())
    }

    pub(super) fn add(&mut self, position: u64, block: Arc<Block>) {
        if self.blocks.contains_key(&position) {
            return;
        }
        self.bytes += room(&block);
        self.order.insert(self.next, position);
        self.blocks.insert(position, (self.next, block));
        self.next += 1;
        while self.bytes > self.most_bytes
            && self.order.len() > 1
            && let Some((_, oldest)) = self.order.first_key_value()
        {
            self.remove(*oldest);
        }
    }

    /// Removes a block if it is there.
    pub(super) fn remove(&mut self, position: u64) {
        if let Some((number, block)) = self.blocks.remove(&position) {
            self.order.remove(&number);
            self.bytes -= room(&block);
        }
    }
}

/// Returns the bytes of memory that a block takes, with about what its place in the cache does.
fn room(block: &Block) -> usize {
    const PLACE: usize = 160;
    block.bytes() + PLACE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Moment, NewEvent};
    use crate::file::block::NewBlock;

    fn block(first: u64) -> Arc<Block> {
        let mut block = NewBlock::at(first);
        block.push(NewEvent::new(vec![0; 1_000]), Moment(1));
        Arc::new(block.into_block())
    }

    #[test]
    fn the_blocks_that_came_last_are_kept_whatever_was_removed_between() {
        let mut cache = Cache::new(4 * room(&block(0)));
        for position in 0..4 {
            cache.add(position, block(position));
        }
        cache.remove(2);
        cache.remove(2);
        cache.add(0, block(0));
        cache.add(4, block(4));
        cache.add(5, block(5));
        let kept: Vec<u64> = (0..6).filter(|one| cache.block(*one).is_some()).collect();
        assert_eq!(kept, [1, 3, 4, 5]);
        (0..6).for_each(|position| cache.remove(position));
        assert_eq!((cache.bytes, cache.order.len()), (0, 0));
    }

    #[test]
    fn one_block_is_kept_that_is_longer_than_the_cache() {
        let mut cache = Cache::new(10);
        cache.add(1, block(1));
        assert!(cache.block(1).is_some());
        cache.add(2, block(2));
        assert!(cache.block(1).is_none() && cache.block(2).is_some());
    }
}
