//! Who watches for replies of a connection, and who reads for them ([`super::watching`]).

use parking_lot::{Condvar, Mutex};
use punctual_exec::Reactor;
use punctual_exec::reactor::Token;
use punctual_sys::clock::coarse_millis;
use punctual_sys::epoll::Interest;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Who watches for replies of one connection, and who reads for them.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) state: Mutex<State>,
    /// What a thread of the connection's own waits for.
    pub(super) changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) watchers: usize,
    /// When which of them is told that its time is over, in milliseconds of the coarse clock.
    pub(super) due: BTreeSet<(u64, u32)>,
    pub(super) reads: Reads,
}

/// Who reads for them.
#[derive(Debug, Default)]
pub(super) enum Reads {
    #[default]
    Nobody,
    /// The thread of the lane's reactor for replies.
    Reactor(Arc<Reactor>, Token),
    /// Nobody: that thread is to be told of nothing until somebody watches again.
    Paused(Arc<Reactor>, Token),
    /// A thread of the connection's own: its link can be waited for in no other way.
    Thread,
}

impl State {
    /// The reactor tells of what comes again, and of what is there.
    pub(super) fn resume(&mut self, (reactor, token): (Arc<Reactor>, Token)) -> io::Result<()> {
        reactor.set_interest(token, Interest::Read)?;
        self.reads = Reads::Reactor(reactor, token);
        Ok(())
    }

    /// Has the reactor look at deadlines when the first of them has passed.
    pub(super) fn set_deadline(&self) {
        if let (Reads::Reactor(reactor, token), Some((due, _))) = (&self.reads, self.due.first()) {
            let left = due.saturating_sub(coarse_millis());
            reactor.set_deadline(*token, Some(Duration::from_millis(left)));
        }
    }

    /// Those whose time is over.
    pub(super) fn take_overdue(&mut self) -> Vec<u32> {
        let now = coarse_millis();
        let later = self.due.split_off(&(now + 1, 0));
        let overdue = std::mem::replace(&mut self.due, later);
        overdue.into_iter().map(|(_, id)| id).collect()
    }
}

impl Watch {
    /// Waits until somebody watches, or the time is over.
    pub(super) fn wait(&self, most: Duration) {
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
