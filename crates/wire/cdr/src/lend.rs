//! Large runs of bytes that travel beside a message instead of in it, in memory that both ends
//! share.
//!
//! To an encoder and a decoder such a run counts like bytes of the message: lengths and alignment
//! are the same with and without. Only the link knows how it travels.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

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

    /// Returns whether the run is left out of the message, after `at` of its own bytes, because it is sent from where it
    /// lies. Default no.
    fn leaves_out(&self, octets: &[u8], at: usize) -> bool {
        let _ = (octets, at);
        false
    }

    /// Copies a run to memory from which other lenders lend it, too, without another copy: those of
    /// connections to several peers that get the same. Returns the copy, whose bytes are then passed
    /// to [`Lender::lend`] of each; `None`, the default, where there is no such memory, or none is
    /// free.
    fn share(&self, octets: &[u8]) -> Option<Arc<dyn Segment>> {
        let _ = octets;
        None
    }
}

/// Copy of a run that goes into several messages, in memory from which the lenders of several
/// connections lend. It is made by [`Lender::share`] of the first message that has such a lender, and
/// its memory is free once neither this nor a message or peer holds it.
///
/// Clones have the same copy. No lock is held while the run is copied: threads that write the first
/// messages at the same moment may copy it once each, and one copy stays.
#[derive(Clone, Debug, Default)]
pub struct SharedCopy(OnceLock<Arc<dyn Segment>>);

impl SharedCopy {
    /// Returns the bytes of the copy, which is made if there is none yet; `run` itself where the
    /// lender shares nothing. The run has to be the same each time.
    pub(crate) fn of<'r>(&'r self, run: &'r [u8], lender: &dyn Lender) -> &'r [u8] {
        if self.0.get().is_none()
            && let Some(copy) = lender.share(run)
        {
            // Another thread may have been first.
            let _ = self.0.set(copy);
        }
        let copy = self.0.get().map(|copy| copy.as_slice());
        let copy = copy.filter(|copy| copy.len() == run.len());
        copy.unwrap_or(run)
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

/// Lender of nothing: the message is one stretch.
#[derive(Debug)]
pub(crate) struct OneStretch;

impl Lender for OneStretch {
    fn threshold(&self) -> usize {
        usize::MAX
    }

    fn lend(&self, _: &[u8]) -> Option<Arc<dyn Segment>> {
        None
    }
}
