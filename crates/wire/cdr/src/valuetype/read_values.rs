//! State of reading valuetypes.

use std::borrow::Cow;
use std::sync::Arc;

use super::graph::Node;
use super::{Graph, ValueFactory, ValueState};

/// State of valuetypes read in one message, or in one encapsulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadValues<'d> {
    /// Graph of all values of the message, if there are any.
    pub(super) graph: Option<Graph>,
    /// Position of the first value's tag in the message.
    pub(super) first: usize,
    /// Distances of the tags of all values from the first, ascending, and the values' indices in
    /// the graph: a message has no more bytes than a `u32` counts.
    pub(super) values: Vec<(u32, u32)>,
    /// Repository ids read so far, in the order of their positions.
    pub(super) ids: Vec<KnownId<'d>>,
    /// Lists of repository ids read, in the order of their positions: each list's position, and the
    /// indices of its elements in `ids`.
    pub(super) lists: Vec<(usize, Arc<[usize]>)>,
    /// Positions of the codebase URLs in the message, ascending.
    pub(super) codebases: Vec<usize>,
    /// Number of chunked values that have begun and not ended.
    pub(super) level: u32,
    /// Level of the value whose state is being read; 0 if it is not in chunks.
    pub(super) reading: u32,
    /// Offset in the message at which the current chunk ends, or the last one ended; `None` outside
    /// of chunked values.
    pub(crate) chunk_end: Option<usize>,
    /// Number of values whose states are being read.
    pub(super) open: usize,
    /// Number of parts into which the states of values without generated code were split.
    pub(super) parts: usize,
    /// Values whose states are read on once the values that they contain have been read.
    pub(super) waiting: Waiting,
}

/// Excluded from clones: a clone does not finish the states that the original has begun.
#[derive(Default)]
pub(super) struct Waiting(pub(super) Vec<Open>);

impl Clone for Waiting {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waiting({} values)", self.0.len())
    }
}

impl ReadValues<'_> {
    pub(super) fn graph(&mut self) -> &Graph {
        self.graph.get_or_insert_with(Graph::new)
    }

    /// Returns a copy with only the current chunk, if there is one, and no values.
    pub(crate) fn chunk_alone(&self) -> Option<Box<Self>> {
        let chunk = || Self {
            level: self.level,
            reading: self.reading,
            chunk_end: self.chunk_end,
            ..Self::default()
        };
        (self.level > 0).then(|| Box::new(chunk()))
    }
}

/// Repository id that was read from a message.
#[derive(Clone)]
pub(super) struct KnownId<'d> {
    /// Position of the repository id in the message.
    pub(super) at: usize,
    pub(super) id: Cow<'d, str>,
    /// Factory registered for it, if any; the outer `None` before the look-up.
    pub(super) registered: Option<Option<Arc<dyn ValueFactory>>>,
}

impl std::fmt::Debug for KnownId<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.id, self.at)
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.factory().repository_id())
    }
}

/// Value whose state is being read.
pub(super) struct Open {
    pub(super) node: Arc<Node>,
    pub(super) state: Box<dyn ValueState>,
    pub(super) step: usize,
    /// Nesting level of the value if it is chunked.
    pub(super) level: Option<u32>,
    /// `true` if the rest of its state is skipped: it is truncated, or user code reads it.
    pub(super) is_cut: bool,
}
