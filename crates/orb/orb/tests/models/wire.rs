//! What stands for the socket and the server behind it, and the callers that use them: as `lane/outgoing/wait/read.rs`,
//! without what depends on time or on the octets.

use crate::callers::{Caller, Callers, Followed};
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use punctual_exec::Deadline;
use std::time::Duration;

/// In which order the server answers, and when.
#[derive(Clone, Copy)]
pub(crate) enum Answers {
    /// When that many requests have come, first come first served.
    InOrder(usize),
    /// The same, the other way round.
    Reversed(usize),
}

/// What comes to a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Reply(u32),
    Broken,
}

/// Why a caller has no reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    TimedOut,
    Broken,
}

/// Both directions.
struct Wire {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    requests: Vec<u32>,
    replies: Vec<u32>,
    is_closed: bool,
    /// How often it was closed because the connection was retired.
    retirements: u32,
}

/// What the reader holds: loom finds two that use it at once.
pub(crate) struct Inbox(UnsafeCell<()>);

pub(crate) struct Connection {
    pub(crate) callers: Callers<Inbox, Content>,
    wire: Wire,
    answers: Answers,
}

/// A deadline that has passed; see `sync`.
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

    /// A whole call. What comes is the caller's own, or there is a reason.
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

    /// As `ClientConnection::wait`.
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

    /// As `ClientConnection::drain`: somebody who waits for nothing reads what is there.
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
                // Has its own copy of the news delivered, too.
                Err(()) => self.break_off(),
            }
        }
    }

    /// The next reply; `None` when none is there and the deadline has passed.
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
