//! Priorities of the calling thread: its CORBA priority, and its native one as far as it is known.
//!
//! The native priority is set only when it differs from the wanted one, and read only once, as both
//! take a system call. Every upcall of an object with a priority model uses this module, so all
//! state is kept as numbers that are cheap to compare.

use punctual_orb::{Priority, RunsAt};
use punctual_sys::scheduling::{self, Scheduling};
use std::cell::Cell;
use std::io;

thread_local! {
    /// State of the thread before its idle priority was first set ([`record_idle_state`]).
    static BEFORE_IDLE: Cell<Option<SavedState>> = const { Cell::new(None) };
    /// Result of the thread's last priority mapping: the number of the RTORB, the CORBA priority,
    /// and the native scheduling.
    static MAPPED: Cell<(u32, Priority, Native)> = const { Cell::new((0, Priority::MIN, Native::UNKNOWN)) };
}

/// Scheduling policy and native priority of a thread, encoded as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Native(u32);

/// Saved priority and scheduling of a thread, to be restored later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SavedState(RunsAt);

const POLICY: u32 = 8;

impl Native {
    /// Value for a thread whose native scheduling has not been read yet.
    const UNKNOWN: Self = Self(0);
    /// Value for any native scheduling: the thread keeps the scheduling that it has.
    pub(crate) const AS_IT_IS: Self = Self(u32::MAX);
    /// The thread has a reservation (`SCHED_DEADLINE`), which it keeps.
    pub(crate) const DEADLINE: Self = Self(u32::MAX - 1);

    pub(crate) fn of(scheduling: Scheduling) -> Self {
        let policy: u32 = match scheduling {
            Scheduling::Deadline(_) => return Self::DEADLINE,
            Scheduling::Other => 1,
            Scheduling::Batch => 2,
            Scheduling::Idle => 3,
            Scheduling::Fifo { .. } => 4,
            Scheduling::RoundRobin { .. } => 5,
        };
        // At most 99.
        let priority = u8::try_from(scheduling.priority()).unwrap_or_default();
        Self(policy << POLICY | u32::from(priority))
    }

    /// Returns the real-time priority; `None` if the scheduling is not real-time, or is a
    /// reservation.
    pub(crate) fn real_time_priority(self) -> Option<i32> {
        match self.scheduling()? {
            Scheduling::Fifo { priority } | Scheduling::RoundRobin { priority } => Some(priority),
            _ => None,
        }
    }

    /// Returns the kernel's scheduling parameters; `None` if nothing is to be set.
    pub(crate) fn scheduling(self) -> Option<Scheduling> {
        let priority = i32::from((self.0 & 0xff) as u8);
        Some(match self.0 >> POLICY {
            1 => Scheduling::Other,
            2 => Scheduling::Batch,
            3 => Scheduling::Idle,
            4 => Scheduling::Fifo { priority },
            5 => Scheduling::RoundRobin { priority },
            _ => return None,
        })
    }
}

/// Returns the priority and scheduling of the calling thread, to be restored later.
pub(crate) fn now() -> io::Result<SavedState> {
    native()?;
    Ok(SavedState(RunsAt::of_thread()))
}

/// Returns the native scheduling of the calling thread.
#[inline]
pub(crate) fn native() -> io::Result<Native> {
    match Native(RunsAt::of_thread().scheduled()) {
        Native::UNKNOWN => ask(),
        known => Ok(known),
    }
}

#[cold]
fn ask() -> io::Result<Native> {
    let native = Native::of(scheduling::own()?);
    record_native(native);
    Ok(native)
}

/// Returns the native scheduling that RTORB `by` maps this priority to, if that was the last
/// mapping on this thread.
#[inline]
pub(crate) fn mapped(by: u32, priority: Priority) -> Option<Native> {
    let (number, of, native) = MAPPED.get();
    (number == by && of == priority).then_some(native)
}

pub(crate) fn record_mapping(by: u32, priority: Priority, native: Native) {
    MAPPED.set((by, priority, native));
}

/// Returns whether the calling thread is known to have this scheduling.
#[inline]
pub(crate) fn is_at(native: Native) -> bool {
    RunsAt::of_thread().scheduled() == native.0
}

/// Records that the calling thread has this scheduling from now on.
fn record_native(native: Native) {
    RunsAt::new(native.0, Priority::of_thread()).replace_of_thread();
}

/// Gives the calling thread this scheduling, unless it has it already. Returns whether that took a
/// system call. A thread with a reservation (`SCHED_DEADLINE`) keeps it.
#[cold]
pub(crate) fn change(wanted: Native) -> io::Result<bool> {
    if is_at(Native::DEADLINE) {
        return Ok(false);
    }
    let Some(scheduling) = wanted.scheduling() else {
        return Ok(false);
    };
    scheduling::set_own(scheduling)?;
    record_native(wanted);
    Ok(true)
}

/// Records the thread's state before its idle priority, the one between upcalls, is first set.
#[cold]
pub(crate) fn record_idle_state(before: SavedState) {
    BEFORE_IDLE.set(BEFORE_IDLE.get().or(Some(before)));
}

/// Removes and returns the state recorded by [`record_idle_state`], to be restored.
#[cold]
pub(crate) fn take_idle_state() -> Option<SavedState> {
    BEFORE_IDLE.take()
}

/// Gives the calling thread this scheduling, even if it has a reservation.
#[cold]
pub(crate) fn force(scheduling: Scheduling) -> io::Result<()> {
    scheduling::set_own(scheduling)?;
    record_native(Native::of(scheduling));
    Ok(())
}

/// Returns the native priority of the calling thread, if the operating system reports it.
#[cold]
pub(crate) fn native_priority() -> Option<i32> {
    let native = now().ok()?.native();
    native.scheduling().map(Scheduling::priority)
}

impl SavedState {
    #[inline]
    pub(crate) fn new(native: Native, corba: Option<Priority>) -> Self {
        Self(RunsAt::new(native.0, corba))
    }

    /// Returns the CORBA priority in the saved state, if there is one.
    #[inline]
    pub(crate) fn corba(self) -> Option<Priority> {
        self.0.priority()
    }

    /// Returns the native scheduling in the saved state.
    #[inline]
    pub(crate) fn native(self) -> Native {
        Native(self.0.scheduled())
    }

    /// Returns the saved thread state, encoded as a number.
    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0.number()
    }

    /// Converts a number from [`SavedState::number`] back to the saved thread state.
    #[inline]
    pub(crate) fn from_number(number: u64) -> Self {
        Self(RunsAt::from_number(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_ran_at_is_told_by_a_number() {
        for scheduling in [
            Scheduling::Other,
            Scheduling::Batch,
            Scheduling::Idle,
            Scheduling::Fifo { priority: 99 },
            Scheduling::RoundRobin { priority: 1 },
        ] {
            for corba in [None, Some(Priority::MIN), Some(Priority::MAX)] {
                Priority::replace_of_thread(corba);
                record_native(Native::of(scheduling));
                let ran_at = now().unwrap();
                assert_eq!(ran_at.corba(), corba);
                assert_eq!(Priority::of_thread(), corba);
                assert_eq!(ran_at.native().scheduling(), Some(scheduling));
            }
        }
        for kept in [Native::AS_IT_IS, Native::DEADLINE, Native::UNKNOWN] {
            assert_eq!(kept.scheduling(), None);
        }
    }
}
