//! Upcalls of requests that are made in segments: the thread that serves one is in the segment for
//! the time of the upcall, and scheduled by it as far as [`super::DynamicScheduling`] allows.

use super::carried::Carried;
use super::config::PropagatedReservations;
use super::dynamic::Dynamic;
use super::parameter::SchedulingParameter;
use super::stack::{self, New};
use super::thread_scheduling::reserves_time;
use crate::orb::RtOrb;
use punctual_exec::thread::Reservation;
use punctual_giop::ServiceContexts;
use punctual_giop::service_context::SCHEDULING_SEGMENT;
use punctual_orb::{
    AboveHighest, AroundUpcall, ServerCall, SystemException, SystemExceptionKind as Kind, Urgency,
};
use std::sync::Arc;

/// Actions around the upcalls of an adapter in an ORB with dynamic scheduling: those of its
/// priority model, and, inside them, entering and leaving the request's segment.
#[derive(Debug)]
pub(crate) struct InSegment {
    pub(crate) rt: Arc<RtOrb>,
    pub(crate) dynamic: Arc<Dynamic>,
    pub(crate) model: Option<Arc<dyn AroundUpcall>>,
    /// True if the priority model leaves the scheduling of upcalls to clients.
    pub(crate) clients_decide: bool,
}

/// Bit of the returned state which says that the upcall has an entry in the thread's stack of
/// segments; the other bits are the priority model's.
const ENTERED: u64 = 1 << 31;

impl AroundUpcall for InSegment {
    fn enter(&self, mut call: Option<&mut ServerCall<'_>>) -> Result<u64, SystemException> {
        let model = self.model.as_deref();
        let entered = model.map(|model| model.enter(call.as_deref_mut()));
        let entered = entered.transpose()?.unwrap_or_default();
        match self.enter_segment(call.as_deref()) {
            Ok(false) => Ok(entered),
            Ok(true) => Ok(entered | ENTERED),
            Err(exception) => {
                if let Some(model) = model {
                    model.leave(entered);
                }
                Err(exception)
            }
        }
    }

    fn urgency(&self, contexts: ServiceContexts<'_>) -> Urgency {
        let model = self.model.as_ref();
        model.map_or_else(Urgency::default, |model| model.urgency(contexts))
    }

    fn leave(&self, entered: u64) {
        if entered & ENTERED != 0 {
            stack::leave_upcall();
        }
        if let Some(model) = &self.model {
            model.leave(entered & !ENTERED);
        }
    }
}

impl InSegment {
    /// Enters the segment of a request. Returns whether the upcall has an entry in the thread's
    /// stack of segments.
    fn enter_segment(&self, call: Option<&ServerCall<'_>>) -> Result<bool, SystemException> {
        let Some(call) = call else {
            // The calling thread is the client's.
            return stack::scheduling_point(None).map(|()| false);
        };
        let Some(data) = call.contexts().find(SCHEDULING_SEGMENT) else {
            let was_in_one = stack::is_in_segment();
            if was_in_one {
                stack::push_unrelated();
            }
            return Ok(was_in_one);
        };
        let carried = Carried::decoded(data).map_err(|why| {
            Kind::Marshal.because(format!("the service context SchedulingSegment: {why}"))
        })?;
        if let Some(thread) = self.dynamic.find(carried.id) {
            stack::check(&thread)?;
        }
        let new = New {
            id: carried.id,
            name: None,
            parameter: carried.parameter,
            implicit: None,
            taken: self.taken(carried.parameter)?,
        };
        stack::push(&self.rt, &self.dynamic, new).map(|()| true)
    }

    /// Returns the parameter by which the thread is scheduled for the upcall, if the segment
    /// changes its scheduling. A thread with a reservation keeps its scheduling.
    fn taken(
        &self,
        wanted: SchedulingParameter,
    ) -> Result<Option<SchedulingParameter>, SystemException> {
        if !self.clients_decide || reserves_time()? {
            return Ok(None);
        }
        Ok(match wanted {
            SchedulingParameter::FixedPriority(priority) => {
                let allowed = self.rt.propagated().allowed(priority)?;
                Some(SchedulingParameter::FixedPriority(allowed))
            }
            SchedulingParameter::EarliestDeadlineFirst(reserved) => self
                .allowed(reserved)?
                .map(SchedulingParameter::EarliestDeadlineFirst),
        })
    }

    /// Returns the part of a client's reservation that this server allows.
    fn allowed(&self, wanted: Reservation) -> Result<Option<Reservation>, SystemException> {
        let (most, above) = match self.dynamic.config().propagated {
            PropagatedReservations::NotObeyed => return Ok(None),
            PropagatedReservations::UpTo { most, above } => (most, above),
        };
        match most.capped(wanted) {
            Some(capped) if capped == wanted || above == AboveHighest::Cap => Ok(Some(capped)),
            _ => Err(Kind::NoPermission.because(format!(
                "a request asks for {wanted}, and clients may have a runtime of {:?} in that period at most",
                most.runtime_of(wanted.period)
            ))),
        }
    }
}
