//! What a thread that serves has at hand, from one request to the next.

use punctual_cdr::Block;
use punctual_giop::PlainRequests;
use punctual_link::Connection;
use std::cell::Cell;

/// Memory of a thread's, so that a warm request allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What plain requests are received into.
    pub(super) block: Block,
    /// What replies are made in.
    pub(super) reply: Block,
    /// The last plain request's head.
    pub(super) requests: PlainRequests,
}

thread_local! {
    static AT_REST: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

impl Memory {
    /// The calling thread's, or new one where that is in use: by the request in whose upcall the thread
    /// serves another.
    pub(super) fn take() -> Box<Self> {
        AT_REST
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    /// A block to receive into.
    #[inline]
    pub(super) fn empty_block(&mut self, link: &dyn Connection) -> &mut Block {
        if self.block.capacity() == 0 {
            self.block = link.lend(0);
        } else {
            self.block.clear();
        }
        &mut self.block
    }

    /// Keeps it for the next connection that the thread serves. What has grown large is let go of.
    pub(super) fn rest(mut self: Box<Self>) {
        self.block.reuse();
        self.reply.reuse();
        // A thread that is ending frees it.
        let _ = AT_REST.try_with(|place| place.set(Some(self)));
    }
}
