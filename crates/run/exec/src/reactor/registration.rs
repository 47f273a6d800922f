//! Adds, changes and removes registrations, sets their deadlines, and stops the reactor.

use super::owner::{Readiness, Retired};
use super::state::{Handler, Reactor, WAKEUP};
use super::table::Token;
use crate::leader_followers::Wakeup;
use punctual_sys::epoll::{Epoll, Interest};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Reactor {
    /// Registers a handler. It is called once at first, whatever the state of its descriptor: data
    /// may have arrived with a connection.
    ///
    /// # Errors
    /// `QuotaExceeded` at the limit of registrations, `InvalidInput` for a handler without a
    /// descriptor, else those of `epoll_ctl(2)`.
    pub fn register(&self, handler: Arc<dyn Handler>) -> io::Result<Token> {
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::InvalidInput)?;
        let token = self.table.take()?;
        let Some(entry) = self.table.entry(token) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // This thread owns it from here on, so that no other serves a half-made registration.
        let _ = entry.owner.offer(token.generation, Readiness::NONE);
        entry.set_handler(Some(handler.clone()));
        let added = self.epoll.add(descriptor, token.to_word(), Interest::Read);
        if let Err(error) = added {
            let _ = entry.owner.retire(token.generation);
            self.clear(token);
            return Err(error);
        }
        self.hand_over(token, Readiness::NUDGE);
        Ok(token)
    }

    /// Puts the event that wakes a thread into the reactor's set: the thread then waits in
    /// [`Reactor::run_until`] by one system call instead of two. For the thread that serves the
    /// reactor most of the time; only the first call has an effect.
    ///
    /// # Errors
    /// Those of `epoll_ctl(2)`.
    pub fn add_wakeup(&self, own: &Wakeup) -> io::Result<()> {
        if self.wakeup_in_set.get().is_some() {
            return Ok(());
        }
        // Reported to all: another thread must not take it away.
        self.epoll.add_for_all(&**own.event(), WAKEUP)?;
        let _ = self.wakeup_in_set.set(own.clone());
        Ok(())
    }

    /// Removes a registration: its handler is no longer called, and is dropped once no call is in
    /// progress. Has no effect on a registration that was removed before.
    pub fn deregister(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        match entry.owner.retire(token.generation) {
            Retired::Mine => self.clear(token),
            Retired::Later | Retired::Stale => {}
        }
    }

    /// Queues a registration to be served by the next free thread, though its descriptor did not
    /// change.
    pub fn nudge(&self, token: Token) {
        self.post(token, Readiness::NUDGE);
    }

    /// Sets whether a registration waits for room to write, in addition to data to read. A
    /// condition that holds already is reported at once.
    ///
    /// # Errors
    /// `NotFound` for a removed registration, else those of `epoll_ctl(2)`.
    pub fn set_interest(&self, token: Token, interest: Interest) -> io::Result<()> {
        let entry = self.table.entry(token).ok_or(io::ErrorKind::NotFound)?;
        let handler = entry.handler().ok_or(io::ErrorKind::NotFound)?;
        if entry.owner.generation() != token.generation {
            return Err(io::ErrorKind::NotFound.into());
        }
        let descriptor = handler.descriptor().ok_or(io::ErrorKind::NotFound)?;
        self.epoll.set(descriptor, token.to_word(), interest)
    }

    /// Sets a registration's deadline: [`Readiness::DEADLINE`] is reported once `after` has passed,
    /// some milliseconds late, never early. Replaces an earlier deadline; `None` removes it. For
    /// the owner, or while no other thread sets it. Takes a lock only where the new deadline is
    /// earlier than the last.
    pub fn set_deadline(&self, token: Token, after: Option<Duration>) {
        if let Some(entry) = self.table.entry(token)
            && entry.owner.generation() == token.generation
        {
            self.timers.set(token, entry, after);
        }
    }

    /// Returns the number of registrations in the reactor.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether the reactor has no registrations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of threads that wait for events at the moment.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.leadership.leaders()
    }

    /// Returns the number of times, modulo 2^24, that threads of [`Reactor::run`] have finished what they served.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.leadership.rounds()
    }

    /// Ends [`Reactor::run`] and [`Reactor::run_until`] on every thread, once it has finished what
    /// it serves. Registrations stay, but are no longer served.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.stop_event.notify();
        self.leadership.wake_all();
    }

    /// Returns whether the reactor has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Sets the action for the moment when no thread waits for events any more, and no follower
    /// takes over. Called once at most.
    pub(crate) fn when_all_are_busy(&self, act: impl Fn() + Send + Sync + 'static) {
        // A reactor has one pool.
        let _ = self.all_busy.set(Box::new(act));
    }

    pub(crate) fn epoll(&self) -> &Epoll {
        &self.epoll
    }

    pub(super) fn post(&self, token: Token, happened: Readiness) {
        if self.enqueue(token, happened) {
            self.announce();
        }
    }

    /// Queues a registration to be served, unless its owner will see what happened, or it is queued already; returns
    /// whether it did. Its caller announces that.
    pub(super) fn enqueue(&self, token: Token, happened: Readiness) -> bool {
        let queues = self
            .table
            .entry(token)
            .is_some_and(|entry| entry.owner.post(token.generation, happened));
        if queues {
            self.queue.push(token);
        }
        queues
    }

    /// Wakes a thread that waits for events, if there is one, as something is queued. All others look into the queue
    /// before they wait.
    pub(crate) fn announce(&self) {
        if self.leadership.must_be_told() {
            self.queued.notify();
        }
    }

    /// Returns whether registrations are queued.
    pub(crate) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Hands a registration over, as [`ReadyEvent::hand_over`](super::ReadyEvent::hand_over) does.
    /// For its owner, or a thread that acts for it: once, while the owner does not touch the
    /// registration; the owner learns of it
    /// ([`ReadyEvent::disown`](super::ReadyEvent::disown)) before its event ends.
    pub fn hand_over(&self, token: Token, left: Readiness) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        match entry.owner.hand_over(token.generation, left) {
            Ok(false) => {}
            Ok(true) => {
                self.queue.push(token);
                self.announce();
            }
            Err(_) => self.clear(token),
        }
    }

    /// Clears a removed entry that the calling thread owns.
    pub(super) fn clear(&self, token: Token) {
        let Some(entry) = self.table.entry(token) else {
            return;
        };
        let handler = entry.set_handler(None);
        if let Some(descriptor) = handler.as_ref().and_then(|handler| handler.descriptor()) {
            // Fails for a closed connection, which has left the set already.
            let _ = self.epoll.remove(descriptor);
        }
        entry.due.store(0, Ordering::SeqCst);
        let _ = entry.owner.vacate(token.generation);
        self.table.give_back(token);
        // Last: it may close a connection, which takes time.
        drop(handler);
    }
}
