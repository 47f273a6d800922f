//! Measured times of one operation.

use super::expected::{Bounds, ViolationKind};
use super::histogram::{Distribution, Histogram};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number that stands for no distance: the first upcall has none.
pub(super) const NO_DISTANCE: u64 = u64::MAX;

/// Operation of a recording: what all threads share.
#[derive(Debug)]
pub(super) struct Operation {
    /// Number of the recording.
    pub(super) recording: u64,
    pub(super) interface: Box<str>,
    pub(super) operation: Box<str>,
    pub(super) name: Box<str>,
    pub(super) bounds: Bounds,
    /// True if there is a plan, and the operation is not in it.
    pub(super) is_unknown: bool,
    /// Time at which the last upcall began, in nanoseconds of `CLOCK_MONOTONIC`; the highest number
    /// before the first.
    last_begin: AtomicU64,
    overruns: AtomicU64,
    early_releases: AtomicU64,
    missed_deadlines: AtomicU64,
}

/// Times of an operation's upcalls on one thread at a time, which alone adds to them.
#[derive(Debug)]
pub(super) struct ThreadTimes {
    pub(super) operation: Arc<Operation>,
    execution: Histogram,
    response: Histogram,
    distance: Histogram,
}

/// Times of one operation, as they were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredOperation {
    /// Scoped name in IDL, made of the repository id: `Module::Interface::operation`. A prefix of
    /// the id (`omg.org`) is not part of it.
    pub name: String,
    /// Repository id of the servant's interface.
    pub interface: String,
    /// Name of the operation on the wire.
    pub operation: String,
    /// Execution times, by the thread's CPU clock, without upcalls nested in it.
    pub execution: Distribution,
    /// Response times, from the beginning of the upcall to its end.
    pub response: Distribution,
    /// Distances of the beginnings of upcalls that follow one another.
    pub distance: Distribution,
    /// True if there is no plan, or the plan has the operation.
    pub is_planned: bool,
    /// Number of upcalls that took longer than planned.
    pub overruns: u64,
    /// Number of upcalls that began earlier than planned.
    pub early_releases: u64,
    /// Number of upcalls that ended after their deadline.
    pub missed_deadlines: u64,
}

impl MeasuredOperation {
    /// Returns the number of upcalls that have ended.
    #[must_use]
    pub fn jobs(&self) -> u64 {
        self.execution.count
    }

    /// Returns the jitter: the longest distance of two upcalls minus the shortest.
    #[must_use]
    pub fn jitter(&self) -> Duration {
        self.distance.longest.saturating_sub(self.distance.shortest)
    }
}

impl Operation {
    pub(super) fn new(
        recording: u64,
        (interface, operation): (&str, &str),
        name: String,
        bounds: Option<Bounds>,
        has_plan: bool,
    ) -> Self {
        Self {
            recording,
            interface: interface.into(),
            operation: operation.into(),
            name: name.into(),
            bounds: bounds.unwrap_or(Bounds::NONE),
            is_unknown: has_plan && bounds.is_none(),
            last_begin: AtomicU64::new(u64::MAX),
            overruns: AtomicU64::new(0),
            early_releases: AtomicU64::new(0),
            missed_deadlines: AtomicU64::new(0),
        }
    }

    /// Records that an upcall began at this time. Returns the distance to the one before; [`NO_DISTANCE`] for
    /// the first, and for one that another thread has overtaken.
    #[inline(always)]
    pub(super) fn begin(&self, at: u64) -> u64 {
        let before = self.last_begin.swap(at, Ordering::Relaxed);
        at.checked_sub(before).unwrap_or(NO_DISTANCE)
    }

    /// Counts a violation of the plan.
    pub(super) fn count(&self, kind: ViolationKind) {
        let counter = match kind {
            ViolationKind::Overrun => &self.overruns,
            ViolationKind::EarlyRelease => &self.early_releases,
            ViolationKind::MissedDeadline => &self.missed_deadlines,
            // All upcalls of such an operation are.
            ViolationKind::UnknownOperation => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the measured times, of all threads.
    pub(super) fn measured(&self, threads: &[Arc<ThreadTimes>]) -> MeasuredOperation {
        let all = threads.iter();
        MeasuredOperation {
            name: self.name.to_string(),
            interface: self.interface.to_string(),
            operation: self.operation.to_string(),
            execution: Distribution::of(all.clone().map(|one| &one.execution)),
            response: Distribution::of(all.clone().map(|one| &one.response)),
            distance: Distribution::of(all.map(|one| &one.distance)),
            is_planned: !self.is_unknown,
            overruns: self.overruns.load(Ordering::Relaxed),
            early_releases: self.early_releases.load(Ordering::Relaxed),
            missed_deadlines: self.missed_deadlines.load(Ordering::Relaxed),
        }
    }
}

impl ThreadTimes {
    pub(super) fn new(operation: Arc<Operation>) -> Self {
        Self {
            operation,
            execution: Histogram::new(),
            response: Histogram::new(),
            distance: Histogram::new(),
        }
    }

    /// Adds the times of an upcall that has ended: execution, response, and distance to the one
    /// before. Returns true if [`ThreadTimes::widen`] must be called for them.
    #[inline(always)]
    pub(super) fn add(&self, (execution, response, distance): (u64, u64, u64)) -> bool {
        self.execution.add(execution);
        self.response.add(response);
        if distance == NO_DISTANCE {
            return true;
        }
        self.distance.add(distance);
        self.execution.is_unusual(execution)
            || self.response.is_unusual(response)
            || self.distance.is_unusual(distance)
    }

    /// Extends the ranges of usual times by those of an upcall. Times that violate the plan stay
    /// unusual; so do all of an operation that is not in it.
    pub(super) fn widen(&self, (execution, response, distance): (u64, u64, u64)) {
        let bounds = &self.operation.bounds;
        let most = match self.operation.is_unknown {
            true => (u64::MAX, 0),
            false => (0, bounds.wcet),
        };
        self.execution.widen(execution, most);
        self.response.widen(response, (0, bounds.deadline));
        if distance != NO_DISTANCE {
            self.distance
                .widen(distance, (bounds.least_distance, u64::MAX));
        }
    }
}
