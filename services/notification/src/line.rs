//! Events of one proxy that wait for verdicts of foreign filters, in their order.
//!
//! One thread at a time moves the line: the one that finds it at rest, and then each that brings an answer. While there is
//! no answer to the question about the first event, none moves it. Events that need no verdict wait behind those that do.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::filter::{Asked, Question, Waiter};
use crate::group::Group;
use crate::inquiry::{Inquiry, Step};
use crate::queue::Bounds;

/// Line of events.
pub(crate) struct Line {
    bounds: Bounds,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Inquiry>,
    bytes: usize,
    is_moving: bool,
    /// Foreign filter that counts as present until the last event is released, so that none takes the way without filters
    /// meanwhile.
    present: Option<Arc<dyn Asked>>,
    /// States that the proxy is to hear of the end.
    tells_end: bool,
    is_closed: bool,
}

/// Place of an event that joins a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The caller has to move the line.
    First,
    Behind,
    /// There is no room for the event.
    Full,
    /// The line has been closed.
    Closed,
}

/// Next step of a line.
enum Next {
    Ask(Arc<Question>),
    /// An event, and whether it passes.
    Release(Box<Inquiry>, bool),
    /// No event waits, and the proxy is to hear of it or not.
    End(bool),
}

/// Proxy whose events wait in a line.
pub(crate) trait Asking {
    fn line(&self) -> &Line;

    fn group(&self) -> &Group;

    /// Returns the action that moves the line when an answer has come.
    fn waiter(&self) -> Waiter;

    /// Goes on with an event that the filters let through, or not.
    fn decided(&self, inquiry: Inquiry, passes: bool);

    /// Goes on when no event waits any more, if that was asked for.
    fn emptied(&self);
}

/// Moves the line of a proxy as far as answers have come. Does not block.
pub(crate) fn advance(asking: &dyn Asking) {
    loop {
        match asking.line().next(asking.group()) {
            Next::Ask(question) => {
                if !question.ask(asking.waiter()) {
                    return;
                }
            }
            Next::Release(inquiry, passes) => asking.decided(*inquiry, passes),
            Next::End(tells) => {
                if tells {
                    asking.emptied();
                }
                return;
            }
        }
    }
}

impl Line {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            state: Mutex::default(),
        }
    }

    /// Adds an event. Those of the log come only if there is room.
    pub(crate) fn join(&self, inquiry: Inquiry) -> Place {
        let mut state = self.state.lock();
        if state.is_closed {
            return Place::Closed;
        }
        let bytes = inquiry.event.bytes();
        if inquiry.position.is_none() && !self.has_room_in(&state, bytes) {
            return Place::Full;
        }
        state.bytes = state.bytes.saturating_add(bytes);
        let is_first = !std::mem::replace(&mut state.is_moving, true);
        if state.present.is_none() {
            state.present = inquiry.foreign().cloned();
        }
        state.waiting.push_back(inquiry);
        match is_first {
            true => Place::First,
            false => Place::Behind,
        }
    }

    /// Returns whether events wait, or are being released.
    pub(crate) fn is_moving(&self) -> bool {
        self.state.lock().is_moving
    }

    /// Returns the number of events, and of their bytes.
    pub(crate) fn size(&self) -> Bounds {
        let state = self.state.lock();
        Bounds {
            events: state.waiting.len(),
            bytes: state.bytes,
        }
    }

    /// Returns the time at which the channel received the first event.
    pub(crate) fn first_received(&self) -> Option<Instant> {
        let state = self.state.lock();
        Some(state.waiting.front()?.event.received())
    }

    /// Returns whether there is room for an event of so many bytes.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let state = self.state.lock();
        self.has_room_in(&state, bytes)
    }

    fn has_room_in(&self, state: &State, bytes: usize) -> bool {
        let bytes = state.bytes.saturating_add(bytes);
        // An empty line has room for any event.
        state.waiting.is_empty()
            || (state.waiting.len() < self.bounds.events && bytes <= self.bounds.bytes)
    }

    /// Returns the most events that wait.
    pub(crate) fn most(&self) -> usize {
        self.bounds.events
    }

    /// Tells the proxy when no event waits any more; returns false if none does now.
    pub(crate) fn tell_end(&self) -> bool {
        let mut state = self.state.lock();
        state.tells_end = state.is_moving;
        state.is_moving
    }

    /// Takes all events out, and takes none from now on.
    pub(crate) fn close(&self) -> VecDeque<Inquiry> {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.bytes = 0;
        std::mem::take(&mut state.waiting)
    }

    /// Drops all events and what waits for their verdicts, at the end of the service.
    pub(crate) fn cancel(&self) {
        for question in self.close().iter().flat_map(Inquiry::questions) {
            question.cancel();
        }
    }

    fn next(&self, group: &Group) -> Next {
        let mut state = self.state.lock();
        let Some(first) = state.waiting.front_mut() else {
            state.is_moving = false;
            let present = state.present.take();
            let tells_end = std::mem::take(&mut state.tells_end);
            drop(state);
            drop(present);
            return Next::End(tells_end);
        };
        let passes = match first.step(group) {
            Step::Ask(question) => return Next::Ask(question),
            Step::Decided(passes) => passes,
        };
        match state.waiting.pop_front() {
            Some(inquiry) => {
                state.bytes = state.bytes.saturating_sub(inquiry.event.bytes());
                Next::Release(Box::new(inquiry), passes)
            }
            None => Next::End(false),
        }
    }
}
