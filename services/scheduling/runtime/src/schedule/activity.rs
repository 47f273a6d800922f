//! Activities: operations of a plan with their place.

use punctual::rt::{Priority, Reservation, SchedulingParameter};
use punctual_scheduling::{Level, Time};

/// Operation of a plan on this host, as its threads and objects are to be scheduled.
#[derive(Clone, Debug)]
pub struct Activity {
    pub(super) name: String,
    pub(super) processor: usize,
    pub(super) priority: Priority,
    /// Priorities at which the activity's requests arrive, if it runs at its callers' priorities.
    pub(super) callers: Vec<Priority>,
    pub(super) dispatching: Dispatching,
    pub(super) wcet: Time,
    pub(super) period: Time,
    pub(super) deadline: Time,
    pub(super) offset: Time,
    pub(super) response: Option<Time>,
    pub(super) criticality: Level,
    pub(super) is_source: bool,
    pub(super) threads: u32,
}

/// Order in which a processor dispatches an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatching {
    /// By its fixed priority.
    Priority,
    /// At the caller's priority: the operation is called two-way within its host.
    Caller,
    /// By the kernel, earliest deadline first: its thread has this reservation (`SCHED_DEADLINE`).
    Reservation(Reservation),
    /// By deadline, in the queue of a lane of its priority; a job is not preempted by others of the queue.
    DeadlineQueue,
    /// By laxity, in the queue of a lane of its priority; a job is not preempted by others of the queue.
    LaxityQueue,
}

impl Activity {
    /// Returns the name, that of the operation in the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of the activity's processor, counted from 0 among the processors that the process may use.
    #[must_use]
    pub fn processor(&self) -> usize {
        self.processor
    }

    /// Returns its CORBA priority; the most urgent of its callers' where it runs at those.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Returns the order in which it is dispatched.
    #[must_use]
    pub fn dispatching(&self) -> Dispatching {
        self.dispatching
    }

    /// Returns the longest execution time of a job, with the operations that run in its thread.
    #[must_use]
    pub fn wcet(&self) -> Time {
        self.wcet
    }

    /// Returns the minimum distance of two releases.
    #[must_use]
    pub fn period(&self) -> Time {
        self.period
    }

    /// Returns the deadline, counted from the release of the operation with which the chain of calls starts.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns the worst-case response time, counted as the deadline; `None` if it has no bound.
    #[must_use]
    pub fn response(&self) -> Option<Time> {
        self.response
    }

    /// Returns the criticality.
    #[must_use]
    pub fn criticality(&self) -> Level {
        self.criticality
    }

    /// Returns whether the activity releases itself by its period, rather than by calls.
    #[must_use]
    pub fn is_source(&self) -> bool {
        self.is_source
    }

    /// Returns the time of the first release, counted from the start.
    #[must_use]
    pub fn offset(&self) -> Time {
        self.offset
    }

    /// Returns the scheduling parameter of a distributable thread's segment that executes the activity.
    #[must_use]
    pub fn scheduling_parameter(&self) -> SchedulingParameter {
        match self.dispatching {
            Dispatching::Reservation(reserved) => {
                SchedulingParameter::EarliestDeadlineFirst(reserved)
            }
            _ => SchedulingParameter::FixedPriority(self.priority),
        }
    }

    /// Returns whether its jobs are requests that wait in a queue, rather than run in a thread of their own.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        matches!(
            self.dispatching,
            Dispatching::DeadlineQueue | Dispatching::LaxityQueue
        )
    }

    pub(crate) fn callers(&self) -> &[Priority] {
        &self.callers
    }

    pub(crate) fn threads(&self) -> usize {
        usize::try_from(self.threads).unwrap_or(usize::MAX).max(1)
    }
}
