//! Measured times of one operation.

use super::arrivals::{ArrivalTimes, Arrivals, NO_DISTANCE};
use super::expected::{Bounds, ViolationKind};
use super::histogram::{Distribution, Histogram, Range};
use super::ticks::{self, Scale};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Operation of a recording: what all threads share.
#[derive(Debug)]
pub(super) struct Operation {
    /// Number of the recording.
    pub(super) recording: u64,
    pub(super) interface: Box<str>,
    pub(super) operation: Box<str>,
    pub(super) name: Box<str>,
    /// Bounds of the plan, in nanoseconds.
    pub(super) planned: Bounds,
    /// The same bounds, with distances and responses in ticks.
    pub(super) bounds: Bounds,
    /// True if there is a plan, and the operation is not in it.
    pub(super) is_unknown: bool,
    /// Length of the ticks in which distances and responses are measured.
    pub(super) scale: Scale,
    pub(super) arrivals: ArrivalTimes,
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
    /// Without a sum: all distances of the operation take from its first arrival to its last one.
    distance: Histogram,
}

/// Times of one upcall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Execution time in nanoseconds.
    pub(super) execution: u64,
    /// Response time in ticks.
    pub(super) response: u64,
    /// Distance to the upcall before in ticks; [`NO_DISTANCE`] or more if there is none.
    pub(super) distance: u64,
}

/// Ranges of the usual times of an operation on one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    pub(super) execution: Range,
    pub(super) response: Range,
    pub(super) distance: Range,
}

/// Times of one operation, as they were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredOperation {
    /// Scoped name in IDL, made of the repository id: `Module::Interface::operation`. A prefix of
    /// the id (`omg.org`) is not part of it.
    pub name: String,
    /// Repository id of the interface that declares the operation.
    pub interface: String,
    /// Name of the operation on the wire.
    pub operation: String,
    /// Execution times, by the thread's CPU clock, without upcalls nested in it.
    pub execution: Distribution,
    /// Response times, from the beginning of the upcall to its end.
    pub response: Distribution,
    /// Distances of the beginnings of upcalls that follow one another.
    pub distance: Distribution,
    /// Period and jitter within which all upcalls began, bursts included; `None` of fewer than two.
    pub arrivals: Option<Arrivals>,
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
        let scale = Scale::of_clock();
        let planned = bounds.unwrap_or(Bounds::NONE);
        Self {
            recording,
            interface: interface.into(),
            operation: operation.into(),
            name: name.into(),
            planned,
            bounds: planned.in_ticks(scale),
            is_unknown: has_plan && bounds.is_none(),
            scale,
            arrivals: ArrivalTimes::new(),
            overruns: AtomicU64::new(0),
            early_releases: AtomicU64::new(0),
            missed_deadlines: AtomicU64::new(0),
        }
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
            execution: Distribution::of(all.clone().map(|one| &one.execution), Scale::NANOS),
            response: Distribution::of(all.clone().map(|one| &one.response), self.scale),
            distance: Distribution::of(all.map(|one| &one.distance), self.scale)
                .with_sum(self.arrivals.span(), self.scale),
            arrivals: self.arrivals.all(self.scale),
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

    /// Adds an upcall whose times are usual.
    #[inline(always)]
    pub(super) fn add(&self, execution: u64, response: u64, distance: u64) {
        self.execution.add(execution);
        self.response.add(response);
        self.distance.count(distance);
    }

    /// Adds an upcall whose times are not all usual. Returns the times that are usual from now on: those that violate the
    /// plan never are, and none of an operation that is not in it, or that the processor's counter does not measure.
    pub(super) fn add_unusual(&self, times: Times) -> Usual {
        let Times {
            execution,
            response,
            distance,
        } = times;
        self.execution.add(execution);
        self.execution.widen(execution);
        self.response.add(response);
        self.response.widen(response);
        if distance < NO_DISTANCE {
            self.distance.count(distance);
            self.distance.widen(distance);
        }
        self.usual()
    }

    /// Returns the times that are usual.
    fn usual(&self) -> Usual {
        let bounds = &self.operation.bounds;
        let executions = match self.operation.is_unknown || !ticks::uses_counter() {
            true => (u64::MAX, 0),
            false => (0, bounds.wcet),
        };
        Usual {
            execution: self.execution.usual(executions),
            response: self.response.usual((0, bounds.deadline)),
            distance: self.distance.usual((bounds.least_distance, u64::MAX)),
        }
    }
}
