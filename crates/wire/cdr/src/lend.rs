//! Large runs of octets that travel beside a message instead of in it, in memory that both ends share.
//!
//! To an encoder and a decoder such a run counts like octets of the message: lengths and alignment are
//! the same with and without. Only the link knows how it travels.

use std::fmt::Debug;
use std::sync::Arc;

/// Runs shorter than this are never lent: copying them costs less than keeping track of them.
pub(crate) const LENT_AT_LEAST: usize = 1024;

/// A run of octets outside of a block.
pub trait Segment: Send + Sync + Debug {
    /// How many octets.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The octets, which do not change while the segment lives. Those of a peer are a private copy, made at
    /// the first call, so that what was checked is what is used.
    fn as_slice(&self) -> &[u8];

    /// The octets for a reader to whom any octets are values: a sequence of octets or numbers. They lie in
    /// memory that a peer can still write where the application chose to trust it to leave them alone;
    /// otherwise, and once [`Segment::as_slice`] was called, they are what that returns. Nothing is to be
    /// concluded from them that must stay so.
    fn view(&self) -> &[u8] {
        self.as_slice()
    }

    /// Copies the octets to `to`, which is as long: one copy, straight from the shared memory.
    fn copy_to(&self, to: &mut [u8]);
}

/// Takes large runs out of the messages of a connection whose ends share memory.
pub trait Lender: Send + Sync + Debug {
    /// The shortest run worth it, in octets.
    fn threshold(&self) -> usize;

    /// The run as a segment: by reference if it lies in lent memory already, else copied there, once.
    /// `None` where it is to be written into the message like any other: too short for that, or no
    /// memory is free.
    fn lend(&self, octets: &[u8]) -> Option<Arc<dyn Segment>>;
}

/// A segment, and the offset in its block's own octets before which it stands.
#[derive(Clone, Debug)]
pub struct Lent {
    /// Octets of the block before it.
    pub at: usize,
    /// The octets that stand there.
    pub segment: Arc<dyn Segment>,
}
