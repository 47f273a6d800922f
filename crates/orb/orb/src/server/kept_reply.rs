//! Replies that are kept beyond their call, and their keepers. [`super::keeping`] has them made and given.

use crate::exception::SystemException;
use crate::relayed::Terms;
use punctual_cdr::ByteOrder;
use punctual_giop::ReplyStatus;
use std::sync::Arc;

/// Receiver of the replies to requests.
pub trait ReplyKeeper: Send + Sync {
    /// Takes the reply to a request, once it is made; `None` if the request may be made again, as it was not begun or is
    /// forwarded, or if its reply is not known. `request` is the keeper's own number of it ([`crate::ServerCall::keep_reply`]).
    /// Called once for each, on the thread that answers; must not block.
    fn ended(&self, request: u64, reply: Option<KeptReply>);
}

/// Reply to a request, without its header. Its bytes are shared by all copies.
#[derive(Clone, Debug)]
pub struct KeptReply(pub(super) Kept);

#[derive(Clone, Debug)]
pub(super) enum Kept {
    /// Results or user exception.
    Body {
        status: ReplyStatus,
        /// `None` for an empty body.
        octets: Option<Arc<[u8]>>,
        /// Position at which the body began, modulo 8.
        phase: u8,
        order: ByteOrder,
        terms: Terms,
    },
    Raised(Arc<SystemException>),
    /// The request was a one-way.
    Nothing,
}

/// Request whose reply is to be kept. If dropped without a reply, the request may be made again.
pub(super) struct Keeper {
    keeper: Arc<dyn ReplyKeeper>,
    request: u64,
    has_ended: bool,
}

impl Keeper {
    #[inline]
    pub(super) fn new(keeper: Arc<dyn ReplyKeeper>, request: u64) -> Self {
        Self {
            keeper,
            request,
            has_ended: false,
        }
    }

    /// Passes on the reply.
    #[inline]
    pub(super) fn end(mut self, reply: Option<KeptReply>) {
        self.has_ended = true;
        self.keeper.ended(self.request, reply);
    }
}

impl Drop for Keeper {
    #[inline]
    fn drop(&mut self) {
        if !self.has_ended {
            self.keeper.ended(self.request, None);
        }
    }
}

impl KeptReply {
    /// Returns the number of bytes of the reply's body.
    #[must_use]
    pub fn octets(&self) -> usize {
        match &self.0 {
            Kept::Body { octets, .. } => octets.as_deref().map_or(0, <[u8]>::len),
            Kept::Raised(_) | Kept::Nothing => 0,
        }
    }
}
