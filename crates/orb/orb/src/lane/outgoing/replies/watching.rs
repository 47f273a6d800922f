//! Replies that no thread waits for: a watcher is notified when they have come, and a thread of the lane reads meanwhile.
//!
//! The reading thread drops a connection only when it has something to be read and no watchers, so that one asynchronous
//! call after the other costs no system call for that. Callers that do wait read for all; what they leave unread, the lane's
//! thread reads (`Callers::take_unread`).

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

/// Longest time for which a thread of a connection's own keeps waiting callers from reading, and is late for a deadline.
const READ_FOR: Duration = Duration::from_millis(20);
/// Time for which it stays without watchers.
const STAY: Duration = Duration::from_secs(1);

/// A watcher of a reply.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Watching {
    due: Option<u64>,
}

impl Watching {
    /// Begins to notify the caller of this id, whose waker is set.
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
        // The reactor does not tell again of what was there before.
        connection.pass_on_unread();
        Ok(watching)
    }

    /// Ends the notification of the caller of this id, with which it began.
    pub(in crate::lane::outgoing) fn end(self, connection: &ClientConnection, id: u32) {
        {
            let mut state = connection.watch.state.lock();
            state.watchers -= 1;
            if let Some(due) = self.due {
                state.due.remove(&(due, id));
            }
        }
        if let Some(place) = connection.callers.place(id) {
            place.slot.stop_watching();
        }
        connection.callers.end_watch();
    }
}

impl ClientConnection {
    /// Makes a thread of the lane read from now on, with or without watchers.
    pub(in crate::lane) fn read_for_good(
        self: &Arc<Self>,
        readers: &Arc<Replies>,
    ) -> io::Result<()> {
        self.callers.begin_watch();
        let mut state = self.watch.state.lock();
        state.watchers += 1;
        self.begin_to_read(readers, &mut state)
    }

    /// Makes a thread read from now on.
    fn begin_to_read(
        self: &Arc<Self>,
        readers: &Arc<Replies>,
        state: &mut State,
    ) -> io::Result<()> {
        let reader = ReadinessHandler::new(self, Self::read_for_watchers);
        state.reads = if reader.descriptor().is_some() {
            let reactor = readers.reactor()?;
            // Told once at first, whatever there is.
            let token = reactor.register(Arc::new(reader))?;
            Reads::Reactor(reactor, token)
        } else {
            let connection = Arc::downgrade(self);
            readers.start_thread(move || read_meanwhile(&connection))?;
            Reads::Thread
        };
        Ok(())
    }

    /// Passes what callers have left unread to the reader for those that do not wait, if any of them wants it.
    #[inline]
    pub(in crate::lane::outgoing) fn pass_on_unread(&self) {
        if self.callers.take_unread() {
            self.nudge();
        }
    }

    /// Reads what is there, and notifies watchers whose deadlines have passed.
    fn read_for_watchers(&self, event: &mut ReadyEvent<'_>) {
        if event.readiness().has(Readiness::DEADLINE) {
            self.tell_overdue();
        }
        if self.is_unwatched() {
            return;
        }
        let Some(mut inbox) = self.callers.read_or_leave_unread() else {
            return;
        };
        let mut report = ReadReport::default();
        let is_more = self.read_some(&mut inbox, event, &mut report);
        report.take_evicted(&mut inbox);
        // This thread is the one that reads for watchers.
        let _watched = self.callers.hand_on(inbox);
        if is_more {
            // The reactor does not tell the next watcher of what is in the inbox already.
            self.callers.leave_unread();
            event.hand_over(Readiness::READ);
        }
        report.log(self);
    }

    fn nudge(&self) {
        let state = self.watch.state.lock();
        match &state.reads {
            // A thread that is about to watch finds it so, under the same lock.
            Reads::Nobody | Reads::Paused(..) => self.callers.leave_unread(),
            Reads::Reactor(reactor, token) => reactor.nudge(*token),
            Reads::Thread => {
                self.watch.changed.notify_one();
            }
        }
    }

    /// Returns whether there is no watcher any more. What read for watchers stops then.
    fn is_unwatched(&self) -> bool {
        let mut state = self.watch.state.lock();
        if state.watchers > 0 {
            return false;
        }
        state.reads = match std::mem::take(&mut state.reads) {
            Reads::Reactor(reactor, token) => {
                // Fails for one that was taken out, as its connection has ended.
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

/// Body of a connection's own thread.
fn read_meanwhile(connection: &Weak<ClientConnection>) {
    while let Some(connection) = connection.upgrade() {
        connection.watch.wait(STAY);
        if connection.is_unwatched() {
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
                    // All have been notified; a thread that begins to watch finds that at once.
                    let mut state = connection.watch.state.lock();
                    state.reads = Reads::Nobody;
                    return;
                }
            }
            // A caller reads for all, and tells when it is done.
            None => {
                let mut state = connection.watch.state.lock();
                let _timed_out = connection.watch.changed.wait_for(&mut state, READ_FOR);
            }
        }
    }
}
