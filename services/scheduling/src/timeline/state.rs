//! State of a simulation: jobs, processors, and the events that are to come.

use super::processor::Processor;
use super::program::Program;
use super::{Activity, Job, Slice};
use crate::analysis::blocking::Protocol;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// State of all jobs and processors at one time.
pub(super) struct Simulation {
    pub(super) programs: Vec<Program>,
    pub(super) protocol: Protocol,
    pub(super) processors: Vec<Processor>,
    pub(super) jobs: Vec<State>,
    /// Mutexes that are held, and the jobs that hold them.
    pub(super) held: BTreeMap<usize, usize>,
    pub(super) now: Time,
    pub(super) events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    pub(super) scheduled: u64,
    pub(super) handled: usize,
    /// Releases of conjunctions that have not arrived from all suppliers, by stream and number.
    pub(super) joining: BTreeMap<(usize, u64), Joining>,
    pub(super) is_cut: bool,
}

/// Job and its progress.
pub(super) struct State {
    pub(super) job: Job,
    pub(super) executed: Time,
    /// Time at which the job locked the mutex of its critical section.
    pub(super) locked: Option<Time>,
    pub(super) slices: Vec<Slice>,
    /// Job that awaits the reply of this one, and the time of the reply.
    pub(super) caller: Option<(usize, Time)>,
    /// Number of callees that were called.
    pub(super) called: usize,
    pub(super) awaits_since: Time,
}

/// Arrivals at a conjunction.
#[derive(Default)]
pub(super) struct Joining {
    pub(super) arrived: usize,
    pub(super) source_release: Time,
}

/// Release of a job that is under way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    pub(super) stream: usize,
    pub(super) number: u64,
    pub(super) source_release: Time,
    pub(super) caller: Option<(usize, Time)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A source releases its next job.
    Source { stream: usize, number: u64 },
    /// A message arrives that releases a job.
    Arrival(Arrival),
    /// A job has the reply that it awaits.
    Reply { job: usize },
    /// The job of a processor reaches a stop, unless the processor was looked at in between.
    Stop { processor: usize, look: u64 },
}

/// Adds a slice to a job, or lengthens the one before it.
pub(super) fn push(state: &mut State, job: usize, (from, to): (Time, Time), activity: Activity) {
    if from >= to {
        return;
    }
    match state.slices.last_mut() {
        Some(last) if last.to == from && last.activity == activity => last.to = to,
        _ => state.slices.push(Slice {
            job,
            stream: state.job.stream,
            from,
            to,
            activity,
        }),
    }
}
