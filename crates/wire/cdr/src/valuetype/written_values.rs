//! State of writing valuetypes.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ValueFactory, ValueRef};
use crate::lend::Lender;

/// State of valuetypes written in one message, or in one encapsulation.
#[derive(Default)]
pub(crate) struct WrittenValues<'e> {
    /// Position of each value's tag, by the value's address, which is unique while the value is
    /// held here.
    pub(super) values: HashMap<usize, (usize, ValueRef)>,
    /// Positions of the repository ids written so far.
    pub(super) ids: HashMap<Box<str>, usize>,
    /// Number of chunked values that have begun and not ended.
    pub(super) level: u32,
    /// Chunk that is being written, if there is one.
    pub(super) chunk: Option<Chunk>,
    /// Nesting depth of the calls of [`Encoder::put_value`].
    pub(super) depth: u16,
    /// Factories of the values, each once, where they are recorded.
    pub(super) factories: Option<Vec<Arc<dyn ValueFactory>>>,
    /// Lender of large runs, in use while no chunk is open.
    pub(super) lender: Option<&'e dyn Lender>,
}

/// Chunk of a chunked value that is being written.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    /// Length of the block before the chunk, padding not counted.
    pub(super) before: usize,
    /// Offset of the chunk's first byte in the block.
    pub(super) start: usize,
}

impl std::fmt::Debug for WrittenValues<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WrittenValues")
            .field("values", &self.values.len())
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl WrittenValues<'_> {
    /// Returns whether the next data belongs to a value whose state is in chunks.
    pub(crate) fn is_in_chunks(&self) -> bool {
        self.level > 0
    }
}
