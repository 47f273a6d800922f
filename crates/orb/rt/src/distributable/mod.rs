//! Dynamic scheduling (Real-time CORBA 1.2, RTScheduling): scheduling segments and distributable
//! threads, as far as the Linux kernel schedules by deadlines itself.
//!
//! A thread that begins a *scheduling segment* becomes a *distributable thread*: it has an id, and
//! keeps it in each process that its calls pass through. The segment's *scheduling parameter* is of
//! one of two *disciplines*: a fixed priority, or a reservation, which the kernel keeps by earliest
//! deadline first (`SCHED_DEADLINE`).
//!
//! Applications call [`SchedulingCurrent`]. `stack` holds the segments of the calling thread and
//! changes its scheduling with them; `context` is the service context that requests carry,
//! `carried` its data; `upcall` applies it to upcalls, as far as [`DynamicScheduling`] allows.
//! `registry` knows the distributable threads that pass through this process, and `published` lets
//! other processes cancel them.

mod carried;
mod config;
mod context;
mod current;
mod dynamic;
mod error;
mod overrun;
mod parameter;
mod published;
mod registry;
mod stack;
mod thread_scheduling;
mod upcall;

pub use config::{DynamicScheduling, PropagatedReservations, ReservationLimit};
pub use current::{SchedulingCurrent, Spawned};
pub use error::SegmentError;
pub use overrun::Overrun;
pub use parameter::SchedulingParameter;
pub use published::DistributableThreads;
pub use registry::{DistributableThread, DistributableThreadId, DistributableThreadState};

pub(crate) use context::SegmentContext;
pub(crate) use dynamic::Dynamic;
pub(crate) use stack::scheduling_point;
pub(crate) use upcall::InSegment;
