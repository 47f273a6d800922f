//! Configuration of Real-time CORBA: the table `[real_time]` and its options. The ORB itself does
//! not implement these settings. It refuses to start with them unless it has a source of priorities
//! that does ([`crate::Priorities::check`]).

use super::network_priority::DscpByPriority;
use crate::priority::Priority;
use punctual_sys::processor::Processors;
use punctual_sys::scheduling::Policy;
use std::fmt;
use std::time::Duration;

/// Settings of Real-time CORBA (`OrbConfig::real_time`). `None` leaves a setting to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RealTimeSettings {
    /// Reaction if the machine does not grant native priorities (`mode`, `-ORBRealTime`).
    pub mode: Option<RealTime>,
    /// Scheduling policy of native priorities (`policy`, `-ORBSchedPolicy`).
    pub policy: Option<NativePolicy>,
    /// Mapping of CORBA priorities to native ones (`mapping`, `-ORBPriorityMapping`).
    pub mapping: Option<StandardMapping>,
    /// Highest priority that clients may ask for (`highest_propagated`, `-ORBPropagated`).
    pub highest_propagated: Option<Priority>,
    /// Treatment of requests with a priority above `highest_propagated` (`above_highest`,
    /// `-ORBPropagated`).
    pub above_highest: Option<AboveHighest>,
    /// DSCP of requests' packets by CORBA priority (`request_dscp`).
    pub request_dscp: Option<DscpByPriority>,
    /// DSCP of replies' packets by CORBA priority (`reply_dscp`).
    pub reply_dscp: Option<DscpByPriority>,
    /// Processors that threads of lanes and thread pools may run on (`processors`).
    pub processors: Option<Processors>,
    /// If true, the pages of these threads' stacks are touched (prefaulted) before the threads
    /// begin.
    pub prefault_stack: Option<bool>,
    /// If true, the memory of the process is locked (`lock_memory`, `-ORBLockMemory`).
    pub lock_memory: Option<bool>,
    /// Settings of dynamic scheduling (`[real_time.dynamic_scheduling]`).
    pub dynamic_scheduling: Option<DynamicSchedulingSettings>,
}

/// Settings of dynamic scheduling in Real-time CORBA.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamicSchedulingSettings {
    /// Scheduling disciplines that scheduling segments may use (`disciplines`).
    pub disciplines: Option<Vec<Discipline>>,
    /// Maximum that the upcall of a client's segment may reserve: a runtime, and hundredths of one
    /// processor (`reservation_runtime_us`, `reservation_percent`).
    pub most_reserved: Option<(Duration, u32)>,
    /// Treatment of requests that ask for a larger reservation (`above_reservation`).
    pub above_reservation: Option<AboveHighest>,
}

/// Reaction if the machine does not grant native priorities, that is, without `CAP_SYS_NICE` and
/// with an `RLIMIT_RTPRIO` below the highest priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RealTime {
    /// The ORB refuses to start.
    #[default]
    Require,
    /// The ORB warns once, and threads keep their present native priority (`RtOrb::is_degraded`).
    BestEffort,
}

/// Scheduling policy of the threads that have a CORBA priority (`sched(7)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NativePolicy {
    /// `SCHED_FIFO`: native priorities 1 to 99 on Linux.
    #[default]
    Fifo,
    /// `SCHED_RR`, which shares the time of a priority among its threads.
    RoundRobin,
    /// `SCHED_OTHER`, whose only native priority is 0: CORBA priorities are propagated and order
    /// requests, but threads run as all others.
    Other,
}

/// Standard mapping of CORBA priorities to native priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardMapping {
    /// Identity: the native priority has the number of the CORBA priority.
    Direct,
    /// Scaling of the whole CORBA range to the whole native range.
    Linear,
    /// One native priority for each CORBA priority, beginning with the lowest of both.
    Continuous,
}

/// Treatment of a request whose client asks for more than clients may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AboveHighest {
    /// The request is given the maximum that clients may ask for.
    #[default]
    Cap,
    /// Refusal of the request with the exception NO_PERMISSION.
    Refuse,
}

/// Scheduling discipline of a scheduling parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Scheduling by fixed priorities.
    FixedPriority,
    /// Scheduling by earliest deadline first (EDF).
    EarliestDeadlineFirst,
}

impl Discipline {
    /// List of all scheduling disciplines.
    pub const ALL: [Self; 2] = [Self::FixedPriority, Self::EarliestDeadlineFirst];
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FixedPriority => "fixed priority",
            Self::EarliestDeadlineFirst => "earliest deadline first",
        })
    }
}

impl From<NativePolicy> for Policy {
    fn from(policy: NativePolicy) -> Self {
        match policy {
            NativePolicy::Fifo => Self::Fifo,
            NativePolicy::RoundRobin => Self::RoundRobin,
            NativePolicy::Other => Self::Other,
        }
    }
}
