//! Replies that are made once and given again, so that a repeat of the request is answered without another upcall.
//!
//! [`ServerCall::keep_reply`] dispatches a request and passes its reply to a [`ReplyKeeper`] once it is made: before it is
//! sent, or later for a servant that answers later. [`ServerCall::repeat`] answers another request with a kept reply, by any
//! protocol, as its body is kept without the header.

use super::call::{Dispatched, MadeReply, ServerCall};
use super::kept_reply::{Keeper, Kept, KeptReply, ReplyKeeper};
use crate::adapter::DispatchError;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
};
use crate::relayed::{RawBody, Terms};
use punctual_cdr::{ByteOrder, GiopVersion};
use punctual_giop::{ReplyStatus, ServiceContexts};
use std::sync::Arc;

/// Call that is being dispatched. If dropped by a panic of the servant, the reply is the exception that its caller gets.
struct Dispatching<'c, 'm>(&'c mut ServerCall<'m>);

impl Drop for Dispatching<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(keeper) = self.0.keeper.take() {
            keep_panic(keeper);
        }
    }
}

#[cold]
fn keep_panic(keeper: Keeper) {
    let (kind, minor) = (Kind::Unknown, minor::SERVANT_PANICKED);
    let exception = SystemException::new(kind, minor, CompletionStatus::Maybe);
    keeper.end(Some(KeptReply(Kept::Raised(Arc::new(exception)))));
}

impl ServerCall<'_> {
    /// Dispatches the request by `dispatch`, and passes its reply to the keeper, with the keeper's number of the request. With a
    /// servant that answers later, that is when it answers. Allocates for the reply's body alone. A call has one keeper: one
    /// that is set by `dispatch` takes the place of this one, whose request may then be made again.
    ///
    /// # Errors
    /// Those of `dispatch`.
    #[inline]
    pub fn keep_reply(
        &mut self,
        keeper: Arc<dyn ReplyKeeper>,
        request: u64,
        dispatch: impl FnOnce(&mut Self) -> Result<Dispatched, DispatchError>,
    ) -> Result<Dispatched, DispatchError> {
        self.keeper = Some(Keeper::new(keeper, request));
        let dispatching = Dispatching(self);
        let call = &mut *dispatching.0;
        let answered = dispatch(call);
        if let Some(keeper) = call.keeper.take() {
            call.join_results();
            keeper.end(KeptReply::of(call, &answered));
        }
        answered
    }

    /// Answers the request with the reply to an earlier one.
    ///
    /// # Errors
    /// The system exception that was the reply; INTERNAL, COMPLETED_YES, if the reply cannot be encoded for this connection:
    /// it has another GIOP version or other code sets than that of the earlier request.
    pub fn repeat(&mut self, reply: &KeptReply) -> Result<Dispatched, DispatchError> {
        let (status, octets, phase, order, terms) = match &reply.0 {
            Kept::Raised(exception) => return Err((**exception).clone().into()),
            Kept::Nothing => return self.reply(|_| Ok(())),
            Kept::Body {
                status,
                octets,
                phase,
                order,
                terms,
            } => (*status, octets, usize::from(*phase), *order, *terms),
        };
        let octets = octets.as_deref().unwrap_or_default();
        if !self.expects_reply() || self.answered {
            return Ok(Dispatched(()));
        }
        if terms != self.terms() {
            return Err(other_terms().into());
        }
        if terms.version == GiopVersion::V1_2 && order == ByteOrder::NATIVE {
            return self.answer(status, |out| {
                out.put_bytes(octets);
                Ok(())
            });
        }
        let body = RawBody::from_parts(octets, phase, order, terms.version);
        let block = self.encode_with(status, ServiceContexts::none(), &body);
        *self.reply = block.map_err(|error| cdr_exception(error, CompletionStatus::Yes))?;
        self.made = MadeReply::PassedBack;
        Ok(Dispatched(()))
    }

    fn terms(&self) -> Terms {
        Terms {
            version: self.version,
            code_sets: self.arguments.coding().code_sets,
        }
    }

    /// Returns the body of a usual reply, which stands after a prepared header.
    fn plain_body(&self) -> Option<&[u8]> {
        let is_plain = self.made == MadeReply::Answer(ReplyStatus::NoException)
            && self.version == GiopVersion::V1_2
            && self.reply_contexts.is_none()
            && self.reply.lent().is_empty();
        let head = self.conversation.results()?.head_length();
        is_plain.then(|| self.reply.get(head..).unwrap_or_default())
    }
}

impl KeptReply {
    /// Returns the reply of a call to be kept.
    pub(super) fn of(
        call: &ServerCall<'_>,
        answered: &Result<Dispatched, DispatchError>,
    ) -> Option<Self> {
        match answered {
            Err(DispatchError::System(exception)) if exception.is_not_begun() => None,
            Err(DispatchError::System(exception)) => {
                Some(Self(Kept::Raised(Arc::new(exception.clone()))))
            }
            Err(_) => None,
            Ok(_) if call.has_reply() => Self::of_made(call),
            // The reply will come from another thread, which has no keeper.
            Ok(_) if call.answered && call.response.response_expected() && !call.is_early() => None,
            Ok(_) => Some(Self(Kept::Nothing)),
        }
    }

    fn of_made(call: &ServerCall<'_>) -> Option<Self> {
        let shared = |octets: &[u8]| (!octets.is_empty()).then(|| Arc::from(octets));
        let (status, octets, phase, order) = match call.plain_body() {
            Some(body) => (ReplyStatus::NoException, shared(body), 0, ByteOrder::NATIVE),
            None => {
                let (status, body) = call.made_body()?;
                let octets = shared(&body.to_vec());
                (status, octets, (body.phase() % 8) as u8, body.order())
            }
        };
        Some(Self(Kept::Body {
            status,
            octets,
            phase,
            order,
            terms: call.terms(),
        }))
    }
}

#[cold]
fn other_terms() -> SystemException {
    let (kind, minor) = (Kind::Internal, 0);
    SystemException::new(kind, minor, CompletionStatus::Yes).with_detail(
        "the request was answered before, and its reply is kept in a GIOP version or code sets that this connection does \
         not have",
    )
}
