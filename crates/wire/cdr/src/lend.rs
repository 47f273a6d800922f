//! Large runs of bytes that travel beside a message instead of in it, in memory that both ends
//! share.
//!
//! To an encoder and a decoder such a run counts like bytes of the message: lengths and alignment
//! are the same with and without. Only the link knows how it travels.

use std::fmt::Debug;
use std::sync::Arc;

/// Length in bytes below which runs are never lent: copying them costs less than keeping track of
/// them.
pub(crate) const LENT_AT_LEAST: usize = 1024;

/// Run of message bytes that is stored outside of the message's block.
pub trait Segment: Send + Sync + Debug {
    /// Returns the number of bytes in the segment.
    fn len(&self) -> usize;

    /// Returns whether the segment contains no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes, which do not change while the segment lives. Those of a peer are a
    /// private copy, made at the first call, so that the bytes that were checked are the bytes that
    /// are used.
    fn as_slice(&self) -> &[u8];

    /// Returns the bytes for a reader to which any bytes are valid: a sequence of octets or
    /// numbers. They lie in memory that a peer can still write if the application chose to trust it
    /// not to; otherwise, and once [`Segment::as_slice`] was called, they are the copy that this
    /// returns. No conclusion that must stay true may be drawn from them.
    fn view(&self) -> &[u8] {
        self.as_slice()
    }

    /// Copies the bytes to `to`, which is as long: one copy, straight from the shared memory.
    fn copy_to(&self, to: &mut [u8]);
}

/// Lender of large runs of the messages of a connection whose ends share memory.
pub trait Lender: Send + Sync + Debug {
    /// Returns the length in bytes of the shortest run worth lending.
    fn threshold(&self) -> usize;

    /// Returns the run as a segment: by reference if it lies in lent memory already, else copied
    /// there, once. `None` where it is to be written into the message: it is too short, or no
    /// memory is free.
    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>>;

    /// Copies a run to memory from which other lenders lend it, too, without another copy: those of
    /// connections to several peers that get the same. Returns the copy, whose bytes are then passed
    /// to [`Lender::lend`] of each; `None`, the default, where there is no such memory, or none is
    /// free.
    fn share(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        let _ = octets;
        None
    }
}

/// Segment, and the offset in the block's own bytes at which it is inserted.
#[derive(Clone, Debug)]
pub struct Lent {
    /// Number of the block's own bytes before the segment.
    pub at: usize,
    /// Segment that is inserted at that offset of the block.
    pub segment: Arc<dyn Segment>,
}
