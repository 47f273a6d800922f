//! Pass of a call through the client's interception points.

use super::OwnedContext;
use super::client_info::ClientRequestInfo;
use super::error::InterceptorError;
use super::guard::{each_guarded, instead};
use super::outcome::Outcome;
use super::place::CallDestination;
use super::points::ClientPoint;
use super::request_ids::RequestIds;
use super::request_info::{CallFacts, ReadBody};
use super::slots::{Slots, ThreadSlots};
use super::traits::ClientRequestInterceptor;
use std::sync::Arc;

/// State of a call between interception points. A call makes one pass through the points each time
/// that it is sent or polled.
#[derive(Debug)]
pub(crate) struct ClientPass {
    request_id: u32,
    /// Number of the ORB that makes the call.
    orb: u64,
    /// Slots of the calling thread when it made the call.
    slots: Slots,
    slot_count: u32,
    /// Number of interceptors whose starting point has succeeded: the flow stack (CORBA 3.3 part 1,
    /// §16.3.3).
    entered: usize,
    pub(crate) request_contexts: Vec<OwnedContext>,
    /// True once an interceptor has added or replaced a service context of the request.
    pub(crate) has_added_contexts: bool,
    pub(crate) reply_contexts: Vec<OwnedContext>,
}

/// Interceptors, and the facts about the call that they can query.
pub(crate) struct At<'a> {
    pub(crate) interceptors: &'a [Arc<dyn ClientRequestInterceptor>],
    pub(crate) facts: CallFacts<'a>,
    pub(crate) place: CallDestination<'a>,
}

impl ClientPass {
    /// Creates the pass of a call that the calling thread makes through this ORB.
    pub(crate) fn new(orb: u64, slot_count: u32) -> Self {
        Self {
            request_id: RequestIds::CLIENT.next(),
            orb,
            slots: match slot_count {
                0 => Slots::default(),
                _ => ThreadSlots { orb }.copy(),
            },
            slot_count,
            entered: 0,
            request_contexts: Vec::new(),
            has_added_contexts: false,
            reply_contexts: Vec::new(),
        }
    }

    pub(crate) fn request_id(&self) -> u32 {
        self.request_id
    }

    /// Runs the starting point `send_request` of a request with these contexts. Returns the outcome
    /// if the request is not to be sent; the ending points have run then.
    pub(crate) fn send_request(
        &mut self,
        at: &At<'_>,
        contexts: Vec<OwnedContext>,
    ) -> Option<Outcome> {
        self.request_contexts = contexts;
        self.has_added_contexts = false;
        self.reply_contexts.clear();
        self.start_request(at)
    }

    /// Runs the starting point `send_request` of a pass that has just been created, and has the
    /// request's contexts; returns as [`ClientPass::send_request`] does.
    pub(crate) fn start_request(&mut self, at: &At<'_>) -> Option<Outcome> {
        self.start(at, ClientPoint::SendRequest)
    }

    /// Runs the starting point `send_poll`; returns as [`ClientPass::send_request`] does.
    pub(crate) fn send_poll(&mut self, at: &At<'_>) -> Option<Outcome> {
        self.start(at, ClientPoint::SendPoll)
    }

    #[inline]
    fn start(&mut self, at: &At<'_>, point: ClientPoint) -> Option<Outcome> {
        let called = match self.slot_count {
            0 => self.call_starting(at, point),
            _ => {
                let _aside = ThreadSlots { orb: self.orb }.set_aside();
                self.call_starting(at, point)
            }
        };
        // No further interceptor begins; those that have begun run their ending points.
        called.err().map(|raised| self.end_instead(at, raised))
    }

    #[cold]
    fn end_instead(&mut self, at: &At<'_>, raised: InterceptorError) -> Outcome {
        let outcome = instead(None, raised);
        self.end(at, outcome.clone(), None).unwrap_or(outcome)
    }

    fn call_starting(&mut self, at: &At<'_>, point: ClientPoint) -> Result<(), InterceptorError> {
        let mut entered = 0;
        let mut info = self.info(at, (point, None), None);
        let called = each_guarded(at.interceptors.iter(), point.name(), |interceptor| {
            match point {
                ClientPoint::SendPoll => interceptor.send_poll(&mut info)?,
                _ => interceptor.send_request(&mut info)?,
            }
            entered += 1;
            Ok(())
        });
        self.entered = entered;
        called
    }

    /// Runs, in reverse order, the ending points of the interceptors on the flow stack. Returns the
    /// outcome with which they have replaced the given one, if they have. Afterwards the flow stack
    /// is empty.
    pub(crate) fn end(
        &mut self,
        at: &At<'_>,
        outcome: Outcome,
        body: Option<&ReadBody<'_>>,
    ) -> Option<Outcome> {
        if self.slot_count > 0 {
            let _aside = ThreadSlots { orb: self.orb }.set_aside();
            return self.call_ending(at, outcome, body);
        }
        self.call_ending(at, outcome, body)
    }

    fn call_ending(
        &mut self,
        at: &At<'_>,
        mut outcome: Outcome,
        mut body: Option<&ReadBody<'_>>,
    ) -> Option<Outcome> {
        let begun = at.interceptors.get(..std::mem::take(&mut self.entered));
        let mut left = begun.unwrap_or_default().iter().rev();
        let mut has_changed = false;
        loop {
            let point = outcome.client_point();
            let mut info = self.info(at, (point, Some(&outcome)), body);
            let called = each_guarded(&mut left, point.name(), |interceptor| match point {
                ClientPoint::ReceiveReply => Ok(interceptor.receive_reply(&mut info)?),
                ClientPoint::ReceiveException => interceptor.receive_exception(&mut info),
                _ => interceptor.receive_other(&mut info),
            });
            let Err(raised) = called else {
                return has_changed.then_some(outcome);
            };
            outcome = instead(Some(&outcome), raised);
            has_changed = true;
            // An exception raised in place of the results has no body.
            body = None;
        }
    }

    fn info<'i>(
        &'i mut self,
        at: &'i At<'i>,
        (point, outcome): (ClientPoint, Option<&'i Outcome>),
        body: Option<&'i ReadBody<'i>>,
    ) -> ClientRequestInfo<'i> {
        ClientRequestInfo {
            point,
            facts: &at.facts,
            place: &at.place,
            request_contexts: &mut self.request_contexts,
            has_added_contexts: &mut self.has_added_contexts,
            reply_contexts: &self.reply_contexts,
            slots: &self.slots,
            slot_count: self.slot_count,
            outcome,
            body,
        }
    }
}
