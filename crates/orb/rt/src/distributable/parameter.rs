//! Scheduling parameters, and their disciplines.

use punctual_exec::thread::Reservation;
use punctual_orb::{Discipline, Priority};

/// Scheduling parameter of a segment; the standard's is a `CORBA::Policy` that a scheduler
/// interprets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingParameter {
    /// Scheduling at a fixed CORBA priority.
    FixedPriority(Priority),
    /// Earliest deadline first: the thread has made this reservation (`SCHED_DEADLINE`), and the
    /// segment is to end, or to be updated, within the deadline.
    EarliestDeadlineFirst(Reservation),
}

impl SchedulingParameter {
    /// Returns the scheduling discipline to which the parameter belongs.
    #[must_use]
    pub fn discipline(self) -> Discipline {
        match self {
            Self::FixedPriority(_) => Discipline::FixedPriority,
            Self::EarliestDeadlineFirst(_) => Discipline::EarliestDeadlineFirst,
        }
    }

    /// Returns the processor reservation, if the scheduling parameter is one.
    #[must_use]
    pub fn reservation(self) -> Option<Reservation> {
        match self {
            Self::FixedPriority(_) => None,
            Self::EarliestDeadlineFirst(reserved) => Some(reserved),
        }
    }
}
