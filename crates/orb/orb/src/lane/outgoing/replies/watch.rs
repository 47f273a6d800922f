//! State of watching for replies of a connection ([`super::watching`]).

use crate::lane::replies::Replies;
use parking_lot::{Condvar, Mutex};
use punctual_exec::Reactor;
use punctual_exec::reactor::Token;
use punctual_sys::clock::nanos;
use punctual_sys::epoll::Interest;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const NANOS_A_MILLISECOND: u64 = 1_000_000;

/// Watchers of one connection's replies, and the thread that reads for them.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct Watch {
    pub(in crate::lane::outgoing) state: Mutex<State>,
    /// Condition on which the connection's own reading thread waits.
    pub(in crate::lane::outgoing) changed: Condvar,
    /// True if a reply has been watched, or was to be, since data last arrived without a watcher.
    is_used: AtomicBool,
    /// Reply thread of the lane, which reads the connection.
    pub(in crate::lane::outgoing) readers: OnceLock<Arc<Replies>>,
    /// Runner of reply handlers, if threads that read for synchronous calls may run them too.
    pub(in crate::lane::outgoing) handlers: OnceLock<Arc<Replies>>,
}

#[derive(Debug, Default)]
pub(in crate::lane::outgoing) struct State {
    pub(in crate::lane::outgoing) watchers: usize,
    /// Deadlines, in nanoseconds of the exact clock, with the request ids of the watchers. A
    /// notified watcher checks its deadline by that clock too, and is not notified again.
    pub(in crate::lane::outgoing) due: BTreeSet<(u64, u32)>,
    pub(in crate::lane::outgoing) reads: Reads,
}

/// Thread that reads the connection on behalf of the watchers of replies.
#[derive(Debug, Default)]
pub(in crate::lane::outgoing) enum Reads {
    #[default]
    Nobody,
    /// Thread of the lane's reactor that reads replies.
    Reactor(Arc<Reactor>, Token),
    /// No thread: the reactor's events are disabled until there is a watcher again.
    Paused(Arc<Reactor>, Token),
    /// A thread dedicated to the connection, for links that a reactor cannot wait for.
    Thread,
}

impl State {
    /// Enables the reactor's events again; data that has already arrived causes an event.
    pub(in crate::lane::outgoing) fn resume(
        &mut self,
        (reactor, token): (Arc<Reactor>, Token),
    ) -> io::Result<()> {
        reactor.set_interest(token, Interest::Read)?;
        self.reads = Reads::Reactor(reactor, token);
        Ok(())
    }

    /// Makes the reactor check deadlines when the earliest of them has passed.
    pub(in crate::lane::outgoing) fn set_deadline(&self) {
        if let (Reads::Reactor(reactor, token), Some((due, _))) = (&self.reads, self.due.first()) {
            let left = due.saturating_sub(nanos());
            // The reactor counts whole milliseconds and may be a tick early: then the rest is set
            // again.
            let millis = left.div_ceil(NANOS_A_MILLISECOND);
            reactor.set_deadline(*token, Some(Duration::from_millis(millis)));
        }
    }

    /// Removes the watchers whose deadlines have passed, and returns their ids.
    pub(in crate::lane::outgoing) fn take_overdue(&mut self) -> Vec<u32> {
        let now = nanos();
        let later = self.due.split_off(&(now + 1, 0));
        let overdue = std::mem::replace(&mut self.due, later);
        overdue.into_iter().map(|(_, id)| id).collect()
    }
}

impl Watch {
    /// Records that a reply on the connection is watched, or was to be and is there already.
    pub(super) fn record_use(&self) {
        // Relaxed: a thread that sees a late value of the flag reads once more or once less.
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// Returns whether that has been recorded since this function was last called.
    pub(super) fn take_use(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Waits until there is a watcher, or `most` has passed.
    pub(in crate::lane::outgoing) fn wait(&self, most: Duration) {
        let mut state = self.state.lock();
        if state.watchers == 0 {
            let _timed_out = self.changed.wait_for(&mut state, most);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        match &self.state.get_mut().reads {
            Reads::Reactor(reactor, token) | Reads::Paused(reactor, token) => {
                reactor.deregister(*token);
            }
            Reads::Nobody | Reads::Thread => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_exec::Deadline;

    #[test]
    fn nobody_is_told_before_its_deadline_has_passed() {
        for micros in (100..30_000).step_by(700) {
            let deadline = Deadline::after(Duration::from_micros(micros));
            let mut state = State::default();
            state.due.extend(deadline.end_nanos().map(|end| (end, 7)));
            while state.take_overdue().is_empty() {
                std::thread::yield_now();
            }
            assert!(deadline.has_passed());
        }
    }
}
