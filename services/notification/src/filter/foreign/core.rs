//! A foreign filter. It is asked one event at a time, so that no more calls are under way than such filters are attached. A
//! worker begins the call, as that may have to wait for a connection; the thread that reads the reply goes on.
//!
//! An exception counts as not matched. After a call without an answer, events count as not matched for a while without a
//! call, so that a filter that hangs keeps the events behind it no longer than one call takes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use punctual::{Any, Interface, ObjectRef, OperationError, Orb};
use punctual_events::peer::bounded;

use super::question::{Answer, Asked, Question};
use super::rest::Rest;
use crate::client::Failure;
use crate::common::Common;
use crate::cos_notify_filter::{
    Filter, FilterMatchError, FilterMatchStructuredError, MappingFilter, MappingFilterMatchError,
    MappingFilterMatchStructuredError,
};
use crate::presence::Present;
use crate::reference;
use crate::refusal::Refusal;

/// Filter or mapping filter of another server, as it is attached to one object.
pub(crate) struct Foreign {
    common: Arc<Common>,
    target: Target,
    /// Reference as text, as it is kept.
    text: String,
    turns: Mutex<Turns>,
    /// Count of the service's foreign filters.
    _present: Present,
}

/// Object that is asked.
#[derive(Clone, Debug)]
pub(in crate::filter) enum Target {
    Filter(Filter),
    Mapping(MappingFilter),
}

#[derive(Debug, Default)]
struct Turns {
    waiting: VecDeque<Arc<Question>>,
    /// States that a call is under way, or is to begin.
    is_asking: bool,
    rest: Rest,
}

impl std::fmt::Debug for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Foreign")
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

impl Target {
    fn object(&self) -> &ObjectRef {
        match self {
            Self::Filter(filter) => filter.as_object(),
            Self::Mapping(mapping) => mapping.as_object(),
        }
    }
}

impl Foreign {
    /// Attaches a filter of another server. It is not called.
    ///
    /// # Errors
    /// The service asks no foreign filters, or has as many as it may have; the reference has no text.
    pub(in crate::filter) fn attach(
        common: &Arc<Common>,
        target: Target,
    ) -> Result<Arc<Self>, Refusal> {
        if !common.limits.foreign_filters {
            return Err(Refusal::FilterElsewhere);
        }
        let text = reference::to_text(target.object())?;
        Self::with(common, target, text, common.limits.most_foreign)
    }

    /// Attaches a filter that was kept, whatever the limit.
    ///
    /// # Errors
    /// The text is no reference.
    pub(in crate::filter) fn restore<I: Interface>(
        common: &Arc<Common>,
        (orb, text): (&Orb, &str),
        target: impl FnOnce(I) -> Target,
    ) -> Result<(I, Arc<Self>), Refusal> {
        let filter = I::from_object(reference::of_text(orb, text)?);
        let target = target(filter.clone());
        let foreign = Self::with(common, target, text.to_owned(), usize::MAX)?;
        Ok((filter, foreign))
    }

    fn with(
        common: &Arc<Common>,
        target: Target,
        text: String,
        most: usize,
    ) -> Result<Arc<Self>, Refusal> {
        let present = common.foreign.enter(most).ok_or(Refusal::Full {
            what: "foreign filters",
            option: "most-foreign-filters",
            limit: most,
        })?;
        Ok(Arc::new(Self {
            common: common.clone(),
            target,
            text,
            turns: Mutex::default(),
            _present: present,
        }))
    }

    /// Returns the reference as text.
    pub(in crate::filter) fn text(&self) -> &str {
        &self.text
    }

    /// Hands the next question to a thread: another one if the last call had no answer, so that such filters delay no others.
    fn go_on(self: &Arc<Self>, is_failing: bool) {
        if self.common.is_ending() {
            return self.abandon();
        }
        let own = self.clone();
        let workers = match is_failing {
            true => &self.common.checks,
            false => &self.common.filtering,
        };
        workers.run(move || own.ask_next());
    }

    fn ask_next(self: &Arc<Self>) {
        while let Some((question, rests)) = self.next() {
            if !rests {
                return self.call(question);
            }
            self.common.metrics.filter_failures.add(1);
            question.resolve(Answer::Failed);
        }
    }

    /// Takes the next question out, with whether the filter is not to be asked.
    fn next(&self) -> Option<(Arc<Question>, bool)> {
        // A service that was started again without foreign filters asks none of those that it has kept.
        let asks = self.common.limits.foreign_filters;
        let mut turns = self.turns.lock();
        let next = turns.waiting.pop_front();
        turns.is_asking = next.is_some();
        let rests = !asks || turns.rest.is_on(Instant::now());
        Some((next?, rests))
    }

    fn call(self: &Arc<Self>, question: Arc<Question>) {
        let (own, event) = (self.clone(), question.event().clone());
        let time = self.common.limits.filter_timeout;
        match (&self.target, event.is_any()) {
            (Target::Filter(filter), true) => bounded(filter, time).sendc_match(
                move |outcome: Result<bool, FilterMatchError>| {
                    own.answered(&question, outcome.map(Answer::Match));
                },
                event.any(),
            ),
            (Target::Filter(filter), false) => bounded(filter, time).sendc_match_structured(
                move |outcome: Result<bool, FilterMatchStructuredError>| {
                    own.answered(&question, outcome.map(Answer::Match));
                },
                event.structured(),
            ),
            (Target::Mapping(filter), true) => bounded(filter, time).sendc_match(
                move |outcome: Result<(bool, Any), MappingFilterMatchError>| {
                    own.answered(&question, outcome.map(value));
                },
                event.any(),
            ),
            (Target::Mapping(filter), false) => bounded(filter, time).sendc_match_structured(
                move |outcome: Result<(bool, Any), MappingFilterMatchStructuredError>| {
                    own.answered(&question, outcome.map(value));
                },
                event.structured(),
            ),
        }
    }

    /// Notes what has become of a call. Called by the thread that reads replies; does not block.
    fn answered<E: OperationError>(
        self: &Arc<Self>,
        question: &Question,
        outcome: Result<Answer, E>,
    ) {
        if outcome.is_err() && self.common.is_ending() {
            // Its connections may have ended for that reason: the event stays where it is, also in the log.
            question.cancel();
            return self.abandon();
        }
        let failure = outcome.as_ref().err().map(ToString::to_string);
        let is_silent = outcome.as_ref().err().is_some_and(is_silent);
        if let Some(failure) = &failure {
            self.common.metrics.filter_failures.add(1);
            tracing::debug!(
                "the foreign filter at {} has failed: {failure}",
                self.place()
            );
        }
        let was_failing = self.note(is_silent);
        if is_silent && !was_failing {
            tracing::warn!(
                "the foreign filter at {} does not answer, and lets nothing through until it does: {}",
                self.place(),
                failure.unwrap_or_default(),
            );
        }
        question.resolve(outcome.unwrap_or(Answer::Failed));
        self.go_on(is_silent);
    }

    /// Drops all that wait, at the end of the service: the questions and the filter would keep each other.
    fn abandon(&self) {
        let waiting = {
            let mut turns = self.turns.lock();
            turns.is_asking = false;
            std::mem::take(&mut turns.waiting)
        };
        for question in waiting {
            question.cancel();
        }
    }

    /// Returns the filter's address, for logs.
    fn place(&self) -> String {
        reference::endpoint(self.target.object()).unwrap_or_else(|| "no address".to_owned())
    }

    /// Notes whether the filter was silent; returns whether it was before.
    fn note(&self, is_silent: bool) -> bool {
        let rest = &mut self.turns.lock().rest;
        let was_failing = rest.is_failing();
        match is_silent {
            true => rest.begin(Instant::now(), &self.common.limits),
            false => rest.end(),
        }
        was_failing
    }
}

impl Asked for Foreign {
    fn enqueue(self: Arc<Self>, question: Arc<Question>) {
        let mut turns = self.turns.lock();
        turns.waiting.push_back(question);
        if turns.is_asking {
            return;
        }
        turns.is_asking = true;
        let is_failing = turns.rest.is_failing();
        drop(turns);
        self.go_on(is_failing);
    }
}

/// Returns the value of a mapping filter: that of a constraint, or else its default.
fn value((_, value): (bool, Any)) -> Answer {
    Answer::Value(value)
}

/// Returns whether an exception says that the filter is gone, or has not answered.
fn is_silent<E: OperationError>(error: &E) -> bool {
    error.system().is_some_and(|exception| {
        let failure = Failure::from(exception.clone());
        matches!(failure, Failure::Gone) || failure.is_unanswered()
    })
}
