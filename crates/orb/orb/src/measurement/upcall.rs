//! Measurement of one upcall.

use super::expected::{Violation, ViolationKind};
use super::operation::Operation;
use super::session::{self, Session};
use super::thread;
use punctual_sys::clock;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    operation: Option<Arc<Operation>>,
    distance: Option<u64>,
    /// Time at which the upcall began, in nanoseconds of `CLOCK_MONOTONIC`.
    began: u64,
    /// CPU time of the thread when the upcall began.
    cpu: u64,
    /// Execution time of the upcalls that were nested in the outer one before this one.
    outer: u64,
    is_over: bool,
}

impl MeasuredUpcall {
    /// Begins to measure an upcall of the calling thread; `interface` is the servant's repository
    /// id.
    #[must_use]
    #[inline]
    pub fn begin(interface: &'static str, operation: &str) -> Self {
        let began = clock::nanos();
        let operation = thread::find(session::number(), interface, operation);
        let distance = operation.as_ref().and_then(|one| one.begin(began));
        Self {
            operation,
            distance,
            began,
            outer: thread::replace_nested(0),
            is_over: false,
            cpu: clock::thread_cpu_nanos(),
        }
    }

    /// Ends the measurement; `exists` is false if the servant has no such operation, whose name is
    /// then not kept, as peers can send any number of names.
    #[inline]
    pub fn end(mut self, interface: &'static str, operation: &str, exists: bool) {
        let (execution, response) = self.times();
        self.is_over = true;
        match &self.operation {
            Some(operation) => add(operation, (execution, response, self.distance)),
            None if exists => add_first(interface, operation, self.began, (execution, response)),
            None => {}
        }
    }

    /// Returns execution time and response time. The thread's next upcall at this depth begins.
    #[inline]
    fn times(&self) -> (u64, u64) {
        let all = clock::thread_cpu_nanos().saturating_sub(self.cpu);
        let response = clock::nanos().saturating_sub(self.began);
        let nested = thread::replace_nested(self.outer + all);
        (all.saturating_sub(nested), response)
    }
}

impl Drop for MeasuredUpcall {
    #[inline]
    fn drop(&mut self) {
        if !self.is_over {
            let (execution, response) = self.times();
            if let Some(operation) = &self.operation {
                add(operation, (execution, response, self.distance));
            }
        }
    }
}

/// Adds the first upcall of an operation on this thread.
#[cold]
#[inline(never)]
fn add_first(interface: &'static str, name: &str, began: u64, (execution, response): (u64, u64)) {
    let Some((session, operation)) = thread::join(interface, name) else {
        return;
    };
    match operation {
        Some(operation) => add(&operation, (execution, response, operation.begin(began))),
        None => {
            session.not_recorded.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Adds the times of an upcall: execution, response, and distance to the one before.
#[inline]
fn add(operation: &Operation, (execution, response, distance): (u64, u64, Option<u64>)) {
    operation.end(execution, response);
    let bounds = &operation.bounds;
    let is_early = distance.is_some_and(|distance| distance < bounds.least_distance);
    if execution > bounds.wcet || response > bounds.deadline || is_early || operation.is_unknown {
        violated(operation, execution, response, distance);
    }
}

#[cold]
#[inline(never)]
fn violated(operation: &Operation, execution: u64, response: u64, distance: Option<u64>) {
    let bounds = &operation.bounds;
    let Some(session) = thread::session() else {
        return;
    };
    let distance = distance.unwrap_or(u64::MAX);
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
