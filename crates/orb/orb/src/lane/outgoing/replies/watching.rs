//! Replies that no thread waits for: a watcher is notified of their arrival, and a thread of the
//! lane reads meanwhile.
//!
//! The reading thread stops watching a connection only when data arrives for the second time while
//! there is no watcher, so that successive asynchronous calls need no extra system calls. The first
//! time it reads the data: a request may be answered before its caller begins to watch. Callers of synchronous calls
//! read for all; data that they leave unread is read by the lane's thread (`Callers::take_unread`).

use super::watch::{Reads, State};
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::receiving::Step;
use crate::lane::outgoing::receiving::{ReadReport, ReadinessHandler};
use crate::lane::replies::Replies;
use punctual_exec::Deadline;
use punctual_exec::reactor::{Handler as _, Readiness, ReadyEvent};
use punctual_sys::epoll::Interest;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum time for which a connection's dedicated thread reads without giving waiting callers a
/// chance to read, and by which it may miss a deadline.
const READ_FOR: Duration = Duration::from_millis(20);
/// Time for which a connection's dedicated thread stays alive without watchers.
const STAY: Duration = Duration::from_secs(1);

/// Registration of a task to be notified of the arrival of a reply.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Watching {
    due: Option<u64>,
}

impl Watching {
    /// Begins to notify the caller of request `id`, whose waker is set.
    pub(in crate::lane::outgoing) fn begin(
        connection: &Arc<ClientConnection>,
        readers: &Arc<Replies>,
        id: u32,
        deadline: Deadline,
    ) -> io::Result<Self> {
        let due = deadline.end_nanos();
        if readers.are_run_by_callers() {
            connection.watch.handlers.get_or_init(|| readers.clone());
        }
        connection.callers.begin_watch();
        let mut state = connection.watch.state.lock();
        state.watchers += 1;
        let first_due = state.due.first().copied();
        if let Some(due) = due {
            state.due.insert((due, id));
        }
        let begun = match &state.reads {
            Reads::Nobody => connection.begin_to_read(readers, &mut state),
            Reads::Paused(reactor, token) => {
                let resumed = (reactor.clone(), *token);
                state.resume(resumed)
            }
            Reads::Reactor(..) | Reads::Thread => Ok(()),
        };
        let watching = Self { due };
        if let Err(error) = begun {
            drop(state);
            watching.end(connection, id);
            return Err(error);
        }
        if state.due.first().copied() != first_due {
            state.set_deadline();
        }
        connection.watch.changed.notify_one();
        drop(state);
        // The reactor does not report data again that was there before.
        connection.pass_on_unread();
        Ok(watching)
    }

    /// Ends the notification of the caller of request `id`.
    pub(in crate::lane::outgoing) fn end(self, connection: &ClientConnection, id: u32) {
        {
            let mut state = connection.watch.state.lock();
            state.watchers -= 1;
            if let Some(due) = self.due {
                state.due.remove(&(due, id));
            }
        }
        // A delivery has taken the waker.
        if let Some(place) = connection.callers.place(id)
            && !place.slot.has_content()
        {
            place.slot.stop_watching();
        }
        connection.callers.end_watch();
    }
}

impl ClientConnection {
    /// Makes a thread of the lane read the connection from now on, whether or not there are
    /// watchers.
    pub(in crate::lane) fn read_for_good(
        self: &Arc<Self>,
        readers: &Arc<Replies>,
    ) -> io::Result<()> {
        self.callers.begin_watch();
        let mut state = self.watch.state.lock();
        state.watchers += 1;
        let begun = self.begin_to_read(readers, &mut state);
        if begun.is_err() {
            state.watchers -= 1;
            drop(state);
            self.callers.end_watch();
        }
        begun
    }

    /// Makes a thread read the connection from now on.
    fn begin_to_read(
        self: &Arc<Self>,
        readers: &Arc<Replies>,
        state: &mut State,
    ) -> io::Result<()> {
        self.watch.readers.get_or_init(|| readers.clone());
        let reader = ReadinessHandler::new(self, Self::read_for_watchers);
        state.reads = if reader.descriptor().is_some() {
            let reactor = readers.reactor()?;
            // Reported once at first, even if there is no data.
            let token = reactor.register(Arc::new(reader))?;
            Reads::Reactor(reactor, token)
        } else {
            let connection = Arc::downgrade(self);
            readers.start_thread(move || read_meanwhile(&connection))?;
            Reads::Thread
        };
        Ok(())
    }

    /// Passes data that callers have left unread to the thread that reads for watchers, if there is
    /// a watcher.
    #[inline]
    pub(in crate::lane::outgoing) fn pass_on_unread(&self) {
        if self.callers.take_unread() {
            self.nudge();
        }
    }

    /// Reads the data that has arrived, and notifies watchers whose deadlines have passed. Then runs the
    /// continuations of the calls whose replies it has read, if this thread runs them.
    fn read_for_watchers(&self, event: &mut ReadyEvent<'_>) {
        if event.readiness().has(Readiness::DEADLINE) {
            self.tell_overdue();
        }
        if self.is_unwatched(true) {
            return;
        }
        let Some(mut inbox) = self.callers.read_or_leave_unread() else {
            return;
        };
        let mut report = ReadReport::default();
        let mut read = || self.read_some(&mut inbox, event, &mut report);
        let own = self.watch.readers.get();
        let own = own.filter(|replies| replies.are_run_by_thread());
        let is_more = match own {
            Some(replies) => replies.defer_while(read),
            None => read(),
        };
        report.take_evicted(&mut inbox);
        // This thread is itself the reader for watchers.
        let _watched = self.callers.hand_on(inbox);
        if is_more {
            // The reactor does not report data that is in the inbox already to the next watcher.
            self.callers.leave_unread();
            event.hand_over(Readiness::READ);
        }
        report.log(self);
        if let Some(replies) = own.filter(|replies| replies.has_continuations()) {
            replies.run_some();
        }
    }

    fn nudge(&self) {
        let state = self.watch.state.lock();
        match &state.reads {
            // A thread that begins to watch checks this under the same lock.
            Reads::Nobody | Reads::Paused(..) => self.callers.leave_unread(),
            Reads::Reactor(reactor, token) => reactor.nudge(*token),
            Reads::Thread => {
                self.watch.changed.notify_one();
            }
        }
    }

    /// Returns `true` if there is no watcher any more; the thread that reads for watchers then
    /// stops. If it `may_read_once`, it goes on unless it has found no watcher before.
    fn is_unwatched(&self, may_read_once: bool) -> bool {
        let mut state = self.watch.state.lock();
        if state.watchers > 0 || (may_read_once && self.watch.take_use()) {
            return false;
        }
        state.reads = match std::mem::take(&mut state.reads) {
            Reads::Reactor(reactor, token) => {
                // Fails if the connection has ended and was deregistered.
                let _ = reactor.set_interest(token, Interest::Nothing);
                Reads::Paused(reactor, token)
            }
            Reads::Thread | Reads::Nobody => Reads::Nobody,
            paused @ Reads::Paused(..) => paused,
        };
        true
    }

    fn tell_overdue(&self) {
        let overdue = {
            let mut state = self.watch.state.lock();
            let overdue = state.take_overdue();
            state.set_deadline();
            overdue
        };
        for id in overdue {
            self.callers.wake_watcher(id);
        }
    }
}

/// Runs the thread that reads a connection for the watchers of replies.
fn read_meanwhile(connection: &Weak<ClientConnection>) {
    while let Some(connection) = connection.upgrade() {
        connection.watch.wait(STAY);
        if connection.is_unwatched(false) {
            return;
        }
        connection.tell_overdue();
        match connection.callers.read_or_leave_unread() {
            Some(mut inbox) => {
                let mut report = ReadReport::default();
                let until = Deadline::after(READ_FOR);
                let step = connection.read_step(&mut inbox, until, &mut report);
                report.take_evicted(&mut inbox);
                let _told = connection.callers.hand_on(inbox);
                report.log(&connection);
                if step == Step::Over {
                    // All watchers have been notified; a thread that begins to watch checks at
                    // once.
                    let mut state = connection.watch.state.lock();
                    state.reads = Reads::Nobody;
                    return;
                }
            }
            // A caller reads for all, and reports when it is done.
            None => {
                let mut state = connection.watch.state.lock();
                let _timed_out = connection.watch.changed.wait_for(&mut state, READ_FOR);
            }
        }
    }
}
