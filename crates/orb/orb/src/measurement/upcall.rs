//! Measurement of one upcall.

use super::expected::{Violation, ViolationKind};
use super::operation::{NO_DISTANCE, Operation, ThreadTimes};
use super::session::{self, Session};
use super::thread::{self, Served};
use punctual_sys::{clock, cpu_clock};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Least distance of two log messages about violations, in nanoseconds.
const LOG_DISTANCE: u64 = 1_000_000_000;

/// Upcall that is being measured, for object adapters. Dropped without
/// [`MeasuredUpcall::end`], as when the servant panics, it is measured if its operation is known.
#[derive(Debug)]
pub struct MeasuredUpcall {
    /// Operation, if the thread has served it before.
    served: Option<Rc<Served>>,
    /// Distance to the upcall of the operation before; [`NO_DISTANCE`] if there is none.
    distance: u64,
    /// Time at which the upcall began, in nanoseconds of `CLOCK_MONOTONIC`.
    began: u64,
    /// CPU time of the thread when the upcall began.
    cpu: u64,
    /// Execution time of the upcalls that were nested in the outer one before this one.
    outer: u64,
}

impl MeasuredUpcall {
    /// Begins to measure an upcall of the calling thread; `interface` is the servant's repository
    /// id.
    #[must_use]
    #[inline(always)]
    pub fn begin(interface: &'static str, operation: &str) -> Self {
        let began = clock::nanos();
        let (served, outer) = thread::enter(interface, operation);
        let distance = match &served {
            Some(served) => served.operation.begin(began),
            None => NO_DISTANCE,
        };
        Self {
            served,
            distance,
            began,
            outer,
            cpu: cpu_clock::nanos(),
        }
    }

    /// Returns whether the thread has served the operation before, as [`MeasuredUpcall::end_known`] expects.
    #[must_use]
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.served.is_some()
    }

    /// Ends the measurement of an operation that the thread has served before; that of another one is lost.
    #[inline(always)]
    pub fn end_known(mut self) {
        self.measure();
        // The upcall is not to be measured twice.
        mem::forget(self);
    }

    /// Ends the measurement. If the thread has not served the operation before, `first` is called for
    /// the servant's repository id and the name of the operation. It returns `None` if the servant
    /// has no such operation: the name is not kept, as peers can send any number of names.
    pub fn end<'n>(self, first: impl FnOnce() -> Option<(&'static str, &'n str)>) {
        if self.is_known() {
            return self.end_known();
        }
        let (times, began) = (self.times(), self.began);
        // As above.
        mem::forget(self);
        if let Some(named) = first() {
            add_first(named, began, times);
        }
    }

    #[inline(always)]
    fn measure(&mut self) {
        let (execution, response) = self.times();
        if let Some(served) = self.served.take() {
            add(&served.times, (execution, response, self.distance));
            thread::put_back(served);
        }
    }

    /// Returns execution time and response time. The thread's next upcall at this depth begins.
    // Neither clock ever goes back.
    #[inline(always)]
    fn times(&self) -> (u64, u64) {
        let all = cpu_clock::nanos().wrapping_sub(self.cpu);
        let response = clock::nanos().wrapping_sub(self.began);
        let nested = thread::leave(self.outer.wrapping_add(all));
        (all.saturating_sub(nested), response)
    }
}

impl Drop for MeasuredUpcall {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.measure();
    }
}

/// Adds the first upcall of an operation on this thread.
#[cold]
#[inline(never)]
fn add_first(
    (interface, name): (&'static str, &str),
    began: u64,
    (execution, response): (u64, u64),
) {
    let Some(session) = session::running() else {
        return;
    };
    let Some(times) = session.take(interface, name) else {
        session.not_recorded.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let distance = times.operation.begin(began);
    add(&times, (execution, response, distance));
    thread::keep(&session, interface, times);
}

/// Adds the times of an upcall: execution, response, and distance to the one before.
#[inline(always)]
fn add(to: &ThreadTimes, (execution, response, distance): (u64, u64, u64)) {
    if to.add((execution, response, distance)) {
        add_unusual(to, execution, response, distance);
    }
}

/// Adds times that are shorter or longer than all before, or violate the plan.
#[cold]
#[inline(never)]
fn add_unusual(to: &ThreadTimes, execution: u64, response: u64, distance: u64) {
    to.widen((execution, response, distance));
    let operation = &*to.operation;
    let bounds = &operation.bounds;
    let is_early = distance < bounds.least_distance;
    if execution > bounds.wcet || response > bounds.deadline || is_early || operation.is_unknown {
        violated(operation, execution, response, distance);
    }
}

fn violated(operation: &Operation, execution: u64, response: u64, distance: u64) {
    let bounds = &operation.bounds;
    let Some(session) = session_of(operation) else {
        return;
    };
    for (is_so, kind, measured, bound) in [
        (
            execution > bounds.wcet,
            ViolationKind::Overrun,
            execution,
            bounds.wcet,
        ),
        (
            distance < bounds.least_distance,
            ViolationKind::EarlyRelease,
            distance,
            bounds.least_distance,
        ),
        (
            response > bounds.deadline,
            ViolationKind::MissedDeadline,
            response,
            bounds.deadline,
        ),
        (
            operation.is_unknown,
            ViolationKind::UnknownOperation,
            execution,
            0,
        ),
    ] {
        if is_so {
            operation.count(kind);
            let violation = Violation {
                kind,
                operation: &operation.name,
                measured: Duration::from_nanos(measured),
                bound: Duration::from_nanos(bound),
            };
            log(&session, &violation);
            call_handler(&session, &violation);
        }
    }
}

/// Returns the recording of an operation. The first upcall of it on a thread takes a lock.
fn session_of(operation: &Operation) -> Option<Arc<Session>> {
    let is_its = |session: &Arc<Session>| session.number == operation.recording;
    let known = thread::joined().filter(is_its);
    known.or_else(|| session::running().filter(is_its))
}

/// Logs a violation, unless another one was logged in the last second.
fn log(session: &Session, violation: &Violation<'_>) {
    let now = clock::coarse_nanos();
    let next = session.next_log.load(Ordering::Relaxed);
    let later = now.saturating_add(LOG_DISTANCE);
    let is_mine = now >= next
        && session
            .next_log
            .compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok();
    if !is_mine {
        session.unlogged.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let unlogged = session.unlogged.swap(0, Ordering::Relaxed);
    tracing::warn!(
        operation = violation.operation,
        kind = %violation.kind,
        measured = ?violation.measured,
        bound = ?violation.bound,
        unlogged,
        "an upcall does not keep to the plan"
    );
}

fn call_handler(session: &Session, violation: &Violation<'_>) {
    let Some(handler) = &session.handler else {
        return;
    };
    if catch_unwind(AssertUnwindSafe(|| handler.violated(violation))).is_err() {
        tracing::error!(%violation, "the handler of violations has panicked");
    }
}
