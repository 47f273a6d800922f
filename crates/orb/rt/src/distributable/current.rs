//! RTScheduling::Current.

use super::dynamic::Dynamic;
use super::error::{SegmentError, in_no_segment, refused};
use super::overrun::Overrun;
use super::parameter::SchedulingParameter;
use super::registry::{DistributableThread, DistributableThreadId};
use super::stack::{self, New};
use crate::orb::{RtOrb, no_native};
use punctual_exec::{SpawnError, ThreadSpec};
use punctual_orb::{Priority, SystemException, SystemExceptionKind as Kind};
use std::sync::{Arc, mpsc};

/// Access to the scheduling segments of the calling thread (RTScheduling::Current; Real-time CORBA
/// 1.2, dynamic scheduling). Each thread has its own segments; in an upcall, the thread has the
/// request's segment.
///
/// For an RTORB without [`crate::RtConfig::dynamic_scheduling`] all operations that could begin a
/// segment raise NO_IMPLEMENT.
#[derive(Clone, Copy, Debug)]
pub struct SchedulingCurrent<'o> {
    rt: &'o Arc<RtOrb>,
}

/// Properties of a new distributable thread that another one starts ([`SchedulingCurrent::spawn`]).
#[derive(Clone, Debug)]
pub struct Spawned {
    /// Name of the new thread's outermost segment.
    pub name: String,
    /// Parameter of that segment. Default: the implicit parameter of the segment that starts it.
    pub parameter: Option<SchedulingParameter>,
    /// Parameter of nested segments that are begun without one.
    pub implicit: Option<SchedulingParameter>,
    /// Size of the new thread's stack in bytes; by default the system's (2 MiB).
    pub stack_size: Option<usize>,
    /// CORBA priority at which the new thread runs before and after its segment.
    pub base_priority: Priority,
}

impl<'o> SchedulingCurrent<'o> {
    pub(crate) fn new(rt: &'o Arc<RtOrb>) -> Self {
        Self { rt }
    }

    /// Begins a segment, nested in the thread's present one. A thread that is in no segment becomes
    /// a distributable thread. The thread is scheduled by `parameter` until the segment ends;
    /// without one, by the implicit parameter of the enclosing segment. `implicit` is the implicit
    /// parameter for segments nested in this one.
    ///
    /// A reservation's deadline counts from now. Makes up to four system calls, and a few
    /// allocations.
    ///
    /// # Errors
    /// UNSUPPORTED_SCHEDULING_DISCIPLINE; THREAD_CANCELLED; BAD_PARAM without any parameter, and
    /// for an invalid reservation; INV_POLICY for one that the kernel does not admit, with the
    /// machine's limits; DATA_CONVERSION 2 for a priority that the mapping does not have,
    /// NO_PERMISSION for one that the kernel refuses. Nothing has begun then.
    pub fn begin_scheduling_segment(
        self,
        name: &str,
        parameter: Option<SchedulingParameter>,
        implicit: Option<SchedulingParameter>,
    ) -> Result<(), SegmentError> {
        let dynamic = self.dynamic()?;
        let thread = stack::distributable();
        thread.as_ref().map_or(Ok(()), stack::check)?;
        let parameter = parameter_or_implicit(parameter)?;
        dynamic.check(parameter)?;
        implicit.map_or(Ok(()), |implicit| dynamic.check(implicit))?;
        let new = New {
            id: match thread {
                Some(thread) => thread.id(),
                None => DistributableThreadId::random()?,
            },
            name: Some(name.to_owned()),
            parameter,
            implicit,
            taken: Some(parameter),
        };
        Ok(stack::push(self.rt, dynamic, new)?)
    }

    /// Gives the thread's innermost segment another name, and other parameters if they are given.
    /// Its next deadline counts from now, so that work that is repeated in one segment updates it
    /// each time: without a parameter that takes no system call. Returns `Some` if the last
    /// deadline had passed, which is counted ([`RtOrb::segment_overruns`]).
    ///
    /// # Errors
    /// BAD_INV_ORDER if the thread is in no segment, and those of
    /// [`SchedulingCurrent::begin_scheduling_segment`]; the segment goes on as it was then.
    pub fn update_scheduling_segment(
        self,
        name: &str,
        parameter: Option<SchedulingParameter>,
        implicit: Option<SchedulingParameter>,
    ) -> Result<Option<Overrun>, SegmentError> {
        let dynamic = self.dynamic()?;
        stack::check(&stack::distributable().ok_or_else(in_no_segment)?)?;
        let given = parameter.into_iter().chain(implicit);
        given.into_iter().try_for_each(|one| dynamic.check(one))?;
        Ok(stack::update(self.rt, name, parameter, implicit)?)
    }

    /// Ends the thread's innermost segment. The thread is scheduled as it was when the segment
    /// began; with the outermost segment the distributable thread ends. Returns `Some` if the
    /// deadline had passed, which is counted.
    ///
    /// # Errors
    /// BAD_INV_ORDER if the thread is in no segment, or only in that of its upcall, and BAD_PARAM
    /// if the segment has another name: the segment then continues. THREAD_CANCELLED if the thread
    /// was cancelled, and INV_POLICY if the kernel does not admit the thread's earlier reservation
    /// again: the segment has then ended nonetheless.
    pub fn end_scheduling_segment(self, name: &str) -> Result<Option<Overrun>, SystemException> {
        stack::end(name)
    }

    /// Starts a new distributable thread, which runs `start` in a segment and then ends.
    ///
    /// # Errors
    /// BAD_INV_ORDER where the calling thread is in no segment; NO_RESOURCES when no thread can be
    /// started; and those of [`SchedulingCurrent::begin_scheduling_segment`], which the new thread
    /// calls: `start` does not run then.
    pub fn spawn(
        self,
        spawned: Spawned,
        start: impl FnOnce() + Send + 'static,
    ) -> Result<DistributableThread, SegmentError> {
        stack::check(&stack::distributable().ok_or_else(in_no_segment)?)?;
        let parameter = parameter_or_implicit(spawned.parameter)?;
        let thread = ThreadSpec::named("punctual-dt");
        let thread = match spawned.stack_size {
            Some(octets) => thread.stack_size(octets),
            None => thread,
        };
        let base = spawned.base_priority;
        let thread = self.rt.scheduled(base, thread);
        let thread = thread.ok_or_else(|| no_native(base))?;
        let (tell, told) = mpsc::sync_channel(1);
        let rt = self.rt.clone();
        let started = thread.start(move || {
            let begun = rt.run_at(base).map_err(SegmentError::from).and_then(|_| {
                let current = Self::begun(&rt, &spawned, parameter);
                current.and_then(|()| Ok(stack::distributable().ok_or_else(in_no_segment)?))
            });
            let has_begun = begun.is_ok();
            // The thread that started this one waits for it.
            let _ = tell.send(begun);
            if has_begun {
                start();
                stack::leave_all();
            }
        });
        started.map_err(|error| not_started(&error))?;
        told.recv().map_err(|_| not_begun())?
    }

    fn begun(
        rt: &Arc<RtOrb>,
        spawned: &Spawned,
        parameter: SchedulingParameter,
    ) -> Result<(), SegmentError> {
        let current = SchedulingCurrent::new(rt);
        current.begin_scheduling_segment(&spawned.name, Some(parameter), spawned.implicit)
    }

    /// Returns the distributable thread with this id, if it passes through this process: it runs
    /// here, or is in a call that it has made from here.
    #[must_use]
    pub fn lookup(self, id: DistributableThreadId) -> Option<DistributableThread> {
        self.rt.dynamic()?.find(id)
    }

    /// Returns the id of the distributable thread that the calling thread is.
    ///
    /// # Errors
    /// BAD_INV_ORDER where the thread is in no segment.
    pub fn id(self) -> Result<DistributableThreadId, SystemException> {
        let thread = stack::distributable().ok_or_else(in_no_segment)?;
        Ok(thread.id())
    }

    /// Returns the parameter of the thread's segment; in an upcall, that of the client's request,
    /// even if this server grants only a part of it.
    #[must_use]
    pub fn scheduling_parameter(self) -> Option<SchedulingParameter> {
        stack::parameters().map(|(parameter, _)| parameter)
    }

    /// Returns the implicit parameter: that of nested segments which are begun without one.
    #[must_use]
    pub fn implicit_scheduling_parameter(self) -> Option<SchedulingParameter> {
        stack::parameters()?.1
    }

    /// Returns the names of the segments that the distributable thread has begun in this upcall, or
    /// in this thread, the outermost first. Names are not sent with calls, so the names of its
    /// segments in other processes are not included.
    #[must_use]
    pub fn current_scheduling_segment_names(self) -> Vec<String> {
        stack::names()
    }

    fn dynamic(self) -> Result<&'o Arc<Dynamic>, SystemException> {
        self.rt.dynamic().ok_or_else(|| {
            Kind::NoImplement.because(
                "this RTORB has no dynamic scheduling: `RtConfig::dynamic_scheduling` gives it some",
            )
        })
    }
}

/// Returns the given parameter of a segment, or the implicit one.
fn parameter_or_implicit(
    said: Option<SchedulingParameter>,
) -> Result<SchedulingParameter, SystemException> {
    let implicit = || stack::parameters().and_then(|(_, implicit)| implicit);
    said.or_else(implicit).ok_or_else(|| {
        Kind::BadParam
            .because("no scheduling parameter, and no segment around this one with an implicit one")
    })
}

#[cold]
fn not_started(error: &SpawnError) -> SystemException {
    match error {
        SpawnError::Refused { .. } => refused(error.to_string()),
        _ => Kind::NoResources.because(error.to_string()),
    }
}

#[cold]
fn not_begun() -> SystemException {
    Kind::NoResources.because("the new thread has ended before its segment began")
}
