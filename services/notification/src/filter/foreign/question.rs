//! One event that a foreign filter is asked about. All that wait for the same verdict share the question.

use std::sync::Arc;

use parking_lot::Mutex;
use punctual::Any;

use super::core::Foreign;
use crate::event::Event;

/// Action that follows an answer.
pub(crate) type Waiter = Box<dyn FnOnce() + Send>;

/// Answer of a foreign filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// Whether the event matches.
    Match(bool),
    /// The value of a mapping filter.
    Value(Any),
    /// The filter has raised an exception, or cannot be asked.
    Failed,
}

/// Question whether an event matches, or which value it has.
pub(crate) struct Question {
    foreign: Arc<Foreign>,
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
    fn new(foreign: &Arc<Foreign>, event: &Arc<Event>) -> Self {
        Self {
            foreign: foreign.clone(),
            event: event.clone(),
            state: Mutex::new(State::New),
        }
    }

    pub(crate) fn foreign(&self) -> &Arc<Foreign> {
        &self.foreign
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
        self.foreign.enqueue(self.clone());
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
    pub(crate) fn of(&mut self, foreign: &Arc<Foreign>, event: &Arc<Event>) -> Arc<Question> {
        let known = self.0.iter().find(|one| Arc::ptr_eq(&one.foreign, foreign));
        if let Some(known) = known {
            return known.clone();
        }
        let question = Arc::new(Question::new(foreign, event));
        self.0.push(question.clone());
        question
    }
}
