//! The timeline of requests: the times at which each was read, queued, served and answered, with
//! the thread and its CORBA priority.
//!
//! Nothing is recorded unless a [`Timeline`] is running: otherwise each recording point of a call
//! costs a load and a branch. While a timeline is running, a point reads the clock and writes 24
//! bytes into memory of the thread, which was allocated when the timeline began: no lock and no
//! system call, and no allocation except for a thread's name, with its first record, an operation's, with the
//! thread's first upcall of it, and a connection's addresses, with its first request, which take a lock as well. A thread whose memory is full stops recording and counts the lost records, so the
//! recorded ones have no gaps.
//!
//! All times are of one clock, the upcall's waits and preemptions included: a timeline has response times, and no
//! execution times ([`crate::measurement`] has those).
//!
//! The timeline is global to the process, as a thread may serve several ORBs. The cost of a call's
//! stages is measured by [`crate::probe`]; the timeline shows the order in which requests are
//! served, and their waiting times.

mod chrome;
mod connections;
mod file;
mod mark;
mod names;
mod record;
mod recorder;
mod session;
mod thread;

pub use chrome::{write_chrome_trace, write_recording};
pub use connections::{RecordedConnection, Side};
pub use file::write_file;
pub(crate) use mark::ConnectionMark;
pub use punctual_sys::discipline::Discipline;
pub use record::{Record, RequestId, Stage};
pub use recorder::{ClockReading, Recorder};
pub(crate) use session::start_for_process;
pub use session::{AlreadyRecording, Recording, Timeline, TimelineLimits, is_recording};
pub use thread::ThreadRecords;

use crate::priority::Priority;

/// Records that a request has reached a stage on the calling thread. Returns the time.
#[cold]
#[inline(never)]
pub(crate) fn record_stage(stage: Stage, request: RequestId, priority: Option<Priority>) -> u64 {
    session::record(stage, request, priority)
}

/// Records that the upcall of the request that the calling thread serves runs at this priority from
/// now on. For the code that sets priorities (`punctual_rt`), while [`is_recording`].
#[cold]
#[inline(never)]
pub fn runs_at(priority: Priority) {
    if let Some(request) = thread::in_upcall() {
        session::record(Stage::RunsAt, request, Some(priority));
    }
}

/// Records that the calling thread has served this operation of a servant with this repository id, for the request
/// whose upcall it is in. For object adapters, while [`is_recording`].
#[cold]
#[inline(never)]
pub fn served(interface: &'static str, operation: &str) {
    session::record_served(interface, operation);
}

/// Sets the request whose upcall the calling thread is in; no operation has been served for it yet. Returns the
/// previous one, to be restored when the upcall has ended.
#[cold]
#[inline(never)]
pub(crate) fn is_in_upcall(request: Option<RequestId>) -> Option<RequestId> {
    thread::set_in_upcall(request)
}
