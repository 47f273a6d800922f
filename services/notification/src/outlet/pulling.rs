//! Calls of consumers that pull. A call that finds no event waits without a thread, and is answered by the thread that
//! brings the event.

use std::sync::Arc;

use punctual::asynchronous::AnswerError;
use punctual::{Any, Response};

use super::Outlet;
use super::delivery::Unwaited;
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
    fn most(&self) -> usize {
        match self {
            Self::Sequence(_, most) | Self::TrySequence(_, most) => *most,
            _ => 1,
        }
    }

    /// Returns whether the call waits if there is no event.
    fn waits(&self) -> bool {
        matches!(
            self,
            Self::Any(_) | Self::Structured(_) | Self::Sequence(..)
        )
    }

    /// Answers with events, of which there are none only for a call that does not wait.
    fn answer(self, events: &[Numbered<Arc<Event>>]) -> Result<(), AnswerError> {
        let first = events.first().map(|one| &one.entry.event);
        let any = || first.map(|event| event.any().clone()).unwrap_or_default();
        let structured = || {
            first
                .map(|event| event.structured().clone())
                .unwrap_or_default()
        };
        let batch = || {
            let events = events
                .iter()
                .map(|one| one.entry.event.structured().clone());
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

impl Outlet {
    /// Answers a call of the consumer, now or when there is an event.
    pub(super) fn called(&self, call: Call) {
        if self.base.connection.used().is_err() {
            return call.raise_disconnected();
        }
        let has_events = self.delivery.lock().queue.len() > 0;
        match has_events || !call.waits() {
            true => self.answer(call),
            false => self.wait(call),
        }
    }

    fn wait(&self, call: Call) {
        let most = self.base.common.limits.waiting_pulls;
        match self.delivery.lock().wait(call, most) {
            Ok(()) => {}
            Err(Unwaited::Closed(call)) => return call.raise_disconnected(),
            Err(Unwaited::TooMany(call)) => return call.fail(Refusal::TooManyPulls(most)),
        }
        if self.base.common.is_ending() {
            return self.release_calls();
        }
        // An event may have come meanwhile.
        self.answer_calls();
    }

    /// Answers the calls that wait, as long as there are events.
    pub(super) fn answer_calls(&self) {
        loop {
            let Some(call) = self.delivery.lock().next_call() else {
                return;
            };
            if call.is_awaited() {
                self.answer(call);
            }
        }
    }

    fn answer(&self, call: Call) {
        let taken = self.delivery.lock().take(call.most());
        let metrics = &self.base.common.metrics;
        if taken.expired > 0 {
            metrics.expired.add(taken.expired);
        }
        if taken.events.is_empty() && call.waits() {
            // The life of all events had ended.
            let unwaited = self.delivery.lock().wait_again(call);
            return unwaited.map_or((), Call::raise_disconnected);
        }
        match call.answer(&taken.events) {
            Err(AnswerError::NobodyWaits | AnswerError::TimedOut) => {
                let lost = self.delivery.lock().put_back(taken.events);
                self.count(lost.unwrap_or_default());
            }
            _ => metrics.pulled.add(taken.events.len()),
        }
    }
}
