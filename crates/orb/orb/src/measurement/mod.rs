//! Measurement of upcalls: execution times, response times and periods of each operation, and their
//! comparison with a plan.
//!
//! Nothing is measured unless a [`Recording`] is running: otherwise an upcall costs a load and a
//! branch more. While one is running, an upcall reads two clocks before and two after it, the thread's
//! CPU clock by a system call, and adds to counters of the thread: two atomic operations, no lock but one that
//! is tried once in 64 upcalls, without waiting, and no allocation except at a thread's first upcall of an
//! operation. The number of operations is bounded;
//! upcalls of further ones are counted as not recorded.
//!
//! - The *execution time* is what the thread's CPU clock (`CLOCK_THREAD_CPUTIME_ID`) says, without
//!   the upcalls that the thread made meanwhile, which belong to their own operations.
//! - The *response time* counts from the beginning of the upcall to its end, waits included. The
//!   time that the request waited before is not in it; [`crate::timeline`] has that.
//! - The *distance* of two upcalls of an operation counts from beginning to beginning, over all
//!   objects and threads. The jitter is the longest distance minus the shortest.
//! - [`Arrivals`] are the period and the jitter within which all upcalls of an operation began, bursts included.
//!
//! Responses and distances are measured by the processor's counter where it runs at one rate (invariant time stamp
//! counters, `cntvct_el0`), elsewhere by `CLOCK_MONOTONIC`. The first recording of a process compares the two for 10 ms
//! before it starts. An operation is named by the interface that declares it, whichever interface inherits it.
//!
//! A servant that answers later ([`crate::PendingReply`]) is measured until it returns. Operations
//! that every object has (`_is_a` and others) are not measured. The recording is global to the
//! process, as a thread may serve several ORBs.

mod arrivals;
mod expected;
mod histogram;
mod json;
mod key;
mod operation;
mod recording;
mod session;
mod thread;
mod ticks;
mod upcall;

pub use arrivals::Arrivals;
pub use expected::{Expected, Violation, ViolationHandler, ViolationKind};
pub use histogram::Distribution;
pub use json::{to_json, write_file};
pub use operation::MeasuredOperation;
pub(crate) use recording::start_for_process;
pub use recording::{AlreadyMeasuring, Measured, Recording, RecordingOptions, current};
pub use session::is_recording;
pub use upcall::{FirstUpcall, MeasuredUpcall, RecentUpcall};
