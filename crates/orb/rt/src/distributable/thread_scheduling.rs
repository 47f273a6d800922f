//! Scheduling of the calling thread: changed by a segment, and restored at its end.

use super::error::refused;
use super::parameter::SchedulingParameter;
use crate::orb::{RtOrb, no_native, not_permitted};
use crate::thread::{self, Native, SavedState};
use punctual_orb::{Priority, SystemException, SystemExceptionKind as Kind};
use punctual_sys::scheduling::{self, Scheduling};
use std::io;

/// Scheduling that a thread had before a scheduling segment began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    ran_at: SavedState,
    scheduling: Scheduling,
}

impl Before {
    /// Returns the thread's present scheduling. Asks the kernel if the thread has a reservation, or
    /// if the scheduling is not yet known.
    pub(super) fn now() -> Result<Self, SystemException> {
        let asked = thread::now().and_then(|ran_at| {
            let known = ran_at.native().scheduling();
            let scheduling = known.map_or_else(scheduling::own, Ok)?;
            Ok(Self { ran_at, scheduling })
        });
        asked.map_err(|error| unknown(&error))
    }

    /// Restores the scheduling from before the segment.
    ///
    /// # Errors
    /// Those of the operating system: the kernel may no longer admit a reservation that was given
    /// up during the segment.
    pub(super) fn restore(self) -> Result<(), SystemException> {
        Priority::replace_of_thread(self.ran_at.corba());
        let reserves_time = matches!(self.scheduling, Scheduling::Deadline(_));
        if !reserves_time && thread::is_at(Native::of(self.scheduling)) {
            return Ok(());
        }
        let restored = thread::force(self.scheduling);
        restored.map_err(|error| {
            let why = not_scheduled(self.scheduling, &error);
            refused(format!("at the end of the scheduling segment: {why}"))
        })
    }
}

/// Returns whether the calling thread has a reservation (`SCHED_DEADLINE`).
pub(super) fn reserves_time() -> Result<bool, SystemException> {
    let now = thread::now().map_err(|error| unknown(&error))?;
    Ok(now.native() == Native::DEADLINE)
}

/// Schedules the calling thread according to a segment's parameter, unless the RTORB does not
/// change the kernel's scheduling.
///
/// # Errors
/// INV_POLICY for a reservation that the kernel does not admit, DATA_CONVERSION 2 for a priority
/// that the mapping does not have, NO_PERMISSION for one that the kernel refuses; the thread's
/// scheduling is then unchanged.
pub(super) fn take(rt: &RtOrb, parameter: SchedulingParameter) -> Result<(), SystemException> {
    match parameter {
        SchedulingParameter::FixedPriority(priority) => {
            let native = rt.native_of(priority).ok_or_else(|| no_native(priority))?;
            if rt.asks_the_kernel() && !thread::is_at(Native::of(native)) {
                thread::force(native).map_err(|error| not_permitted(priority, &error))?;
            }
            Priority::replace_of_thread(Some(priority));
        }
        SchedulingParameter::EarliestDeadlineFirst(reserved) => {
            if rt.asks_the_kernel() {
                let taken = thread::force(Scheduling::Deadline(reserved));
                taken.map_err(|error| refused(reserved.refusal(&error)))?;
            }
        }
    }
    Ok(())
}

#[cold]
fn unknown(error: &io::Error) -> SystemException {
    Kind::Internal.because(format!(
        "cannot read the scheduling of the calling thread: {error}"
    ))
}

fn not_scheduled(scheduling: Scheduling, error: &io::Error) -> String {
    match scheduling {
        Scheduling::Deadline(reserved) => reserved.refusal(error),
        other => format!("the thread's scheduling cannot be restored to {other}: {error}"),
    }
}
