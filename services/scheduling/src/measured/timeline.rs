//! Time line of requests, as an ORB has recorded it.

use super::arrivals::Arrivals;
use super::file::{MeasuredOperation, Measurements, Times};
use crate::time::Time;

/// Requests that a process has served, by operation. Times are those of one clock, which also runs while a thread
/// waits: there are no execution times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedTimeline {
    /// Operations with at least one job, by name.
    pub operations: Vec<RecordedOperation>,
    /// Number of jobs of operations for whose names there was no room.
    pub unnamed: u64,
    /// Number of later records of requests for which there was no room.
    pub lost: u64,
}

/// Jobs of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedOperation {
    /// Scoped name in IDL: `Module::Interface::operation`.
    pub name: String,
    /// Jobs, in the order in which their requests were read.
    pub jobs: Vec<RecordedJob>,
}

/// One request, by the times of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordedJob {
    /// Time at which the server had read the request.
    pub read: Time,
    /// Time at which the upcall began.
    pub begin: Time,
    /// Time at which the servant returned.
    pub end: Time,
}

impl RecordedJob {
    /// Returns the time from reading the request to the servant's return, waits included.
    #[must_use]
    pub fn response(&self) -> Time {
        self.end - self.read
    }

    /// Returns the time that the request waited for its upcall.
    #[must_use]
    pub fn wait(&self) -> Time {
        self.begin - self.read
    }
}

impl RecordedTimeline {
    /// Returns the jobs of an operation; empty if it never ran.
    #[must_use]
    pub fn jobs(&self, operation: &str) -> &[RecordedJob] {
        let found = self
            .operations
            .binary_search_by(|one| one.name.as_str().cmp(operation));
        let found = found.ok().and_then(|index| self.operations.get(index));
        found.map_or(&[], |one| &one.jobs)
    }

    /// Returns the distributions of response times and distances, without execution times.
    pub(super) fn measurements(&self) -> Measurements {
        let operations = self.operations.iter().map(|one| {
            let reads: Vec<Time> = one.jobs.iter().map(|job| job.read).collect();
            let distances = reads.windows(2).filter_map(|pair| match pair {
                [one, next] => Some(*next - *one),
                _ => None,
            });
            MeasuredOperation {
                name: one.name.clone(),
                execution: Times::default(),
                response: Times::of(one.jobs.iter().map(RecordedJob::response).collect()),
                distance: Times::of(distances.collect()),
                arrivals: Arrivals::of(&reads),
            }
        });
        Measurements {
            version: 1,
            not_recorded: self.unnamed,
            operations: operations.collect(),
        }
    }
}
