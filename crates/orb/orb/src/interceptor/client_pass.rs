//! Pass of a call through the client's interception points.

use super::OwnedContext;
use super::client_info::ClientRequestInfo;
use super::guard::{guarded, instead};
use super::outcome::Outcome;
use super::place::CallDestination;
use super::points::ClientPoint;
use super::request_info::{CallFacts, ReadBody};
use super::slots::{Slots, ThreadSlots};
use super::traits::ClientRequestInterceptor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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
        static REQUESTS: AtomicU32 = AtomicU32::new(1);
        Self {
            // Relaxed: only uniqueness matters.
            request_id: REQUESTS.fetch_add(1, Ordering::Relaxed),
            orb,
            slots: ThreadSlots { orb }.copy(),
            slot_count,
            entered: 0,
            request_contexts: Vec::new(),
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
        self.reply_contexts.clear();
        self.start(at, ClientPoint::SendRequest)
    }

    /// Runs the starting point `send_poll`; returns as [`ClientPass::send_request`] does.
    pub(crate) fn send_poll(&mut self, at: &At<'_>) -> Option<Outcome> {
        self.start(at, ClientPoint::SendPoll)
    }

    fn start(&mut self, at: &At<'_>, point: ClientPoint) -> Option<Outcome> {
        self.entered = 0;
        let aside = ThreadSlots { orb: self.orb }.set_aside();
        for interceptor in at.interceptors {
            let mut info = self.info(at, (point, None), None);
            let called = guarded((interceptor.name(), point.name()), || match point {
                ClientPoint::SendPoll => Ok(interceptor.send_poll(&mut info)?),
                _ => interceptor.send_request(&mut info),
            });
            match called {
                Ok(()) => self.entered += 1,
                // No further interceptor begins; those that have begun run their ending points.
                Err(raised) => {
                    drop(aside);
                    let outcome = instead(None, raised);
                    return Some(self.end(at, outcome.clone(), None).unwrap_or(outcome));
                }
            }
        }
        None
    }

    /// Runs, in reverse order, the ending points of the interceptors on the flow stack. Returns the
    /// outcome with which they have replaced the given one, if they have. Afterwards the flow stack
    /// is empty.
    pub(crate) fn end(
        &mut self,
        at: &At<'_>,
        mut outcome: Outcome,
        body: Option<&ReadBody<'_>>,
    ) -> Option<Outcome> {
        let _aside = ThreadSlots { orb: self.orb }.set_aside();
        let begun = at.interceptors.get(..std::mem::take(&mut self.entered));
        let mut has_changed = false;
        for interceptor in begun.unwrap_or_default().iter().rev() {
            let point = outcome.client_point();
            // An exception raised in place of the results has no body.
            let body = body.filter(|_| !has_changed);
            let mut info = self.info(at, (point, Some(outcome.clone())), body);
            let called = guarded((interceptor.name(), point.name()), || match point {
                ClientPoint::ReceiveReply => Ok(interceptor.receive_reply(&mut info)?),
                ClientPoint::ReceiveException => interceptor.receive_exception(&mut info),
                _ => interceptor.receive_other(&mut info),
            });
            if let Err(raised) = called {
                outcome = instead(Some(&outcome), raised);
                has_changed = true;
            }
        }
        has_changed.then_some(outcome)
    }

    fn info<'i>(
        &'i mut self,
        at: &'i At<'i>,
        (point, outcome): (ClientPoint, Option<Outcome>),
        body: Option<&'i ReadBody<'i>>,
    ) -> ClientRequestInfo<'i> {
        ClientRequestInfo {
            point,
            facts: &at.facts,
            place: at.place.clone(),
            request_contexts: &mut self.request_contexts,
            reply_contexts: &self.reply_contexts,
            slots: &self.slots,
            slot_count: self.slot_count,
            outcome,
            body,
        }
    }
}
