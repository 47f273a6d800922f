//! Segments of the calling thread, the innermost last, each with the earlier scheduling of the
//! thread.
//!
//! A thread that serves a request is in the request's segment during the upcall. A thread that is
//! in a segment and, while it waits there, serves a request without one, is in no segment during
//! that upcall.

use super::carried::Carried;
use super::dynamic::Dynamic;
use super::error::in_no_segment;
use super::overrun::Overrun;
use super::parameter::SchedulingParameter;
use super::registry::{DistributableThread, DistributableThreadId, Registration};
use super::thread_scheduling::{self, Before};
use crate::orb::RtOrb;
use punctual_orb::{SystemException, SystemExceptionKind as Kind, set_in_segment};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

/// Properties of a new scheduling segment.
#[derive(Debug)]
pub(super) struct New {
    pub(super) id: DistributableThreadId,
    /// Name; `None` for the segment of an upcall, which ends with the upcall.
    pub(super) name: Option<String>,
    pub(super) parameter: SchedulingParameter,
    pub(super) implicit: Option<SchedulingParameter>,
    /// Parameter by which the thread is scheduled, if the segment changes its scheduling.
    pub(super) taken: Option<SchedulingParameter>,
}

#[derive(Debug)]
struct Segment {
    known: Registration,
    dynamic: Arc<Dynamic>,
    name: Option<String>,
    parameter: SchedulingParameter,
    implicit: Option<SchedulingParameter>,
    due: Option<Instant>,
    before: Before,
}

/// Segment; `None` while a request is served that belongs to no segment.
type Entry = Option<Segment>;

thread_local! {
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Begins a scheduling segment on the calling thread.
pub(super) fn push(rt: &RtOrb, dynamic: &Arc<Dynamic>, new: New) -> Result<(), SystemException> {
    let known = dynamic.enter(new.id)?;
    let before = Before::now()?;
    if let Some(parameter) = new.taken {
        thread_scheduling::take(rt, parameter)?;
    }
    let segment = Segment {
        known,
        dynamic: dynamic.clone(),
        name: new.name,
        due: due(new.parameter),
        parameter: new.parameter,
        implicit: new.implicit,
        before,
    };
    STACK.with_borrow_mut(|stack| stack.push(Some(segment)));
    set_in_segment(true);
    Ok(())
}

/// Marks that a request without a segment is served from now on, until [`leave_upcall`].
pub(super) fn push_unrelated() {
    STACK.with_borrow_mut(|stack| stack.push(None));
    set_in_segment(false);
}

/// Gives the innermost segment another name, and other parameters if they are given. Its next
/// deadline counts from now. Returns the overrun if the last deadline had passed.
pub(super) fn update(
    rt: &RtOrb,
    name: &str,
    parameter: Option<SchedulingParameter>,
    implicit: Option<SchedulingParameter>,
) -> Result<Option<Overrun>, SystemException> {
    let now = with_innermost(|segment| segment.parameter).ok_or_else(in_no_segment)?;
    let next = parameter.unwrap_or(now);
    // An unchanged reservation is not made again, which would be a system call in each period.
    if parameter.is_some() && (next != now || next.reservation().is_none()) {
        thread_scheduling::take(rt, next)?;
    }
    let updated = with_innermost(|segment| {
        let overrun = segment.overrun();
        segment.dynamic.count(overrun);
        if segment.name.is_some() {
            segment.name = Some(name.to_owned());
        }
        segment.parameter = next;
        segment.implicit = implicit.or(segment.implicit);
        segment.due = due(next);
        overrun
    });
    updated.ok_or_else(in_no_segment)
}

/// Ends the innermost segment, and restores the thread's earlier scheduling. Returns the overrun if
/// its deadline had passed.
pub(super) fn end(name: &str) -> Result<Option<Overrun>, SystemException> {
    let segment = STACK.with_borrow_mut(|stack| {
        let innermost = stack.last().and_then(Option::as_ref);
        let innermost = innermost.ok_or_else(in_no_segment)?;
        let named = innermost.name.as_deref().ok_or_else(of_upcall)?;
        if named != name {
            let why = format!("the innermost scheduling segment is `{named}`, not `{name}`");
            return Err(Kind::BadParam.because(why));
        }
        stack.pop().flatten().ok_or_else(in_no_segment)
    })?;
    set_in_segment(is_in_segment());
    let overrun = segment.overrun();
    segment.dynamic.count(overrun);
    let restored = segment.before.restore();
    check(segment.known.thread())?;
    restored.map(|()| overrun)
}

/// Ends the segment of an upcall, and those that its servant has begun without ending them.
pub(super) fn leave_upcall() {
    while let Some(entry) = STACK.with_borrow_mut(Vec::pop) {
        let Some(segment) = entry else {
            break;
        };
        segment.dynamic.count(segment.overrun());
        if let Err(exception) = segment.before.restore() {
            tracing::error!("a thread keeps the scheduling of its last upcall: {exception}");
        }
        match &segment.name {
            None => break,
            Some(name) => tracing::warn!("a servant has not ended its scheduling segment `{name}`"),
        }
    }
    set_in_segment(is_in_segment());
}

/// Ends all segments of a thread that is about to end.
pub(super) fn leave_all() {
    while let Some(entry) = STACK.with_borrow_mut(Vec::pop) {
        if let Some(segment) = entry {
            segment.dynamic.count(segment.overrun());
        }
    }
    set_in_segment(false);
}

/// Checks that the calling thread was not cancelled; `raised` is the exception of the call that it
/// has just made, if any. THREAD_CANCELLED from a call cancels the thread here, too.
///
/// # Errors
/// THREAD_CANCELLED.
pub(crate) fn scheduling_point(raised: Option<&SystemException>) -> Result<(), SystemException> {
    let Some(thread) = distributable() else {
        return Ok(());
    };
    if raised.is_some_and(|exception| exception.kind() == Kind::ThreadCancelled) {
        // The thread is here, so that it has not ended.
        let _ = thread.cancel();
    }
    check(&thread)
}

/// Checks that a distributable thread was not cancelled.
///
/// # Errors
/// THREAD_CANCELLED.
pub(super) fn check(thread: &DistributableThread) -> Result<(), SystemException> {
    match thread.is_cancelled() {
        true => Err(Kind::ThreadCancelled.because(format!(
            "the distributable thread {} was cancelled",
            thread.id()
        ))),
        false => Ok(()),
    }
}

/// Returns the distributable thread that the calling thread is, if it is one.
pub(super) fn distributable() -> Option<DistributableThread> {
    with_innermost(|segment| segment.known.thread().clone())
}

/// Returns the scheduling parameter of the innermost segment, and the one for segments within it.
pub(super) fn parameters() -> Option<(SchedulingParameter, Option<SchedulingParameter>)> {
    with_innermost(|segment| (segment.parameter, segment.implicit))
}

/// Returns the segment that requests of the calling thread carry.
pub(super) fn carried() -> Option<Carried> {
    with_innermost(|segment| Carried {
        id: segment.known.thread().id(),
        parameter: segment.parameter,
    })
}

/// Returns the names of the segments that the distributable thread has begun on this thread, the
/// outermost first.
pub(super) fn names() -> Vec<String> {
    let Some(thread) = distributable() else {
        return Vec::new();
    };
    STACK.with_borrow(|stack| {
        let segments = stack.iter().rev().map_while(Option::as_ref);
        let segments = segments.take_while(|segment| *segment.known.thread() == thread);
        let names = segments.filter_map(|segment| segment.name.clone());
        let mut names: Vec<String> = names.collect();
        names.reverse();
        names
    })
}

/// Returns whether the calling thread is in a segment.
pub(super) fn is_in_segment() -> bool {
    with_innermost(|_| ()).is_some()
}

fn with_innermost<R>(with: impl FnOnce(&mut Segment) -> R) -> Option<R> {
    // A thread whose stack is already gone, as it ends, is in no segment.
    let found = STACK.try_with(|stack| stack.borrow_mut().last_mut()?.as_mut().map(with));
    found.ok().flatten()
}

/// Returns the deadline of a segment that is given this parameter now.
fn due(parameter: SchedulingParameter) -> Option<Instant> {
    let reserved = parameter.reservation()?;
    Instant::now().checked_add(reserved.deadline)
}

impl Segment {
    fn overrun(&self) -> Option<Overrun> {
        let by = Instant::now().checked_duration_since(self.due?)?;
        (!by.is_zero()).then_some(Overrun { by })
    }
}

#[cold]
fn of_upcall() -> SystemException {
    Kind::BadInvOrder
        .because("the thread's scheduling segment is that of its upcall, and ends with the upcall")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RtConfig;
    use crate::distributable::DynamicScheduling;
    use punctual_orb::{NativePolicy, Priority};

    #[test]
    fn who_serves_an_unrelated_request_is_in_no_segment_meanwhile() {
        let rt = RtOrb::new(RtConfig {
            policy: NativePolicy::Other,
            dynamic_scheduling: Some(DynamicScheduling::default()),
            ..RtConfig::default()
        })
        .unwrap();
        let current = rt.scheduling();
        let parameter = Some(SchedulingParameter::FixedPriority(Priority::MIN));
        current
            .begin_scheduling_segment("outer", parameter, None)
            .unwrap();
        let id = current.id().unwrap();
        push_unrelated();
        assert_eq!(carried(), None);
        assert!(names().is_empty());
        assert_eq!(end("outer").unwrap_err().kind(), Kind::BadInvOrder);
        // A segment that the servant begins is a distributable thread of its own, and ends with the
        // upcall at the latest.
        current
            .begin_scheduling_segment("inner", parameter, None)
            .unwrap();
        let inner = current.id().unwrap();
        assert_ne!(inner, id);
        assert_eq!(names(), ["inner"]);
        leave_upcall();
        assert_eq!(current.lookup(inner), None);
        assert_eq!(
            (current.id().unwrap(), names()),
            (id, vec!["outer".to_owned()])
        );
        assert_eq!(end("outer"), Ok(None));
        assert!(!is_in_segment());
    }
}
