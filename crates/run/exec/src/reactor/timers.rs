//! Deadlines of registrations, accurate to some milliseconds: for incomplete messages and for
//! silent clients.
//!
//! A deadline is put off or removed by one store; the timer finds that out when it expires. So a
//! deadline that is set with each message and hardly ever passes costs no lock. A registration is
//! in the timer's list once at most.

use super::table::{Entry, Table, Token};
use punctual_sys::clock;
use punctual_sys::event::TimerFd;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Timer and list of the registrations' deadlines; see the module.
#[derive(Debug)]
pub(super) struct Timers {
    timer: TimerFd,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    /// Times at which entries are next checked, each with the index of the entry.
    looks: BTreeSet<(u64, u32)>,
    /// Time at which the timer is set to expire; 0 for never.
    set_to: u64,
}

impl Timers {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            timer: TimerFd::new()?,
            list: Mutex::default(),
        })
    }

    /// Returns the descriptor that becomes readable when [`Timers::overdue`] is to be called.
    pub(super) fn timer(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }

    /// Sets, puts off, or removes the deadline of the registration at an entry.
    pub(super) fn set<H: ?Sized>(&self, token: Token, entry: &Entry<H>, after: Option<Duration>) {
        let Some(after) = after else {
            return entry.due.store(0, Ordering::SeqCst);
        };
        // The clock may be a tick behind; a deadline must never be reported early.
        let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX / 4);
        let due = clock::coarse_millis().saturating_add(after.max(1));
        // Sequentially consistent with the two in `overdue`: either `overdue` finds this deadline,
        // or this thread finds that the entry is no longer scheduled.
        entry.due.store(due, Ordering::SeqCst);
        let scheduled = entry.scheduled.load(Ordering::SeqCst);
        if scheduled == 0 || scheduled > due {
            self.schedule(token.index, entry, due);
        }
    }

    fn schedule<H: ?Sized>(&self, number: u32, entry: &Entry<H>, due: u64) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let scheduled = entry.scheduled.load(Ordering::SeqCst);
        if scheduled != 0 && scheduled <= due {
            return;
        }
        list.looks.remove(&(scheduled, number));
        list.looks.insert((due, number));
        entry.scheduled.store(due, Ordering::SeqCst);
        self.set_timer(&mut list);
    }

    /// Calls `each` with the registrations whose deadline has passed, removes those deadlines, and
    /// sets the timer for the next.
    pub(super) fn overdue<H: ?Sized>(&self, table: &Table<H>, mut each: impl FnMut(Token)) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::coarse_millis();
        list.set_to = 0;
        while let Some(&(at, number)) = list.looks.first()
            && at <= now
        {
            list.looks.pop_first();
            let token = Token {
                index: number,
                generation: 0,
            };
            // Entries are never removed.
            let Some(entry) = table.entry(token) else {
                continue;
            };
            entry.scheduled.store(0, Ordering::SeqCst);
            let generation = entry.owner.generation();
            let due = entry.due.load(Ordering::SeqCst);
            if due > now {
                list.looks.insert((due, number));
                entry.scheduled.store(due, Ordering::SeqCst);
            } else if due > 0
                // A later deadline set meanwhile stays; the thread that set it schedules it.
                && entry
                    .due
                    .compare_exchange(due, 0, Ordering::SeqCst, Ordering::SeqCst)
                    .is_ok()
            {
                each(Token {
                    generation,
                    ..token
                });
            }
        }
        self.set_timer(&mut list);
    }

    fn set_timer(&self, list: &mut List) {
        let Some(&(first, _)) = list.looks.first() else {
            return;
        };
        if list.set_to != 0 && list.set_to <= first {
            return;
        }
        let left = first.saturating_sub(clock::coarse_millis());
        // The kernel accepts any time that a clock in milliseconds can express.
        if self.timer.set(Duration::from_millis(left.max(1))).is_ok() {
            list.set_to = first;
        }
    }
}
