//! Pass of a request through the server's interception points.

use super::OwnedContext;
use super::guard::{each_guarded, instead};
use super::outcome::Outcome;
use super::points::ServerPoint;
use super::request_ids::RequestIds;
use super::request_info::{CallFacts, ReadBody};
use super::served::ServedObject;
use super::server_info::{ServerOrb, ServerRequestInfo};
use super::slots::{Slots, ThreadSlots};
use super::traits::ServerRequestInterceptor;
use crate::operation::OperationDetails;
use crate::operation_types::OperationTypes;
use punctual_giop::ServiceContexts;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// State of a request at the server between interception points.
pub(crate) struct ServerPass {
    request_id: u32,
    /// Number of the ORB that serves the request.
    orb: u64,
    /// Slots of the request (CORBA 3.3 part 1, §16.4.4.3).
    slots: Slots,
    slot_count: u32,
    /// Number of interceptors whose starting point has succeeded: the flow stack (§16.3.3).
    entered: usize,
    pub(crate) reply_contexts: Vec<OwnedContext>,
    /// True once an interceptor has added or replaced a service context of the reply.
    pub(crate) has_added_contexts: bool,
    /// Description of the target object, known from `receive_request` on.
    object: Option<Box<dyn ServedObject>>,
    /// Description of the operation by a servant that knows its operations only at run time.
    pub(crate) details: Option<Arc<dyn OperationDetails + Send>>,
    /// Types of the operation, if the skeleton knows them, and the position at which the arguments
    /// begin.
    pub(crate) typed: Option<(&'static OperationTypes, usize)>,
    /// True until the intermediate point has run; for a dynamic servant it runs when the servant
    /// reads its arguments (§16.3.8).
    pub(crate) is_to_receive: bool,
    /// Outcome raised by an interceptor at the intermediate point.
    pub(crate) refused: Option<Outcome>,
    /// During the upcall, the slots that the calling thread had before it.
    around: Option<Slots>,
    /// Number of interceptors to notify at the end of the upcall. They are notified even if the
    /// ending points run later, when the request is answered.
    in_upcall: usize,
}

thread_local! {
    /// Memory of an earlier request of the thread, so that requests do not allocate.
    static SPARE: Cell<Option<Box<ServerPass>>> = const { Cell::new(None) };
}

/// Interceptors, and the facts about the request that they can query.
pub(crate) struct Request<'a> {
    pub(crate) interceptors: &'a [Arc<dyn ServerRequestInterceptor>],
    pub(crate) facts: CallFacts<'a>,
    pub(crate) orb: ServerOrb<'a>,
    pub(crate) contexts: ServiceContexts<'a>,
}

impl ServerPass {
    /// Creates the pass of a request that an ORB serves.
    pub(crate) fn new(orb: u64, slot_count: u32) -> Self {
        Self {
            request_id: RequestIds::SERVER.next(),
            orb,
            slots: Slots::default(),
            slot_count,
            entered: 0,
            reply_contexts: Vec::new(),
            has_added_contexts: false,
            object: None,
            details: None,
            typed: None,
            is_to_receive: false,
            refused: None,
            around: None,
            in_upcall: 0,
        }
    }

    /// Creates a pass in memory of an earlier request of the thread, if there is any.
    pub(crate) fn boxed(orb: u64, slot_count: u32) -> Box<Self> {
        let pass = Self::new(orb, slot_count);
        match SPARE.try_with(Cell::take).ok().flatten() {
            Some(mut spare) => {
                *spare = pass;
                spare
            }
            None => Box::new(pass),
        }
    }

    /// Ends the pass, and keeps its memory for a later request of the thread.
    pub(crate) fn release(mut self: Box<Self>) {
        if let Some(object) = self.object.take() {
            object.release();
        }
        self.details = None;
        self.refused = None;
        self.slots = Slots::default();
        self.reply_contexts = Vec::new();
        // Not kept by a thread that is ending.
        let _ = SPARE.try_with(|spare| spare.set(Some(self)));
    }

    pub(crate) fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Runs the starting point. Returns the outcome if the request is not to be processed further.
    pub(crate) fn receive_request_service_contexts(&mut self, of: &Request<'_>) -> Option<Outcome> {
        let point = ServerPoint::ReceiveRequestServiceContexts;
        let mut entered = 0;
        let mut info = self.info(of, (point, None), None);
        let called = each_guarded(of.interceptors.iter(), point.name(), |interceptor| {
            interceptor.receive_request_service_contexts(&mut info)?;
            entered += 1;
            Ok(())
        });
        self.entered = entered;
        called.err().map(|raised| instead(None, raised))
    }

    /// Runs the intermediate point of the interceptors on the flow stack. Returns the outcome if
    /// the servant is not to be called. From then on the calling thread has the request's slots,
    /// until [`ServerPass::leave_upcall`].
    pub(crate) fn receive_request(
        &mut self,
        of: &Request<'_>,
        object: Option<Box<dyn ServedObject>>,
    ) -> Option<Outcome> {
        self.enter_upcall(object);
        self.tell_received(of)
    }

    /// Prepares the calling thread for the upcall: it has the request's slots until
    /// [`ServerPass::leave_upcall`].
    pub(crate) fn enter_upcall(&mut self, object: Option<Box<dyn ServedObject>>) {
        self.object = object;
        self.around = Some(match self.slot_count {
            0 => Slots::default(),
            _ => ThreadSlots { orb: self.orb }.replace(self.slots.clone()),
        });
    }

    /// Runs the intermediate point without preparing the thread for the upcall.
    pub(crate) fn tell_received(&mut self, of: &Request<'_>) -> Option<Outcome> {
        let point = ServerPoint::ReceiveRequest;
        self.in_upcall = self.entered;
        let begun = of.interceptors.get(..self.entered).unwrap_or_default();
        let mut info = self.info(of, (point, None), None);
        let called = each_guarded(begun.iter(), point.name(), |interceptor| {
            interceptor.receive_request(&mut info)
        });
        called.err().map(|raised| instead(None, raised))
    }

    /// Splits the pass of a request that will be answered later, perhaps by another thread. Returns
    /// the part that runs the ending points, with a copy of the slots. The part that remains
    /// restores the thread's slots when the upcall ends, and runs no ending points.
    pub(crate) fn answered_later(&mut self) -> Self {
        let in_upcall = self.around.is_some();
        let slots = match in_upcall {
            true => ThreadSlots { orb: self.orb }.copy(),
            false => self.slots.clone(),
        };
        Self {
            request_id: self.request_id,
            orb: self.orb,
            slots,
            slot_count: self.slot_count,
            entered: std::mem::take(&mut self.entered),
            reply_contexts: self.reply_contexts.clone(),
            has_added_contexts: self.has_added_contexts,
            object: self.object.take(),
            details: self.details.clone(),
            typed: self.typed,
            is_to_receive: false,
            refused: None,
            around: None,
            in_upcall: 0,
        }
    }

    /// Ends the upcall, on the thread that made it: the values left in the thread's slots become
    /// the request's.
    pub(crate) fn leave_upcall(&mut self, interceptors: &[Arc<dyn ServerRequestInterceptor>]) {
        let Some(around) = self.around.take() else {
            return;
        };
        let begun = interceptors.get(..self.in_upcall).unwrap_or_default();
        let mut left = begun.iter().rev();
        // A panic is logged by the guard, and affects neither the request nor other interceptors.
        while each_guarded(&mut left, "upcall_ended", |interceptor| {
            interceptor.upcall_ended(self.request_id);
            Ok(())
        })
        .is_err()
        {}
        if self.slot_count > 0 {
            self.slots = ThreadSlots { orb: self.orb }.replace(around);
        }
    }

    /// Runs, in reverse order, the ending points of the interceptors on the flow stack. Returns the
    /// outcome with which they have replaced the given one, if they have.
    pub(crate) fn end(
        &mut self,
        of: &Request<'_>,
        mut outcome: Outcome,
        body: Option<&ReadBody<'_>>,
    ) -> Option<Outcome> {
        let begun = of.interceptors.get(..std::mem::take(&mut self.entered));
        let mut left = begun.unwrap_or_default().iter().rev();
        let mut has_changed = false;
        loop {
            let point = outcome.server_point();
            let mut info = self.info(of, (point, Some(&outcome)), body);
            let called = each_guarded(&mut left, point.name(), |interceptor| match point {
                ServerPoint::SendReply => Ok(interceptor.send_reply(&mut info)?),
                ServerPoint::SendException => interceptor.send_exception(&mut info),
                _ => interceptor.send_other(&mut info),
            });
            let Err(raised) = called else {
                return has_changed.then_some(outcome);
            };
            outcome = instead(Some(&outcome), raised);
            has_changed = true;
        }
    }

    fn info<'i>(
        &'i mut self,
        of: &'i Request<'i>,
        (point, outcome): (ServerPoint, Option<&'i Outcome>),
        body: Option<&'i ReadBody<'i>>,
    ) -> ServerRequestInfo<'i> {
        ServerRequestInfo {
            point,
            facts: &of.facts,
            orb: of.orb,
            request_contexts: of.contexts,
            reply_contexts: &mut self.reply_contexts,
            has_added_contexts: &mut self.has_added_contexts,
            slots: &mut self.slots,
            slot_count: self.slot_count,
            object: self
                .object
                .as_deref()
                .map(|object| object as &dyn ServedObject),
            outcome,
            body,
        }
    }
}

impl fmt::Debug for ServerPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerPass")
            .field("request_id", &self.request_id)
            .field("entered", &self.entered)
            .finish_non_exhaustive()
    }
}
