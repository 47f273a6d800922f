//! RTCORBA::Current.

use crate::orb::RtOrb;
use punctual_orb::Priority;
use punctual_orb::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_sys::scheduling::{self, Reservation, Scheduling};

/// Access to the calling thread's priority (RTCORBA::Current; Real-time CORBA 1.2, §5.6). Each
/// thread has its own priority; in an upcall, it has the request's.
#[derive(Clone, Copy, Debug)]
pub struct RtCurrent<'o> {
    orb: &'o RtOrb,
}

impl<'o> RtCurrent<'o> {
    pub(crate) fn new(orb: &'o RtOrb) -> Self {
        Self { orb }
    }

    /// Returns the thread's CORBA priority.
    ///
    /// # Errors
    /// INITIALIZE when no priority was set for the thread.
    pub fn the_priority(self) -> Result<Priority, SystemException> {
        Priority::of_thread().ok_or_else(unset)
    }

    /// Returns the thread's reservation (`SCHED_DEADLINE`), if it has one. One system call, or two.
    #[must_use]
    pub fn reservation(self) -> Option<Reservation> {
        match scheduling::own() {
            Ok(Scheduling::Deadline(reserved)) => Some(reserved),
            _ => None,
        }
    }

    /// Makes the thread run at this priority from now on; its requests then carry the priority.
    ///
    /// # Errors
    ///
    /// DATA_CONVERSION 2 when the priority mapping has no native priority for it, NO_PERMISSION
    /// when the operating system refuses that. The thread's priority is then unchanged.
    pub fn set_the_priority(self, priority: Priority) -> Result<(), SystemException> {
        self.orb.run_at(priority).map(drop)
    }
}

#[cold]
fn unset() -> SystemException {
    SystemException::new(Kind::Initialize, 0, CompletionStatus::No)
        .with_detail("the thread has no CORBA priority: `set_the_priority` gives it one")
}
