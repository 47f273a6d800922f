//! One event that a foreign filter is asked about. All that wait for the same verdict share the question.

use std::sync::Arc;

use parking_lot::Mutex;
use punctual::Any;

use crate::event::Event;

/// Action that follows an answer.
pub(crate) type Waiter = Box<dyn FnOnce() + Send>;

/// Answer of a foreign filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// States whether the event matches.
    Match(bool),
    /// The value of a mapping filter.
    Value(Any),
    /// The filter has raised an exception, or cannot be asked.
    Failed,
}

/// Filter that is asked.
pub(crate) trait Asked: Send + Sync + 'static {
    /// Asks the filter, once it has answered the questions that wait. Does not block.
    fn enqueue(self: Arc<Self>, question: Arc<Question>);
}

/// Question whether an event matches, or which value it has.
pub(crate) struct Question {
    filter: Arc<dyn Asked>,
    event: Arc<Event>,
    state: Mutex<State>,
}

enum State {
    New,
    /// The filter is to be asked, and these wait.
    Asked(Vec<Waiter>),
    Answered(Answer),
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question").finish_non_exhaustive()
    }
}

impl Question {
    /// Returns the filter.
    pub(crate) fn filter(&self) -> &Arc<dyn Asked> {
        &self.filter
    }

    pub(super) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Returns the answer, if there is one.
    pub(crate) fn answer(&self) -> Option<Answer> {
        match &*self.state.lock() {
            State::Answered(answer) => Some(answer.clone()),
            _ => None,
        }
    }

    /// Asks the filter, once for all that wait. Returns whether there is an answer already; else the waiter follows it. Does
    /// not block.
    pub(crate) fn ask(self: &Arc<Self>, waiter: Waiter) -> bool {
        {
            let mut state = self.state.lock();
            match &mut *state {
                State::Answered(_) => return true,
                State::Asked(waiters) => {
                    waiters.push(waiter);
                    return false;
                }
                State::New => *state = State::Asked(vec![waiter]),
            }
        }
        self.filter.clone().enqueue(self.clone());
        false
    }

    /// Notes the answer, and goes on with all that wait.
    pub(super) fn resolve(&self, answer: Answer) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Answered(answer));
        if let State::Asked(waiters) = before {
            for waiter in waiters {
                waiter();
            }
        }
    }

    /// Drops all that wait, at the end of the service.
    pub(crate) fn cancel(&self) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Answered(Answer::Failed));
        drop(before);
    }
}

/// Questions about one event, which consumers with the same foreign filter share.
#[derive(Debug, Default)]
pub(crate) struct Questions(Vec<Arc<Question>>);

impl Questions {
    /// Returns the question that a filter is asked about the event.
    pub(crate) fn of<F: Asked>(&mut self, filter: &Arc<F>, event: &Arc<Event>) -> Arc<Question> {
        let is_of_it =
            |one: &&Arc<Question>| std::ptr::addr_eq(Arc::as_ptr(&one.filter), Arc::as_ptr(filter));
        if let Some(known) = self.0.iter().find(is_of_it) {
            return known.clone();
        }
        let question = Arc::new(Question {
            filter: filter.clone(),
            event: event.clone(),
            state: Mutex::new(State::New),
        });
        self.0.push(question.clone());
        question
    }
}
