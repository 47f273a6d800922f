//! Simulated socket and server, and the callers that use them. The callers work as
//! `lane/outgoing/wait/read.rs` does, without the parts that depend on time or on data.

use crate::callers::{Caller, Callers, Followed};
use punctual_exec::Deadline;
use punctual_models::loom::cell::UnsafeCell;
use punctual_models::loom::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Order and time of the modelled server's answers.
#[derive(Clone, Copy)]
pub(crate) enum Answers {
    /// Answers in order of arrival, once the given number of requests has arrived.
    InOrder(usize),
    /// Answers in reverse order, once the given number of requests has arrived.
    Reversed(usize),
}

/// Reply or connection failure that is delivered to a waiting caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Reply(u32),
    Broken,
}

/// Reason why a waiting caller receives no reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    TimedOut,
    Broken,
}

/// Model of a connection with both its directions.
struct Wire {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<u32>,
    replies: Vec<u32>,
    is_closed: bool,
    /// Number of times that the connection was closed because it was retired.
    retirements: u32,
}

/// Data that only the reading caller may access, so that loom detects two that read at once.
pub(crate) struct Inbox(UnsafeCell<()>);

pub(crate) struct Connection {
    pub(crate) callers: Callers<Inbox, Content>,
    wire: Wire,
    answers: Answers,
}

/// Returns a deadline that has passed already; see the module `sync`.
pub(crate) fn passed() -> Deadline {
    Deadline::after(Duration::ZERO)
}

impl Connection {
    pub(crate) fn new(answers: Answers) -> Arc<Self> {
        Arc::new(Self {
            callers: Callers::of(Inbox(UnsafeCell::new(()))),
            wire: Wire {
                state: Mutex::new(State::default()),
                changed: Condvar::new(),
            },
            answers,
        })
    }

    /// Makes a complete call. The caller gets its own reply, or the reason why there is none.
    pub(crate) fn call(&self, deadline: Deadline) -> Result<(), Unanswered> {
        let caller = self.callers.register().unwrap();
        self.send(caller.place.id);
        let waited = self.wait(&caller, deadline);
        let id = caller.place.id;
        self.leave(&caller);
        match waited? {
            Content::Reply(reply) => {
                assert_eq!(reply, id, "another's reply");
                Ok(())
            }
            Content::Broken => Err(Unanswered::Broken),
        }
    }

    pub(crate) fn leave(&self, caller: &Caller<'_, Content>) {
        if self.callers.leave(caller) {
            self.close_retired();
        }
    }

    pub(crate) fn retire(&self) {
        if self.callers.retire() {
            self.close_retired();
        }
    }

    fn close_retired(&self) {
        self.wire.state.lock().unwrap().retirements += 1;
        self.close();
    }

    pub(crate) fn retirements(&self) -> u32 {
        self.wire.state.lock().unwrap().retirements
    }

    pub(crate) fn break_off(&self) {
        self.close();
        self.callers
            .deliver_to_all(|| Content::Broken, |there| *there == Content::Broken);
    }

    fn close(&self) {
        self.wire.state.lock().unwrap().is_closed = true;
        self.wire.changed.notify_all();
    }

    pub(crate) fn send(&self, id: u32) {
        let mut guard = self.wire.state.lock().unwrap();
        let state = &mut *guard;
        state.requests.push(id);
        match self.answers {
            Answers::InOrder(awaited) if state.requests.len() >= awaited => {
                state.replies.append(&mut state.requests);
            }
            Answers::Reversed(awaited) if state.requests.len() >= awaited => {
                state.replies.extend(state.requests.drain(..).rev());
            }
            _ => return,
        }
        drop(guard);
        self.wire.changed.notify_all();
    }

    /// Models waiting for a reply, as `ClientConnection::wait` does.
    pub(crate) fn wait(
        &self,
        caller: &Caller<'_, Content>,
        deadline: Deadline,
    ) -> Result<Content, Unanswered> {
        let inbox = match self.callers.read() {
            Some(inbox) => inbox,
            None => match self.callers.follow(caller, deadline, || ()) {
                Followed::Delivered(content) => return Ok(content),
                Followed::TimedOut => return Err(Unanswered::TimedOut),
                Followed::Reads(inbox) => inbox,
            },
        };
        let read = self.read_until_own(&inbox, caller, deadline);
        self.callers.hand_on(inbox);
        read
    }

    /// Models `ClientConnection::drain`, by which a thread that waits for no reply reads the
    /// available data.
    pub(crate) fn drain(&self) {
        let Some(inbox) = self.callers.read() else {
            return;
        };
        while let Ok(Some(id)) = self.receive(&inbox, passed()) {
            self.callers.deliver(id, Content::Reply(id));
        }
        self.callers.hand_on(inbox);
    }

    fn read_until_own(
        &self,
        inbox: &Inbox,
        caller: &Caller<'_, Content>,
        deadline: Deadline,
    ) -> Result<Content, Unanswered> {
        loop {
            if let Some(content) = caller.place.slot.poll() {
                return Ok(content);
            }
            match self.receive(inbox, deadline) {
                Ok(Some(id)) if id == caller.place.id => {
                    caller.end_with_own_reply();
                    return Ok(Content::Reply(id));
                }
                Ok(Some(id)) => {
                    self.callers.deliver(id, Content::Reply(id));
                }
                Ok(None) => return Err(Unanswered::TimedOut),
                // The report is delivered to this caller, too.
                Err(()) => self.break_off(),
            }
        }
    }

    /// Returns the next reply; `None` if none has arrived and the deadline has passed.
    fn receive(&self, inbox: &Inbox, deadline: Deadline) -> Result<Option<u32>, ()> {
        inbox.0.with_mut(|_| ());
        let mut state = self.wire.state.lock().unwrap();
        loop {
            if !state.replies.is_empty() {
                return Ok(Some(state.replies.remove(0)));
            }
            if state.is_closed {
                return Err(());
            }
            if deadline != Deadline::NEVER {
                return Ok(None);
            }
            state = self.wire.changed.wait(state).unwrap();
        }
    }
}
