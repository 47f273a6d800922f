//! Work of the main thread, and its reading of replies ([`crate::ReplyHandlers::Reactor`]).

use super::handle::Orb;
use crate::exception::SystemException;
use crate::lane::Lane;
use punctual_exec::{Deadline, Reactor};
use std::io;
use std::sync::Arc;
use std::time::Duration;

impl Orb {
    /// Returns whether an upcall waits for the main thread (CORBA 3.3 part 1, §8.2.3.1), or with
    /// [`crate::ReplyHandlers::Reactor`] data that may be a reply.
    #[must_use]
    pub fn work_pending(&self) -> bool {
        let is_ready = |reactor: io::Result<_>| reactor.is_ok_and(|it: Arc<Reactor>| it.is_ready());
        self.broker().main_thread.work_pending() || self.main_reactor().is_some_and(is_ready)
    }

    /// Makes one upcall that waits for the main thread, if there is such an upcall and the calling
    /// thread is the main thread. For programs whose main thread has other work to do. Returns
    /// whether it made one. With [`crate::ReplyHandlers::Reactor`] it also reads the replies that
    /// have arrived, and calls their handlers. After a shutdown [`Orb::run`] waits for the calls in
    /// progress to be answered.
    ///
    /// # Errors
    /// BAD_INV_ORDER after a shutdown.
    pub fn perform_work(&self) -> Result<bool, SystemException> {
        self.perform_work_within(Duration::ZERO)
    }

    /// Does what [`Orb::perform_work`] does, and waits for it at most for `time` (TAO's
    /// `perform_work` has that argument). Returns whether there was anything to do; with
    /// [`crate::ReplyHandlers::Reactor`], a part of a reply counts, so that a loop checks what it waits
    /// for by itself.
    ///
    /// # Errors
    /// BAD_INV_ORDER after a shutdown.
    pub fn perform_work_within(&self, time: Duration) -> Result<bool, SystemException> {
        self.broker().check_running()?;
        let main_thread = &self.broker().main_thread;
        let until = Deadline::after(time);
        let performed = self
            .main_reactor()
            .map(|reactor| main_thread.perform_work_in(&reactor?, until));
        match performed {
            Some(Ok(performed)) => Ok(performed),
            Some(Err(error)) => {
                self.cannot_read(&error);
                Ok(main_thread.perform_work())
            }
            None => Ok(main_thread.perform_work_until(until)),
        }
    }

    /// Does the main thread's work until the deadline, or until the ORB shuts down; returns whether
    /// that was it.
    pub(super) fn run_main_thread(&self, until: Deadline) -> bool {
        let main_thread = &self.broker().main_thread;
        let ran = self
            .main_reactor()
            .map(|reactor| main_thread.run_in(&reactor?, until));
        match ran {
            Some(Ok(is_closed)) => is_closed,
            Some(Err(error)) => {
                self.cannot_read(&error);
                main_thread.run_until(until)
            }
            None => main_thread.run_until(until),
        }
    }

    /// Returns the reactor that the main thread runs, if it reads replies.
    pub(super) fn main_reactor(&self) -> Option<io::Result<Arc<Reactor>>> {
        self.lanes().default_lane().replies().main_threads_reactor()
    }

    /// Leaves the reading of replies to a thread.
    #[cold]
    pub(super) fn cannot_read(&self, error: &io::Error) {
        tracing::error!("the main thread cannot read replies, a thread does from now on: {error}");
        self.each_lane(Lane::stop_using_main_thread);
    }
}
