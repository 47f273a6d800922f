//! Dynamic scheduling (Real-time CORBA 1.2, RTScheduling): scheduling segments and distributable threads, as far as
//! the Linux kernel schedules by deadlines itself.
//!
//! A thread that begins a *scheduling segment* becomes a *distributable thread*: it has an id, and keeps it through the calls
//! that it makes, in each process on its way. The segment's *scheduling parameter* is of one of two *disciplines*: a fixed
//! priority, or a reservation, which the kernel keeps by earliest deadline first (`SCHED_DEADLINE`).
//!
//! [`SchedulingCurrent`] is what applications call. `stack` has the segments that the calling thread is in, and changes its
//! scheduling with them; `context` is the service context that requests carry, and `upcall` obeys it around upcalls, as far
//! as [`DynamicScheduling`] allows. `distributable` knows the distributable threads on whose way this process is, and
//! `published` lets other processes cancel them.

mod config;
mod context;
mod current;
mod distributable;
mod dynamic;
mod error;
mod parameter;
mod published;
mod stack;
mod thread;
mod upcall;

pub use config::{DynamicScheduling, PropagatedReservations, ReservationLimit};
pub use current::{SchedulingCurrent, Spawned};
pub use distributable::{DistributableThread, DistributableThreadId, DistributableThreadState};
pub use error::SegmentError;
pub use parameter::SchedulingParameter;
pub use published::DistributableThreads;
pub use stack::Overrun;

pub(crate) use context::SegmentContext;
pub(crate) use dynamic::Dynamic;
pub(crate) use stack::scheduling_point;
pub(crate) use upcall::InSegment;
