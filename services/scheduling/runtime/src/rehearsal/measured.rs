//! Measurements of the operations of a rehearsal.

use super::distribution::Distribution;
use crate::schedule::Activity;
use punctual_scheduling::Time;
use punctual_scheduling::draw::{Measured, responses};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Measured jobs of an operation in a rehearsal, with the planned values to compare.
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
    /// Longest processor time that a job was charged with: its work, the ORB's, and what the platform took
    /// meanwhile.
    pub longest_execution: Time,
    /// Number of jobs that were charged with more than `wcet`.
    pub overcharged: u64,
    /// Computed worst-case response time; `None` without bound.
    pub response: Option<Time>,
    /// Planned execution time, with the operations that run in its thread.
    pub wcet: Time,
    /// Deadline.
    pub deadline: Time,
    /// Width of the classes of `responses`.
    pub class: Time,
    /// Number of response times in each class, from zero on; the last of 216 has the longer ones, too.
    pub responses: Vec<u64>,
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

/// Draws the measured response times beside the computed ones, as an SVG; `note` says how they were measured.
#[must_use]
pub fn draw(title: &str, note: &str, operations: &[Rehearsed]) -> String {
    let measured = operations.iter().map(|one| Measured {
        operation: one.operation.clone(),
        jobs: one.jobs,
        missed: one.missed,
        longest: one.longest_response,
        computed: one.response,
        deadline: one.deadline,
        class: one.class,
        counts: one.responses.clone(),
    });
    responses(title, note, &measured.collect::<Vec<_>>())
}

/// Counts of the jobs of an operation.
#[derive(Debug)]
pub(super) struct Counts {
    wcet: u64,
    deadline: u64,
    distribution: Distribution,
    overcharged: AtomicU64,
    jobs: AtomicU64,
    missed: AtomicU64,
    longest_response: AtomicU64,
    sum_of_responses: AtomicU64,
    longest_execution: AtomicU64,
}

impl Counts {
    pub(super) fn of(activity: &Activity) -> Self {
        Self {
            wcet: activity.wcet().as_nanos(),
            deadline: activity.deadline().as_nanos(),
            distribution: Distribution::up_to(activity.deadline()),
            overcharged: AtomicU64::new(0),
            jobs: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            longest_response: AtomicU64::new(0),
            sum_of_responses: AtomicU64::new(0),
            longest_execution: AtomicU64::new(0),
        }
    }

    // Relaxed: statistics, read when all jobs have ended.
    pub(super) fn count(&self, response: u64, execution: u64) {
        self.distribution.count(response);
        if execution > self.wcet {
            self.overcharged.fetch_add(1, Ordering::Relaxed);
        }
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.longest_response.fetch_max(response, Ordering::Relaxed);
        self.sum_of_responses.fetch_add(response, Ordering::Relaxed);
        self.longest_execution
            .fetch_max(execution, Ordering::Relaxed);
        if response > self.deadline {
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
            overcharged: self.overcharged.load(Ordering::Relaxed),
            response: activity.response(),
            wcet: activity.wcet(),
            deadline: activity.deadline(),
            class: self.distribution.class(),
            responses: self.distribution.counts(),
        }
    }
}
