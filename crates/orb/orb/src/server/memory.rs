//! Memory of a serving thread, reused from one request to the next.

use punctual_cdr::Block;
use punctual_giop::PlainRequests;
use punctual_link::Connection;
use std::cell::Cell;

/// Buffers of a thread, so that a request on an open connection allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Block into which plain requests ([`PlainRequests`]) are received.
    pub(super) block: Block,
    /// Block in which replies are encoded.
    pub(super) reply: Block,
    /// Header of the last plain request, for faster decoding of similar ones.
    pub(super) requests: PlainRequests,
}

thread_local! {
    static AT_REST: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

impl Memory {
    /// Takes the calling thread's memory. Returns new memory if the thread's is in use by an outer
    /// request, in whose upcall the thread serves this one.
    pub(super) fn take() -> Box<Self> {
        AT_REST
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    /// Returns an empty block into which messages are received.
    #[inline]
    pub(super) fn empty_block(&mut self, link: &dyn Connection) -> &mut Block {
        if self.block.capacity() == 0 {
            self.block = link.lend(0);
        } else {
            self.block.clear();
        }
        &mut self.block
    }

    /// Keeps the memory for the next connection that the thread serves. Blocks that have grown
    /// large are released.
    pub(super) fn rest(mut self: Box<Self>) {
        self.block.reuse();
        self.reply.reuse();
        // If the thread is ending, the memory is freed.
        let _ = AT_REST.try_with(|place| place.set(Some(self)));
    }
}
