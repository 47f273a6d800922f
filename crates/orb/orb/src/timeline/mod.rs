//! The timeline of requests: when each was read, queued, served and answered, by which thread, and at which CORBA
//! priority.
//!
//! Nothing is recorded unless a [`Timeline`] runs: a point on a call's way is a load and a branch then. While one runs, a
//! point reads the clock and writes 24 bytes into memory of the thread's own: no lock and no system call, and no allocation
//! but for a thread's first record. A thread whose memory is full records no more, and counts what is lost: what
//! is there has no gaps.
//!
//! It is the process's, not an ORB's, as threads may serve several. What one call costs at each stage tells
//! [`crate::probe`]; this tells in which order requests are served, and what each waited for.

mod record;
mod session;
mod thread;

pub use record::{Record, RequestId, Stage};
pub use session::{AlreadyRecording, Timeline, TimelineLimits, is_recording};
pub use thread::ThreadRecords;

use crate::priority::Priority;

/// A request comes to a stage, at the calling thread's hands; when that was.
#[cold]
#[inline(never)]
pub(crate) fn comes_to(stage: Stage, request: RequestId, priority: Option<Priority>) -> u64 {
    session::record(stage, request, priority)
}

/// The upcall of the request that the calling thread serves runs at this priority from now on. For who sets priorities
/// (`punctual_rt`), where [`is_recording`].
#[cold]
#[inline(never)]
pub fn runs_at(priority: Priority) {
    if let Some(request) = thread::in_upcall() {
        session::record(Stage::RunsAt, request, Some(priority));
    }
}

/// The calling thread is in the upcall of a request from now on; in which it was before, to be told when that ends.
#[cold]
#[inline(never)]
pub(crate) fn is_in_upcall(request: Option<RequestId>) -> Option<RequestId> {
    thread::set_in_upcall(request)
}
