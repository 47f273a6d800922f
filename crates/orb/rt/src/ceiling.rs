//! Priority ceilings of mutexes: a thread runs at the ceiling's native priority from before it
//! locks until after it has unlocked (the immediate priority ceiling protocol; POSIX calls it
//! `PTHREAD_PRIO_PROTECT`).
//!
//! A thread may hold several such mutexes, and unlock them in any order: its earlier priority is
//! restored only when it no longer holds a mutex that it locked later.

use crate::thread::{self, Native};
use punctual_orb::Priority;
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;

thread_local! {
    /// Ceilings at which the thread runs, in the order in which it reached them.
    static RISES: RefCell<Vec<Rise>> = const { RefCell::new(Vec::new()) };
}

/// Ceiling that the thread has reached, with its scheduling before that.
#[derive(Debug)]
struct Rise {
    number: u64,
    before: Native,
}

/// Priority ceiling of a mutex: that of the most urgent thread that ever locks it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ceiling {
    pub(crate) priority: Priority,
    pub(crate) native: Native,
}

/// Reason why a thread cannot run at a ceiling.
#[derive(Debug)]
pub(crate) enum NotRisen {
    /// The thread's own priority is higher than the ceiling.
    AboveCeiling,
    /// The operating system refuses the scheduling at the ceiling.
    Refused(io::Error),
}

/// Guard that keeps the calling thread at a ceiling until it is dropped.
#[derive(Debug)]
pub(crate) struct Risen {
    number: u64,
    /// Prevents the guard from being sent to another thread.
    _thread: PhantomData<*const ()>,
}

impl Ceiling {
    /// Makes the calling thread run at the ceiling. A thread with a reservation (`SCHED_DEADLINE`)
    /// keeps it.
    pub(crate) fn rise(self) -> Result<Risen, NotRisen> {
        let before = thread::native().map_err(NotRisen::Refused)?;
        let highest = self.native.real_time_priority();
        RISES.with_borrow_mut(|rises| {
            let own = rises.first().map_or(before, |first| first.before);
            if highest.is_some() && own.real_time_priority() > highest {
                return Err(NotRisen::AboveCeiling);
            }
            if before.real_time_priority() < highest {
                thread::change(self.native).map_err(NotRisen::Refused)?;
            }
            let number = rises.last().map_or(0, |last| last.number + 1);
            rises.push(Rise { number, before });
            Ok(Risen {
                number,
                _thread: PhantomData,
            })
        })
    }
}

impl Drop for Risen {
    fn drop(&mut self) {
        let back = RISES.with_borrow_mut(|rises| {
            let at = rises.iter().position(|rise| rise.number == self.number)?;
            let rise = rises.remove(at);
            match rises.get_mut(at) {
                // The earlier priority is restored when the later ceiling is left.
                Some(later) => {
                    later.before = rise.before;
                    None
                }
                None => Some(rise.before),
            }
        });
        if let Some(before) = back.filter(|before| !thread::is_at(*before))
            && let Err(error) = thread::change(before)
        {
            tracing::error!("a thread keeps the priority of a mutex's ceiling: {error}");
        }
    }
}
