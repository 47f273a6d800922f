//! Measurements of the operations of a rehearsal.

use crate::schedule::Activity;
use punctual_scheduling::Time;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Jobs of an operation in a rehearsal, beside what the plan says of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rehearsed {
    /// Name of the operation.
    pub operation: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Number of jobs that ended after their deadline.
    pub missed: u64,
    /// Longest time from the release of the chain of calls to the end of a job.
    pub longest_response: Time,
    /// Mean of these times.
    pub mean_response: Time,
    /// Longest processor time of a job.
    pub longest_execution: Time,
    /// Computed worst-case response time; `None` without bound.
    pub response: Option<Time>,
    /// Planned execution time, with the operations that run in its thread.
    pub wcet: Time,
    /// Deadline.
    pub deadline: Time,
}

impl Rehearsed {
    /// Returns whether no job ended after its deadline, and none later than computed.
    #[must_use]
    pub fn is_as_planned(&self) -> bool {
        self.missed == 0
            && self
                .response
                .is_none_or(|bound| self.longest_response <= bound)
    }
}

/// Counts of the jobs of an operation.
#[derive(Debug, Default)]
pub(super) struct Counts {
    jobs: AtomicU64,
    missed: AtomicU64,
    longest_response: AtomicU64,
    sum_of_responses: AtomicU64,
    longest_execution: AtomicU64,
}

impl Counts {
    // Relaxed: statistics, read when all jobs have ended.
    pub(super) fn count(&self, response: u64, execution: u64, deadline: Time) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.longest_response.fetch_max(response, Ordering::Relaxed);
        self.sum_of_responses.fetch_add(response, Ordering::Relaxed);
        self.longest_execution
            .fetch_max(execution, Ordering::Relaxed);
        if response > deadline.as_nanos() {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn jobs(&self) -> u64 {
        self.jobs.load(Ordering::Relaxed)
    }

    pub(super) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    pub(super) fn beside(&self, activity: &Activity) -> Rehearsed {
        let time = |of: &AtomicU64| Time::from_nanos(of.load(Ordering::Relaxed));
        let jobs = self.jobs();
        let sum = self.sum_of_responses.load(Ordering::Relaxed);
        Rehearsed {
            operation: activity.name().to_owned(),
            jobs,
            missed: self.missed(),
            longest_response: time(&self.longest_response),
            mean_response: Time::from_nanos(sum.checked_div(jobs).unwrap_or(0)),
            longest_execution: time(&self.longest_execution),
            response: activity.response(),
            wcet: activity.wcet(),
            deadline: activity.deadline(),
        }
    }
}
