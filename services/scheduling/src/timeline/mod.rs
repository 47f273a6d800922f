//! Timeline: a simulation of a plan, job by job, from the first releases of all sources.
//!
//! Deterministic discrete events. Sources are released at their offsets and then by their periods,
//! without jitter; each job takes its worst-case execution time, each message its maximum time. A
//! stream is released when the jobs that release it have ended, a conjunction by the last of them.
//! A job that awaits replies first executes its own time, then is suspended until each callee has
//! replied, one after the other; several calls of one callee run as one job of it.
//!
//! A simulation shows one run of a plan. It proves nothing: other offsets or shorter executions may
//! have longer responses. No response of a plan that fits exceeds the computed one.
//!
//! ```text
//! program     description of a stream's jobs
//! simulation  events: releases, messages, ends
//! dispatch    choice of the job that a processor runs: levels, preemption, mutexes
//! ```

mod dispatch;
mod processor;
mod program;
mod simulation;
mod state;

use crate::time::Time;
pub use simulation::simulate;

/// Number of events after which a simulation is cut.
pub const MOST_EVENTS: usize = 20_000;

/// Jobs and their execution in a window that starts at time zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// End of the window; earlier if the simulation was cut.
    pub until: Time,
    /// `true` if the simulation was cut after [`MOST_EVENTS`].
    pub is_cut: bool,
    /// Slices of each processor, in the order of [`Plan::processors`](crate::plan::Plan::processors), by their starts.
    pub processors: Vec<Vec<Slice>>,
    /// Jobs, in the order of their releases.
    pub jobs: Vec<Job>,
    /// Longest response of the jobs of each stream that have ended, counted from the release of the
    /// source.
    pub worst: Vec<Option<Time>>,
}

/// Interval in which a job does one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Index of the job.
    pub job: usize,
    /// Index of the stream.
    pub stream: usize,
    /// Start of the interval.
    pub from: Time,
    /// End of the interval.
    pub to: Time,
    /// State of the job meanwhile.
    pub activity: Activity,
}

/// State of a job; a job in none of them waits for jobs that are served before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// The processor executes the job.
    Running,
    /// The job waits while its processor executes a job of a lower level, which holds a mutex or
    /// cannot be preempted.
    Blocked,
    /// The job awaits the reply of another host.
    Awaiting,
}

/// One execution of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index of the stream.
    pub stream: usize,
    /// Number of the job in its stream, from zero.
    pub number: u64,
    /// Release of the source; of several, the last.
    pub source_release: Time,
    /// Release of the job.
    pub release: Time,
    /// End of the job; `None` if it lies behind the window.
    pub end: Option<Time>,
    /// Time by which the job has to end.
    pub deadline: Time,
    /// `true` if the job has not ended by its deadline, and the deadline is within the window.
    pub is_missed: bool,
}

impl Timeline {
    /// Returns the first job of a stream, if it was released in the window.
    #[must_use]
    pub fn first_job(&self, stream: usize) -> Option<&Job> {
        self.jobs.iter().find(|job| job.stream == stream)
    }

    /// Returns the jobs that miss their deadlines.
    pub fn missed(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().filter(|job| job.is_missed)
    }
}
