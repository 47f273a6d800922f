//! Blocks of a log in memory: the last ones that were appended or read, up to a number of bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::block::Block;

/// Cache of blocks, by their positions. The one that came first leaves first.
#[derive(Debug)]
pub(super) struct Cache {
    blocks: HashMap<u64, Arc<Block>>,
    order: VecDeque<u64>,
    bytes: usize,
    most_bytes: usize,
}

impl Cache {
    /// Creates an empty cache of at most `most_bytes` bytes, or of one block that is longer.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self {
            blocks: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
            most_bytes,
        }
    }

    pub(super) fn block(&self, position: u64) -> Option<Arc<Block>> {
        self.blocks.get(&position).cloned()
    }

    pub(super) fn add(&mut self, position: u64, block: Arc<Block>) {
        let bytes = block.bytes();
        if self.blocks.insert(position, block).is_some() {
            return;
        }
        self.order.push_back(position);
        self.bytes += bytes;
        while self.bytes > self.most_bytes && self.order.len() > 1 {
            if let Some(oldest) = self.order.pop_front() {
                self.forget(oldest);
            }
        }
    }

    /// Removes a block that is deleted.
    pub(super) fn remove(&mut self, position: u64) {
        if self.blocks.contains_key(&position) {
            self.order.retain(|one| *one != position);
            self.forget(position);
        }
    }

    fn forget(&mut self, position: u64) {
        let block = self.blocks.remove(&position);
        self.bytes -= block.map_or(0, |block| block.bytes());
    }
}
