//! Waits for something that an event will bring, while the thread serves other events.

use super::wakeup::Wakeup;
use crate::Deadline;
use crate::reactor::{Reactor, Role};
use punctual_sys::epoll::EpollEvents;
use punctual_sys::event::either;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Shortest time that `epoll_wait(2)` waits.
const A_MILLISECOND: Duration = Duration::from_millis(1);

/// Outcome of waiting for a condition while events are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The awaited condition holds.
    Done,
    /// The deadline of the wait has passed.
    TimedOut,
    /// The reactor was stopped during the wait.
    Stopped,
}

impl Reactor {
    /// Serves events until `done` returns `true`; it is checked before each wait. A thread that
    /// makes the condition true calls [`Wakeup::wake`] of the calling thread, unless it is the
    /// calling thread. Waits for events only while no other thread does.
    ///
    /// Events are served nested in this call: [`crate::reactor::depth`] counts the nesting, so that
    /// handlers can refuse what would go too deep.
    ///
    /// # Errors
    /// Where the thread has no [`Wakeup`] yet and no descriptor is left for one, or `poll(2)`
    /// fails.
    pub fn run_until(
        self: &Arc<Self>,
        deadline: Deadline,
        mut done: impl FnMut() -> bool,
    ) -> io::Result<Waited> {
        self.run_until_or_served(deadline, |_| done())
    }

    /// Serves events as [`Reactor::run_until`] does; `done` gets whether anything has been served
    /// meanwhile.
    ///
    /// # Errors
    /// As of [`Reactor::run_until`].
    pub(crate) fn run_until_or_served(
        self: &Arc<Self>,
        deadline: Deadline,
        mut done: impl FnMut(bool) -> bool,
    ) -> io::Result<Waited> {
        let mut has_served = false;
        let own = Wakeup::own()?;
        let (mut found, mut is_queues_turn) = (EpollEvents::new(1), false);
        // True while another thread may have made this one the only one that waits.
        let mut has_followed = false;
        let waited = loop {
            own.waiter.look();
            if done(has_served) {
                break Waited::Done;
            }
            if self.is_stopped() {
                break Waited::Stopped;
            }
            if deadline.has_passed() {
                break Waited::TimedOut;
            }
            if self.do_next() {
                has_served = true;
                continue;
            }
            if self.leadership.try_lead() {
                has_followed = false;
                // What was added before this thread leads has woken no thread.
                if self.has_queued() || self.has_work() {
                    self.resign();
                    has_served |= self.serve_at_hand(&mut found, &mut is_queues_turn, Role::Worker);
                    continue;
                }
                let waited = self.lead(&own, deadline, &mut found);
                self.resign();
                waited?;
                has_served |= self.serve(&found, Role::Worker);
            } else {
                has_followed = true;
                self.leadership.follow(&own.waiter, deadline.remaining());
            }
        };
        // This thread may have been promoted or woken just now; a remaining waiter must not be left
        // without a leader.
        own.waiter.look();
        if !self.leadership.promote() && has_followed {
            // The thread that promoted it has left the waiting to it.
            self.all_are_busy();
        }
        if self.has_queued() || self.has_work() {
            // It may have taken the event by which this was announced.
            self.announce();
        }
        // An outer wait of this thread re-checks its own condition before it waits on.
        Ok(waited)
    }

    /// Waits for an event or until this thread is woken, and takes the event.
    fn lead(&self, own: &Wakeup, deadline: Deadline, found: &mut EpollEvents) -> io::Result<()> {
        found.clear();
        if !own.waiter.begin_polling() {
            return Ok(());
        }
        let left = deadline.remaining();
        let is_in_set = self.wakeup_in_set.get().is_some_and(|it| it.is_same(own));
        let waited = if is_in_set && left.is_none_or(|left| left >= A_MILLISECOND) {
            // The rest of a millisecond is waited for the other way, the next time.
            let whole = left.map(|left| Duration::from_millis(left.as_millis() as u64));
            self.wait_by_set(found, whole).map(|told| (false, told))
        } else {
            either(self.epoll(), &**own.event(), left)
        };
        let is_woken = own.waiter.end_polling();
        let (event, told) = waited?;
        if is_in_set && is_woken {
            // Each wake of an event in the set is taken, so that none is found later, or by another thread.
            own.event().take()?;
        } else if told {
            own.event().clear();
        }
        if event {
            self.look(found);
        }
        Ok(())
    }
}
