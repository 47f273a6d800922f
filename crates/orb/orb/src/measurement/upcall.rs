//! Measurement of one upcall.

use super::arrivals::NO_DISTANCE;
use super::expected::{Violation, ViolationKind};
use super::operation::{Operation, ThreadTimes, Times};
use super::session::{self, Session};
use super::thread::{self, Served, Taken};
use super::ticks::{self, Scale};
use crate::observed::Observers;
use punctual_sys::cpu_clock::CpuClock;
use punctual_sys::{clock, cycles};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Least distance of two log messages about violations, in nanoseconds.
const LOG_DISTANCE: u64 = 1_000_000_000;

/// Upcall of an operation that the thread has served of late, for object adapters. Dropped without [`RecentUpcall::end`], as when the
/// servant panics, it is measured too.
// Its functions are parts of their callers: so nothing is passed in memory between the two.
#[derive(Debug)]
#[must_use]
pub struct RecentUpcall {
    /// Operation; `None` once it has ended.
    served: Option<Rc<Served>>,
    /// Distance to the upcall of the operation before, in ticks; [`NO_DISTANCE`] if it is not known.
    distance: u64,
    /// Time at which the upcall began, in ticks.
    began: u64,
    /// CPU time of the thread without that of earlier upcalls when it began.
    cpu: u64,
}

/// Upcall of any operation that is being measured, for object adapters. Dropped without
/// [`MeasuredUpcall::end`], as when the servant panics, it is measured if its operation is known; else its execution time
/// is that of the upcall that it is nested in.
#[derive(Debug)]
#[must_use]
pub struct MeasuredUpcall {
    /// Operation, if the thread has served it before.
    taken: Option<Taken>,
    /// Distance to the upcall of the operation before, in ticks; [`NO_DISTANCE`] if it is not known.
    distance: u64,
    /// Time at which the upcall began, in ticks.
    began: u64,
    /// CPU time of the thread without that of earlier upcalls when it began.
    cpu: u64,
}

impl RecentUpcall {
    /// Begins to measure an upcall of an operation that the calling thread has served of late; `None` if it is another one,
    /// or a timeline is running. `interfaces` are the servant's repository ids, the most derived one first.
    #[inline(always)]
    pub fn begin(
        observers: Observers,
        interfaces: &'static [&'static str],
        operation: &str,
    ) -> Option<Self> {
        let began = cycles::now();
        let served = thread::take_recent(observers, interfaces, operation)?;
        // Were it dropped by a panic of `add`, which has none, it would be kept in memory meanwhile.
        let served = ManuallyDrop::new(served);
        let distance = served.operation.arrivals.add(began);
        let cpu = thread::own_cpu(&served.clock);
        Some(Self {
            served: Some(ManuallyDrop::into_inner(served)),
            distance,
            began,
            cpu,
        })
    }

    /// Ends the measurement.
    #[inline(always)]
    pub fn end(mut self) {
        if let Some(served) = self.served.take() {
            end_recent(served, self.distance, self.began, self.cpu);
        }
    }
}

impl Drop for RecentUpcall {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(served) = self.served.take() {
            end_in_drop(served, self.distance, self.began, self.cpu);
        }
    }
}

/// Ends the measurement of an upcall that has panicked.
#[cold]
#[inline(never)]
fn end_in_drop(served: Rc<Served>, distance: u64, began: u64, cpu: u64) {
    end_recent(served, distance, began, cpu);
}

#[inline(always)]
fn end_recent(served: Rc<Served>, distance: u64, began: u64, cpu: u64) {
    // Were it dropped by a panic of `end_served`, which has none, it would be kept in memory meanwhile.
    let served = ManuallyDrop::new(served);
    end_served(&served, distance, began, cpu);
    thread::put_recent_back(served);
}

impl MeasuredUpcall {
    /// Begins to measure an upcall of the calling thread, of any operation. `interfaces` are the servant's repository ids,
    /// the most derived one first.
    #[inline(never)]
    pub fn begin(interfaces: &'static [&'static str], operation: &str) -> Self {
        let began = ticks::now();
        let taken = thread::take(interfaces, operation);
        let (distance, cpu) = match &taken {
            Some(Taken { served, .. }) => (
                served.operation.arrivals.add(began),
                thread::own_cpu(&served.clock),
            ),
            None => (NO_DISTANCE, thread::own_cpu(&CpuClock::new())),
        };
        Self {
            taken,
            distance,
            began,
            cpu,
        }
    }

    /// Returns whether the thread has served the operation before, as [`MeasuredUpcall::end_known`] expects.
    #[must_use]
    #[inline(always)]
    pub fn is_known(&self) -> bool {
        self.taken.is_some()
    }

    /// Ends the measurement of an operation that the thread has served before; that of another one is lost.
    pub fn end_known(self) {
        drop(self);
    }

    /// Ends the measurement. If the thread has not served the operation before, `first` is called for
    /// its name and the repository ids of the servant's interface and of the one that declares it. It returns `None` if
    /// the servant has no such operation: the name is not kept, as peers can send any number of names.
    pub fn end<'n>(self, first: impl FnOnce() -> Option<FirstUpcall<'n>>) {
        if self.is_known() {
            return self.end_known();
        }
        let execution = thread::executed_since(self.cpu, &CpuClock::new());
        let response = ticks::now().wrapping_sub(self.began);
        if let Some(named) = first() {
            add_first(&named, execution, response, self.began);
        }
    }
}

impl Drop for MeasuredUpcall {
    #[inline(never)]
    fn drop(&mut self) {
        if let Some(taken) = self.taken.take() {
            end_served(&taken.served, self.distance, self.began, self.cpu);
            thread::put_back(taken);
        }
    }
}

/// Ends the measurement of an upcall of an operation that the thread has served before.
// The execution time is judged before the other clock is read: so the three ranges are three branches.
#[inline(always)]
fn end_served(served: &Served, distance: u64, began: u64, cpu: u64) {
    let execution = thread::executed_since(cpu, &served.clock);
    let usual = served.usual.get();
    if !usual.execution.contains(execution) {
        return end_unusual_execution(served, execution, distance, began);
    }
    let response = cycles::now().wrapping_sub(began);
    if !usual.response.contains(response) || !usual.distance.contains(distance) {
        return end_unusual(served, execution, distance, response);
    }
    served.times.add(execution, response, distance);
}

/// First upcall of an operation on a thread.
#[derive(Clone, Copy, Debug)]
pub struct FirstUpcall<'n> {
    /// Repository ids of the servant, by which further upcalls are looked up.
    pub interfaces: &'static [&'static str],
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
        distance: to.operation.arrivals.add(began),
    };
    let usual = to.add_unusual(times);
    judge(&to, times);
    thread::keep(&session, first.interfaces, to, usual);
}

/// Adds times of which the execution time is shorter or longer than all before, or violates the plan; and all that are
/// measured by `CLOCK_MONOTONIC`.
#[cold]
#[inline(never)]
fn end_unusual_execution(served: &Served, execution: u64, distance: u64, began: u64) {
    let response = ticks::now().wrapping_sub(began);
    end_unusual(served, execution, distance, response);
}

/// Adds times that are shorter or longer than all before, or violate the plan.
#[cold]
#[inline(never)]
fn end_unusual(served: &Served, execution: u64, distance: u64, response: u64) {
    let times = Times {
        execution,
        response,
        distance,
    };
    served.usual.set(served.times.add_unusual(times));
    judge(&served.times, times);
}

/// Reports the times of an upcall that violate the plan.
fn judge(to: &ThreadTimes, times: Times) {
    let operation = &*to.operation;
    let bounds = &operation.bounds;
    let is_late = times.execution > bounds.wcet || times.response > bounds.deadline;
    let is_early = times.distance < bounds.least_distance;
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
    let distance = times.distance;
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
