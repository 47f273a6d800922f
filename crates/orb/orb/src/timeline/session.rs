//! State of the timeline that is being recorded, if there is one.

use super::connections::{self, RecordedConnection};
use super::record::{Record, RequestId, Stage};
use super::recorder::{ClockReading, Recorder};
use super::thread::{self, Memory, OfThread, ThreadRecords};
use crate::observed::set_timeline;
use crate::priority::Priority;
use punctual_sys::{clock, processor};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of the timeline that is being recorded; 0 if none is.
static CURRENT: AtomicU64 = AtomicU64::new(0);
static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// State of the timeline that is being recorded.
#[derive(Debug)]
pub(super) struct Session {
    number: u64,
    limits: TimelineLimits,
    /// Memory for the records of threads that have none yet.
    free: Vec<Memory>,
    threads: Vec<Arc<OfThread>>,
    connections: Vec<RecordedConnection>,
    began: ClockReading,
}

/// Timeline that has been recorded, with what is needed to join it with those of other processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Records of each thread.
    pub threads: Vec<ThreadRecords>,
    /// Connections over which the requests have passed, up to 65,536.
    pub connections: Vec<RecordedConnection>,
    /// This process and its clocks.
    pub recorder: Recorder,
}

/// Recording of the timeline of the process's requests, until it is stopped or dropped.
#[derive(Debug)]
#[must_use]
pub struct Timeline(());

/// Limits on the size of a timeline. Its memory is allocated and populated at the start, so that no
/// upcall waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineLimits {
    /// Maximum number of records of each thread, 24 bytes each. A served request has four or five, a call three.
    pub records: usize,
    /// Maximum number of threads whose records the timeline can hold.
    pub threads: usize,
    /// Maximum number of operations of each thread whose names the timeline can hold, up to 65,535. Upcalls of further
    /// ones are recorded without a name.
    pub operations: usize,
}

impl Default for TimelineLimits {
    /// Returns the default: 65,536 records for each of 64 threads,
    /// which is 96 MiB, and 256 operations.
    fn default() -> Self {
        Self {
            records: 1 << 16,
            threads: 64,
            operations: 256,
        }
    }
}

/// Error: a timeline is already being recorded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a timeline of this process is being recorded already")]
pub struct AlreadyRecording;

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for AlreadyRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Timeline {
    /// Allocates the memory of all threads' records, and begins to record.
    ///
    /// # Errors
    /// [`AlreadyRecording`].
    pub fn start(limits: TimelineLimits) -> Result<Self, AlreadyRecording> {
        let mut session = session();
        if session.is_some() {
            return Err(AlreadyRecording);
        }
        // Relaxed: only uniqueness matters.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        *session = Some(Session::new(number, limits));
        // Relaxed: a request in progress is recorded from some stage on.
        CURRENT.store(number, Ordering::Relaxed);
        set_timeline(true);
        Ok(Self(()))
    }

    /// Stops recording the timeline; returns the records of each thread.
    #[must_use]
    pub fn stop(self) -> Vec<ThreadRecords> {
        self.finish().threads
    }

    /// Stops recording the timeline; returns the records of each thread, the connections, and readings of the clocks.
    #[must_use]
    pub fn finish(self) -> Recording {
        let ended = end();
        std::mem::forget(self);
        recording(ended.as_ref())
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        drop(end());
    }
}

/// Begins to record until the process ends, unless a timeline is being recorded.
pub(crate) fn start_for_process() {
    if let Ok(timeline) = Timeline::start(TimelineLimits::default()) {
        std::mem::forget(timeline);
    }
}

/// Returns the records so far of the timeline that is being recorded; none if there is none.
pub(super) fn recorded() -> Recording {
    recording(session().as_ref())
}

fn recording(session: Option<&Session>) -> Recording {
    let began = session.map_or_else(ClockReading::now, |session| session.began);
    Recording {
        threads: session.map_or_else(Vec::new, Session::records),
        connections: session.map_or_else(Vec::new, |session| session.connections.clone()),
        recorder: Recorder::this(began),
    }
}

/// Adds a connection to the timeline of this number, if it is being recorded and has room.
pub(super) fn add_connection(number: u64, connection: RecordedConnection) {
    if let Some(session) = session().as_mut()
        && session.number == number
        && session.connections.len() < connections::MOST
    {
        session.connections.push(connection);
    }
}

fn end() -> Option<Session> {
    set_timeline(false);
    CURRENT.store(0, Ordering::Relaxed);
    session().take()
}

/// Returns whether a timeline is being recorded.
#[inline]
#[must_use]
pub fn is_recording() -> bool {
    // First, so that a program without the feature has no code for it.
    cfg!(feature = "recordings") && current() != 0
}

/// Returns the number of the timeline that is being recorded; 0 if none is.
#[inline]
pub(super) fn current() -> u64 {
    CURRENT.load(Ordering::Relaxed)
}

fn session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records that the calling thread has reached a stage now. Returns the time.
pub(super) fn record(stage: Stage, request: RequestId, priority: Option<Priority>) -> u64 {
    let session = current();
    let record = Record {
        at: clock::nanos(),
        stage,
        request,
        priority,
        operation: match stage {
            Stage::UpcallEnd => thread::take_served(session),
            _ => None,
        },
        processor: u8::try_from(processor::current()).unwrap_or(u8::MAX),
    };
    // The timeline may have ended meanwhile; then there is none to join.
    thread::push(record, session, || {
        self::session().as_mut().map(Session::joined)
    });
    record.at
}

/// Records that the calling thread has served this operation for the request whose upcall it is in.
pub(super) fn record_served(interface: &'static str, operation: &str) {
    thread::set_served(current(), interface, operation);
}

impl Session {
    fn new(number: u64, limits: TimelineLimits) -> Self {
        let memory = || thread::memory(limits.records);
        Self {
            number,
            limits,
            free: std::iter::repeat_with(memory)
                .take(limits.threads)
                .collect(),
            threads: Vec::with_capacity(limits.threads),
            connections: Vec::new(),
            began: ClockReading::now(),
        }
    }

    /// Gives the calling thread memory for its records; none if the maximum number of threads is
    /// reached.
    fn joined(&mut self) -> Arc<OfThread> {
        let memory = self.free.pop().unwrap_or_default();
        let own = OfThread::new(self.number, memory, self.limits.operations);
        self.threads.push(own.clone());
        own
    }

    fn records(&self) -> Vec<ThreadRecords> {
        self.threads.iter().map(|one| one.records()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_the_memory_that_was_allocated_at_the_start() {
        let limits = TimelineLimits {
            records: 10,
            threads: 2,
            operations: 1,
        };
        let mut session = Session::new(1, limits);
        let allocated: Vec<_> = session.free.iter().map(|one| one.as_ptr()).collect();
        let given: Vec<_> = (0..2).map(|_| session.joined()).collect();
        let given: Vec<_> = given
            .iter()
            .rev()
            .map(|one| one.memory().as_ptr())
            .collect();
        assert_eq!(given, allocated);
        assert!(session.joined().memory().is_empty());
    }
}
