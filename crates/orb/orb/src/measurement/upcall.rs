//! Measurement of one upcall.

use super::arrivals::Arrival;
use super::expected::{Violation, ViolationKind};
use super::operation::{Operation, ThreadTimes, Times};
use super::session::{self, Session};
use super::thread::{self, Other, Served};
use super::ticks::{self, Scale};
use punctual_sys::{clock, cycles};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Least distance of two log messages about violations, in nanoseconds.
const LOG_DISTANCE: u64 = 1_000_000_000;

/// Upcall that is being measured, for object adapters. Dropped without
/// [`MeasuredUpcall::end`], as when the servant panics, it is measured if its operation is known; else its execution time
/// is that of the upcall that it is nested in.
#[derive(Debug)]
pub struct MeasuredUpcall {
    /// Operation, if the thread has served it before.
    served: Option<Rc<Served>>,
    /// Arrival, if so.
    arrival: Arrival,
    /// Time at which the upcall began, in ticks.
    began: u64,
    /// CPU time of the thread without that of earlier upcalls when it began.
    cpu: u64,
}

impl MeasuredUpcall {
    /// Begins to measure an upcall of the calling thread; `interface` is the servant's repository
    /// id.
    // Calls at the end only: no register is saved. In another crate, thread-local state would be accessed by calls.
    #[must_use]
    #[inline(never)]
    pub fn begin(interface: &'static str, operation: &str) -> Self {
        let session = session::number();
        if !session::has_counter(session) {
            return Self::of_other(interface, operation, thread::take_any(), ticks::now);
        }
        let began = cycles::now();
        match thread::take_last(session, interface, operation) {
            Ok(served) => Self::of(served, began),
            Err(last) => Self::of_other(interface, operation, last, cycles::now),
        }
    }

    #[inline(always)]
    fn of(served: Rc<Served>, began: u64) -> Self {
        let arrival = served.operation.arrivals.add(began);
        Self {
            served: Some(served),
            arrival,
            began,
            cpu: thread::own_cpu(),
        }
    }

    /// Begins to measure an upcall of another operation than the last one.
    #[inline(never)]
    fn of_other(interface: &'static str, name: &str, last: Other, clock: fn() -> u64) -> Self {
        let began = clock();
        if let Some(served) = thread::find(interface, name, last) {
            return Self::of(served, began);
        }
        Self {
            served: None,
            arrival: Arrival::NONE,
            began,
            cpu: thread::own_cpu(),
        }
    }

    /// Returns whether the thread has served the operation before, as [`MeasuredUpcall::end_known`] expects.
    #[must_use]
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.served.is_some()
    }

    /// Ends the measurement of an operation that the thread has served before; that of another one is lost.
    #[inline(never)]
    pub fn end_known(&mut self) {
        let execution = thread::executed_since(self.cpu);
        let Some(served) = self.served.take() else {
            return;
        };
        if !session::has_counter(served.session) {
            return end_by_clock(served, execution, self.began, self.arrival);
        }
        let response = cycles::now().wrapping_sub(self.began);
        let Arrival { distance, .. } = self.arrival;
        let usual = served.usual.get();
        // One branch for all.
        let is_usual = usual.execution.contains(execution)
            & usual.response.contains(response)
            & usual.distance.contains(distance)
            & !self.arrival.ends_block();
        if !is_usual {
            return end_unusual(served, execution, response, self.arrival);
        }
        served.times.add(execution, response, distance);
        thread::put_back(served);
    }

    /// Ends the measurement. If the thread has not served the operation before, `first` is called for
    /// its name and the repository ids of the servant's interface and of the one that declares it. It returns `None` if
    /// the servant has no such operation: the name is not kept, as peers can send any number of names.
    pub fn end<'n>(mut self, first: impl FnOnce() -> Option<FirstUpcall<'n>>) {
        if self.is_known() {
            return self.end_known();
        }
        let execution = thread::executed_since(self.cpu);
        let response = ticks::now().wrapping_sub(self.began);
        if let Some(named) = first() {
            add_first(&named, execution, response, self.began);
        }
    }
}

impl MeasuredUpcall {
    #[cold]
    #[inline(never)]
    fn end_in_drop(&mut self) {
        self.end_known();
    }
}

impl Drop for MeasuredUpcall {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_known() {
            self.end_in_drop();
        }
    }
}

/// First upcall of an operation on a thread.
#[derive(Clone, Copy, Debug)]
pub struct FirstUpcall<'n> {
    /// Repository id of the servant's most derived interface, by which further upcalls are looked up.
    pub interface: &'static str,
    /// Repository id of the interface that declares the operation: it is measured once for all interfaces that inherit
    /// it.
    pub declared_by: &'static str,
    /// Name of the operation on the wire.
    pub operation: &'n str,
}

/// Adds the first upcall of an operation on this thread.
#[cold]
#[inline(never)]
fn add_first(first: &FirstUpcall<'_>, execution: u64, response: u64, began: u64) {
    let Some(session) = session::running() else {
        return;
    };
    let Some(to) = session.take(first.declared_by, first.operation) else {
        session.not_recorded.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let times = Times {
        execution,
        response,
        arrival: to.operation.arrivals.add(began),
    };
    let usual = to.add_unusual(times);
    judge(&to, times);
    thread::keep(&session, first.interface, to, usual);
}

/// Ends an upcall that is measured by `CLOCK_MONOTONIC`.
#[cold]
#[inline(never)]
fn end_by_clock(served: Rc<Served>, execution: u64, began: u64, arrival: Arrival) {
    let response = ticks::now().wrapping_sub(began);
    end_unusual(served, execution, response, arrival);
}

/// Adds times that are shorter or longer than all before, or violate the plan, or end a block of arrivals.
#[cold]
#[inline(never)]
fn end_unusual(served: Rc<Served>, execution: u64, response: u64, arrival: Arrival) {
    let times = Times {
        execution,
        response,
        arrival,
    };
    served.usual.set(served.times.add_unusual(times));
    judge(&served.times, times);
    thread::put_back(served);
}

/// Reports the times of an upcall that violate the plan.
fn judge(to: &ThreadTimes, times: Times) {
    let operation = &*to.operation;
    let bounds = &operation.bounds;
    let is_late = times.execution > bounds.wcet || times.response > bounds.deadline;
    let is_early = times.arrival.distance < bounds.least_distance;
    if is_late || is_early || operation.is_unknown {
        violated(operation, times);
    }
}

fn violated(operation: &Operation, times: Times) {
    let (bounds, planned) = (&operation.bounds, &operation.planned);
    let Some(session) = session_of(operation) else {
        return;
    };
    let (execution, response) = (times.execution, times.response);
    let distance = times.arrival.distance;
    let (nanos, scale) = (Scale::NANOS, operation.scale);
    for (is_so, kind, (measured, scale), bound) in [
        (
            execution > bounds.wcet,
            ViolationKind::Overrun,
            (execution, nanos),
            planned.wcet,
        ),
        (
            distance < bounds.least_distance,
            ViolationKind::EarlyRelease,
            (distance, scale),
            planned.least_distance,
        ),
        (
            response > bounds.deadline,
            ViolationKind::MissedDeadline,
            (response, scale),
            planned.deadline,
        ),
        (
            operation.is_unknown,
            ViolationKind::UnknownOperation,
            (execution, nanos),
            0,
        ),
    ] {
        if is_so {
            operation.count(kind);
            let violation = Violation {
                kind,
                operation: &operation.name,
                measured: scale.time(measured),
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
