//! What an ORB is told of Real-time CORBA.

use crate::distributable::DynamicScheduling;
use crate::mapping::Mapping;
use punctual_exec::thread::Processors;
use punctual_orb::{
    AboveHighest, NativePolicy, Priority, RealTime, SystemException, SystemExceptionKind as Kind,
};
use punctual_sys::scheduling::Scheduling;
use std::fmt::Debug;
use std::sync::Arc;

/// Settings of an [`crate::RtOrb`]. Most may be configured, too: the table `[real_time]` and its options
/// ([`RtConfig::configured`]).
#[derive(Clone, Debug, Default)]
pub struct RtConfig {
    /// Which scheduling policy native priorities are of.
    pub policy: NativePolicy,
    /// From CORBA priorities to native ones.
    pub mapping: Mapping,
    /// What happens where the machine does not grant native priorities.
    pub real_time: RealTime,
    /// How far clients decide.
    pub propagated: Propagated,
    /// What changes priorities on their way, if anything does.
    pub transform: Option<Arc<dyn PriorityTransform>>,
    /// How the threads of lanes and thread pools are started.
    pub threads: LaneThreads,
    /// Whether the memory of the process is kept in memory, all of it that is used from now on (`mlockall(2)`), so that
    /// no real-time thread waits for a page.
    pub lock_memory: bool,
    /// Dynamic scheduling: segments and distributable threads ([`RtOrb::scheduling`](crate::RtOrb::scheduling)). Without it
    /// there are none, and requests that are made in segments are served as any other.
    pub dynamic_scheduling: Option<DynamicScheduling>,
}

/// How the threads of lanes and thread pools are started, beside their priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneThreads {
    /// The processors that they may run on; those of the thread that starts them, if it is not said.
    pub processors: Option<Processors>,
    /// Whether their stacks are brought into memory before they begin, so that no page fault delays an upcall.
    pub prefault_stack: bool,
}

/// Changes priorities on their way (RTCORBA::PriorityTransform; Real-time CORBA 1.2, §5.9): those of requests before
/// upcalls, and those that the requests of threads carry.
pub trait PriorityTransform: Send + Sync + Debug {
    /// The priority that an upcall runs at which the priority model puts at `priority`; `None` refuses the request with
    /// DATA_CONVERSION. As it is, unless the transform says otherwise.
    fn inbound(&self, priority: Priority) -> Option<Priority> {
        Some(priority)
    }

    /// The priority that a request carries of a thread at `priority`. As it is, unless the transform says otherwise.
    fn outbound(&self, priority: Priority) -> Priority {
        priority
    }
}

/// The priorities that clients may ask for by CLIENT_PROPAGATED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Propagated {
    /// The highest that is obeyed.
    pub highest: Priority,
    /// What becomes of a request above it.
    pub above: AboveHighest,
}

impl Default for Propagated {
    /// All that there are.
    fn default() -> Self {
        Self {
            highest: Priority::MAX,
            above: AboveHighest::default(),
        }
    }
}

impl Propagated {
    /// The priority that a request is served at which asks for this one.
    ///
    /// # Errors
    /// NO_PERMISSION above the highest, where that is refused.
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
        "a request asks for CORBA priority {wanted}, and clients may ask for {highest} at most"
    ))
}

/// A thread with this policy, at a native priority.
#[inline]
pub(crate) fn scheduling_at(policy: NativePolicy, priority: i32) -> Scheduling {
    match policy {
        NativePolicy::Fifo => Scheduling::Fifo { priority },
        NativePolicy::RoundRobin => Scheduling::RoundRobin { priority },
        NativePolicy::Other => Scheduling::Other,
    }
}
