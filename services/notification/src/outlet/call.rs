//! Calls of consumers that are to be answered with events.

use std::sync::Arc;

use punctual::asynchronous::AnswerError;
use punctual::{Any, Response};

use crate::cos_event_comm::{Disconnected, PullSupplierPullError, PullSupplierTryPullError};
use crate::cos_notification::{EventBatch, StructuredEvent};
use crate::cos_notify_comm::{
    SequencePullSupplierPullStructuredEventsError,
    SequencePullSupplierTryPullStructuredEventsError,
    StructuredPullSupplierPullStructuredEventError,
    StructuredPullSupplierTryPullStructuredEventError,
};
use crate::event::Event;
use crate::queue::Numbered;
use crate::refusal::Refusal;

/// Call that is to be answered with events.
#[derive(Debug)]
pub(super) enum Call {
    Any(Response<Any, PullSupplierPullError>),
    TryAny(Response<(Any, bool), PullSupplierTryPullError>),
    Structured(Response<StructuredEvent, StructuredPullSupplierPullStructuredEventError>),
    TryStructured(
        Response<(StructuredEvent, bool), StructuredPullSupplierTryPullStructuredEventError>,
    ),
    /// With the number of events that it takes at most.
    Sequence(
        Response<EventBatch, SequencePullSupplierPullStructuredEventsError>,
        usize,
    ),
    TrySequence(
        Response<(EventBatch, bool), SequencePullSupplierTryPullStructuredEventsError>,
        usize,
    ),
}

/// Applies an expression to the response of a call.
macro_rules! with_response {
    ($call:expr, $response:ident => $what:expr) => {
        match $call {
            Call::Any($response) => $what,
            Call::TryAny($response) => $what,
            Call::Structured($response) => $what,
            Call::TryStructured($response) => $what,
            Call::Sequence($response, _) => $what,
            Call::TrySequence($response, _) => $what,
        }
    };
}

impl Call {
    pub(super) fn is_awaited(&self) -> bool {
        with_response!(self, response => response.is_awaited())
    }

    pub(super) fn raise_disconnected(self) {
        let _ = with_response!(self, response => response.raise(Disconnected));
    }

    pub(super) fn fail(self, refusal: Refusal) {
        let _ = with_response!(self, response => response.fail(refusal));
    }

    /// Returns the number of events that the call takes.
    pub(super) fn most(&self) -> usize {
        match self {
            Self::Sequence(_, most) | Self::TrySequence(_, most) => *most,
            _ => 1,
        }
    }

    /// Returns whether the call waits if there is no event.
    pub(super) fn waits(&self) -> bool {
        matches!(
            self,
            Self::Any(_) | Self::Structured(_) | Self::Sequence(..)
        )
    }

    /// Answers with events, of which there are none only for a call that does not wait.
    pub(super) fn answer(self, events: &[Numbered<Arc<Event>>]) -> Result<(), AnswerError> {
        let first = events.first().map(|one| &one.entry.event);
        let any = || first.map(|event| event.any().clone()).unwrap_or_default();
        let structured = || first.map(|event| event.to_structured()).unwrap_or_default();
        let batch = || {
            let events = events.iter().map(|one| one.entry.event.to_structured());
            events.collect::<EventBatch>()
        };
        let has_event = first.is_some();
        match self {
            Self::Any(response) => response.reply(any()),
            Self::TryAny(response) => response.reply((any(), has_event)),
            Self::Structured(response) => response.reply(structured()),
            Self::TryStructured(response) => response.reply((structured(), has_event)),
            Self::Sequence(response, _) => response.reply(batch()),
            Self::TrySequence(response, _) => response.reply((batch(), has_event)),
        }
    }
}
