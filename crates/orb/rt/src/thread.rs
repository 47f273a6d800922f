//! What the calling thread runs at: its CORBA priority ([`Priority::of_thread`]), and its native one as it is known
//! here.
//!
//! The native priority is set when it differs from what is wanted, and asked for once: it is a system call.

use punctual_orb::Priority;
use punctual_sys::scheduling::{self, Scheduling};
use std::cell::Cell;
use std::io;

thread_local! {
    static NATIVE: Cell<Option<Scheduling>> = const { Cell::new(None) };
}

/// What a thread ran at, as a number.
#[derive(Clone, Copy)]
pub(crate) struct RanAt(pub(crate) u64);

/// How it is scheduled.
#[inline]
pub(crate) fn native() -> io::Result<Scheduling> {
    match NATIVE.get() {
        Some(native) => Ok(native),
        None => ask(),
    }
}

#[cold]
fn ask() -> io::Result<Scheduling> {
    let native = scheduling::own()?;
    NATIVE.set(Some(native));
    Ok(native)
}

/// Has it scheduled so; whether that took a system call to set it. A thread that has reserved its time
/// (`SCHED_DEADLINE`) keeps its reservation.
#[inline]
pub(crate) fn set_native(wanted: Scheduling) -> io::Result<bool> {
    let native = native()?;
    if native == wanted || matches!(native, Scheduling::Deadline(_)) {
        return Ok(false);
    }
    change(wanted)
}

#[cold]
fn change(wanted: Scheduling) -> io::Result<bool> {
    scheduling::set_own(wanted)?;
    NATIVE.set(Some(wanted));
    Ok(true)
}

const HAS_CORBA: u64 = 1 << 16;
const PRIORITY: u32 = 24;
const POLICY: u32 = 32;
const KEPT: u64 = 0;

impl RanAt {
    /// What it runs at now.
    #[inline]
    pub(crate) fn now() -> io::Result<Self> {
        let corba = Priority::of_thread().map_or(0, |priority| {
            HAS_CORBA | u64::from(priority.get().cast_unsigned())
        });
        let native = native()?;
        // 99 at most.
        let priority = u64::from(u8::try_from(native.priority()).unwrap_or_default());
        let policy = match native {
            Scheduling::Deadline(_) => KEPT,
            Scheduling::Other => 1,
            Scheduling::Batch => 2,
            Scheduling::Idle => 3,
            Scheduling::Fifo { .. } => 4,
            Scheduling::RoundRobin { .. } => 5,
        };
        Ok(Self(corba | priority << PRIORITY | policy << POLICY))
    }

    /// The CORBA priority.
    pub(crate) fn corba(self) -> Option<Priority> {
        let number = (self.0 & u64::from(u16::MAX)) as u16;
        (self.0 & HAS_CORBA != 0).then(|| Priority::new(number.cast_signed()).unwrap_or_default())
    }

    /// How it was scheduled; `None` where that has not been changed.
    pub(crate) fn native(self) -> Option<Scheduling> {
        let priority = i32::from((self.0 >> PRIORITY) as u8);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_thread_ran_at_is_told_by_a_number() {
        for native in [
            Scheduling::Other,
            Scheduling::Batch,
            Scheduling::Idle,
            Scheduling::Fifo { priority: 99 },
            Scheduling::RoundRobin { priority: 1 },
        ] {
            for corba in [None, Some(Priority::MIN), Some(Priority::MAX)] {
                Priority::set_of_thread(corba);
                NATIVE.set(Some(native));
                let ran_at = RanAt::now().unwrap();
                assert_eq!(ran_at.corba(), corba);
                assert_eq!(ran_at.native(), Some(native));
            }
        }
    }
}
