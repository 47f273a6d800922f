//! Settings of Real-time CORBA for a program.

use crate::distributable::DynamicScheduling;
use crate::mapping::Mapping;
use punctual_exec::thread::Processors;
use punctual_orb::{
    AboveHighest, DscpByPriority, NativePolicy, Priority, RealTime, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_sys::scheduling::Scheduling;
use std::fmt::Debug;
use std::sync::Arc;

/// Settings of an [`crate::RtOrb`]. Most of them can also be set in the configuration file's table
/// `[real_time]` and by command-line options ([`RtConfig::configured`]).
#[derive(Clone, Debug, Default)]
pub struct RtConfig {
    /// Scheduling policy for threads with a native priority.
    pub policy: NativePolicy,
    /// Mapping of CORBA priorities to native priorities.
    pub mapping: Mapping,
    /// Reaction if the machine does not grant native priorities.
    pub real_time: RealTime,
    /// Limit on the priorities that clients may propagate.
    pub propagated: Propagated,
    /// DSCP of packets by CORBA priority; none by default.
    pub network: NetworkPriorities,
    /// Transform applied to priorities when calls are sent and served, if there is one.
    pub transform: Option<Arc<dyn PriorityTransform>>,
    /// Attributes of the threads of lanes and thread pools.
    pub threads: LaneThreads,
    /// If true, the memory of the process is locked, including all that is allocated from now on
    /// (`mlockall(2)`), so that no real-time thread waits for a page.
    pub lock_memory: bool,
    /// Dynamic scheduling: segments and distributable threads
    /// ([`RtOrb::scheduling`](crate::RtOrb::scheduling)). Without it there are none, and requests
    /// that are made in segments are served like all others.
    pub dynamic_scheduling: Option<DynamicScheduling>,
}

/// Priorities of packets in networks by CORBA priority: TAO's network priority mapping, for both directions.
///
/// A connection's packets are marked once, when it is opened, accepted, or announces its band: a call costs the same
/// as without. An ORB's client has connections of their own for each priority of its threads, so that requests have the
/// DSCP of their thread's priority; on a priority-banded connection that of the band's lowest priority. Replies have
/// that of the endpoint's lane, or of the band's lowest priority; on other connections they are not marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkPriorities {
    /// DSCP of requests' packets.
    pub requests: DscpByPriority,
    /// DSCP of replies' packets.
    pub replies: DscpByPriority,
}

/// Attributes of the threads of lanes and thread pools, beside their priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneThreads {
    /// Processors that the threads may run on; by default those of the thread that starts them.
    pub processors: Option<Processors>,
    /// If true, the threads' stacks are brought into memory before the threads begin, so that no
    /// page fault delays an upcall.
    pub prefault_stack: bool,
}

/// Transform of priorities (RTCORBA::PriorityTransform; Real-time CORBA 1.2, §5.9): inbound, of the
/// priorities of upcalls; outbound, of the priorities that requests carry.
pub trait PriorityTransform: Send + Sync + Debug {
    /// Returns the priority of an upcall for which the priority model requires `priority`; `None`
    /// refuses the request with DATA_CONVERSION. The default returns `priority` unchanged.
    fn inbound(&self, priority: Priority) -> Option<Priority> {
        Some(priority)
    }

    /// Returns the priority that a request made by a thread at `priority` carries. The default
    /// returns `priority` unchanged.
    fn outbound(&self, priority: Priority) -> Priority {
        priority
    }
}

/// Limit on the priorities that clients may propagate with CLIENT_PROPAGATED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Propagated {
    /// Highest priority at which a client's request is served.
    pub highest: Priority,
    /// Treatment of a client's request whose priority exceeds the highest one allowed.
    pub above: AboveHighest,
}

impl Default for Propagated {
    /// Returns the default limit, which allows clients to propagate all priorities.
    fn default() -> Self {
        Self {
            highest: Priority::MAX,
            above: AboveHighest::default(),
        }
    }
}

impl Propagated {
    /// Returns the priority at which a request that carries priority `wanted` is served.
    ///
    /// # Errors
    /// NO_PERMISSION for a priority above the highest, if such requests are refused.
    #[inline]
    pub(crate) fn allowed(self, wanted: Priority) -> Result<Priority, SystemException> {
        match self.above {
            _ if wanted <= self.highest => Ok(wanted),
            AboveHighest::Cap => Ok(self.highest),
            AboveHighest::Refuse => Err(too_high(wanted, self.highest)),
        }
    }
}

#[cold]
fn too_high(wanted: Priority, highest: Priority) -> SystemException {
    Kind::NoPermission.because(format!(
        "a request asks for CORBA priority {wanted}, above the limit of {highest} for clients"
    ))
}

/// Returns the kernel's scheduling parameters for this policy and this native priority.
#[inline]
pub(crate) fn scheduling_at(policy: NativePolicy, priority: i32) -> Scheduling {
    match policy {
        NativePolicy::Fifo => Scheduling::Fifo { priority },
        NativePolicy::RoundRobin => Scheduling::RoundRobin { priority },
        NativePolicy::Other => Scheduling::Other,
    }
}
