//! The connections that clients have opened, as their lane knows them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// A connection that a client opened.
pub(crate) trait Accepted: Send + Sync + Debug {
    /// The number of the endpoint it came in at.
    fn endpoint(&self) -> u64;

    /// No new requests; CloseConnection when the last one in progress has been answered.
    fn say_goodbye(&self);

    /// Where it stands, if nobody receives there at the moment and no reply is being sent: a number that
    /// changes with each message.
    fn stands_still_at(&self) -> Option<u64>;

    /// The upcall there takes long: sends the replies that wait for it, and has another thread receive if
    /// there is more to.
    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64);
}

/// Those of one lane. They belong to the threads that serve them.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    state: Mutex<State>,
    /// A client has come or gone, or the end has come.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    next: u64,
    open: BTreeMap<u64, Weak<dyn Accepted>>,
}

impl Connections {
    pub(crate) fn len(&self) -> usize {
        self.lock().open.len()
    }

    /// One more; what it is to [`Connections::leave`] with.
    pub(crate) fn join(&self, connection: Weak<dyn Accepted>) -> u64 {
        let mut state = self.lock();
        let id = state.next;
        state.next += 1;
        state.open.insert(id, connection);
        self.changed.notify_all();
        id
    }

    pub(crate) fn leave(&self, id: u64) {
        self.lock().open.remove(&id);
        self.changed.notify_all();
    }

    /// Says goodbye to those that came in at such endpoints; their calls in progress finish.
    pub(super) fn say_goodbye(&self, came_in_at: impl Fn(u64) -> bool) {
        let open: Vec<_> = self.lock().open.values().cloned().collect();
        for connection in open.iter().filter_map(Weak::upgrade) {
            if came_in_at(connection.endpoint()) {
                connection.say_goodbye();
            }
        }
    }

    /// Says goodbye to all; nobody is waited for any more.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
        self.say_goodbye(|_| true);
    }

    pub(super) fn wait_until_none(&self) {
        let mut state = self.lock();
        while !state.open.is_empty() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a client is connected, then for `interval`; `None` when there will be no more.
    pub(super) fn after(&self, interval: Duration) -> Option<Vec<(u64, Arc<dyn Accepted>)>> {
        let mut state = self.lock();
        while state.open.is_empty() && !state.closed {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let waited = self
            .changed
            .wait_timeout_while(state, interval, |state| !state.closed);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        // Dropping the last hold on one takes the lock again: they are dropped by the caller.
        let open = state.open.iter();
        let held = open.filter_map(|(&number, one)| Some((number, one.upgrade()?)));
        (!state.closed).then(|| held.collect())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
