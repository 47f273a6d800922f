//! Call within the process with the interceptors of both ends: those of the caller's ORB are called
//! around those of the object's ORB, as for a request (CORBA 3.3 part 1, §16.3). Service contexts
//! that a client's interceptors add to the request are seen by the server's, and the other way
//! round.
//!
//! If it turns out that a request must be sent instead, the call ends its passes through the
//! interception points with TRANSPORT_RETRY; the request has passes of its own.

use super::locality::{Caller, LocatedObject};
use crate::adapter::{DispatchError, LocalRequest, Provided, Went};
use crate::exception::SystemException;
use crate::interceptor::{
    At, CallDestination, CallFacts, ClientPass, Outcome, OwnedContext, Request, RequestTypes,
    ServerOrb, ServerPass,
};
use crate::operation::NamedOperation;
use crate::policy::{Effective, SyncScope};
use crate::server;
use crate::upcall::WithinProcess;
use punctual_giop::{ServiceContext, ServiceContexts};
use punctual_ior::Ior;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Result of a call within the process that passes through interceptors.
pub(super) enum Final {
    /// The servant was called, and its result is final.
    Stands,
    /// The call must be sent as a request.
    ByWire,
    /// The call was refused, or failed, on the object's side.
    Refused(SystemException),
    /// An interceptor of the caller has raised this exception.
    Raised(SystemException),
    /// The call is forwarded to this object.
    Forward(Box<Ior>),
}

/// Functions that call the servant and return its outcome.
pub(super) struct Upcall<'u> {
    /// Function that calls the servant.
    pub(super) run: &'u mut dyn FnMut(&Provided<'_>),
    /// Returns the servant's outcome; `None` if it was not called.
    pub(super) ended: &'u dyn Fn() -> Option<Outcome>,
}

/// Result of serving the call on the object's side.
struct Served {
    outcome: Outcome,
    /// True if the outcome is the servant's own, not one that an interceptor or the adapter has put
    /// in its place.
    stands: bool,
    reply_contexts: Vec<OwnedContext>,
}

/// Makes the call with the interceptors of both ends.
pub(super) fn enter(
    caller: Caller<'_>,
    here: &LocatedObject,
    operation: &NamedOperation<'_>,
    upcall: Upcall<'_>,
) -> Final {
    let broker = caller.orb.broker();
    let mut pass = ClientPass::new(
        broker.number(),
        broker.interceptors.slots().unwrap_or_default(),
    );
    let call = LocalCall::new(caller, here, operation, pass.request_id());
    let policies = caller.object.effective(caller.orb.lanes().calling());
    let at = call.at(&policies);
    if let Some(outcome) = pass.send_request(&at, Vec::new()) {
        return raised(outcome);
    }
    let served = call.serve(&pass.request_contexts, upcall);
    pass.reply_contexts = served.reply_contexts;
    let heard = call.heard(served.outcome.clone());
    match pass.end(&at, heard, None) {
        Some(outcome) => raised(outcome),
        None if served.stands => Final::Stands,
        None => match served.outcome {
            Outcome::System(exception) => Final::Refused(exception),
            Outcome::Forward(to) => Final::Forward(to),
            _ => Final::ByWire,
        },
    }
}

/// Returns the final result for an outcome that the caller's interceptors have substituted.
fn raised(outcome: Outcome) -> Final {
    match outcome {
        Outcome::System(exception) => Final::Raised(exception),
        Outcome::Forward(to) => Final::Forward(to),
        _ => Final::ByWire,
    }
}

struct LocalCall<'c> {
    caller: Caller<'c>,
    here: &'c LocatedObject,
    facts: CallFacts<'c>,
    is_two_way: bool,
}

impl<'c> LocalCall<'c> {
    fn new(
        caller: Caller<'c>,
        here: &'c LocatedObject,
        operation: &'c NamedOperation<'c>,
        request_id: u32,
    ) -> Self {
        let is_two_way = operation.is_two_way();
        let sync_scope = match is_two_way {
            true => SyncScope::WithTarget,
            false => caller.sync_scope().unwrap_or(SyncScope::WithTransport),
        };
        let facts = CallFacts {
            request_id,
            operation: operation.name(),
            response_expected: matches!(sync_scope, SyncScope::WithServer | SyncScope::WithTarget),
            sync_scope,
            details: operation.details,
            types: RequestTypes::Unknown,
        };
        Self {
            caller,
            here,
            facts,
            is_two_way,
        }
    }

    fn at<'a>(&self, policies: &'a Effective) -> At<'a>
    where
        'c: 'a,
    {
        let (orb, object) = (self.caller.orb, self.caller.object);
        At {
            interceptors: orb.broker().interceptors.client(),
            facts: self.facts.clone(),
            place: CallDestination {
                target: object.called_as().ior(),
                effective: object.original().ior(),
                profile: 0,
                policies,
                protocols: &orb.broker().protocols,
                environment: orb,
            },
        }
    }

    /// Returns the part of the outcome that the caller learns according to its SyncScope.
    fn heard(&self, outcome: Outcome) -> Outcome {
        match (self.facts.sync_scope, outcome) {
            (_, outcome @ (Outcome::Forward(_) | Outcome::Retry)) => outcome,
            (SyncScope::WithTarget, Outcome::Sent) => Outcome::Reply,
            (SyncScope::WithTarget, outcome) => outcome,
            (SyncScope::WithServer, Outcome::System(exception)) if exception.is_not_begun() => {
                Outcome::System(exception)
            }
            (SyncScope::WithServer, _) => Outcome::Reply,
            _ => Outcome::Sent,
        }
    }

    /// Runs the server's interceptors and the servant for the call.
    fn serve(&self, contexts: &[OwnedContext], upcall: Upcall<'_>) -> Served {
        let broker = &*self.here.broker;
        let contexts: Vec<ServiceContext<'_>> =
            contexts.iter().map(|(id, data)| (*id, &data[..])).collect();
        let mut pass = ServerPass::new(
            broker.number(),
            broker.interceptors.slots().unwrap_or_default(),
        );
        let ids = broker.ids();
        let request = Request {
            interceptors: broker.interceptors.server(),
            facts: CallFacts {
                request_id: pass.request_id(),
                details: None,
                ..self.facts.clone()
            },
            orb: ServerOrb {
                orb_id: ids.orb,
                server_id: ids.server,
                environment: self.caller.orb,
            },
            contexts: ServiceContexts::new(&contexts),
        };
        let _within = WithinProcess::enter(broker.number());
        let (outcome, mut stands) = match pass.receive_request_service_contexts(&request) {
            Some(refused) => (refused, false),
            None => self.call(&mut pass, &request, upcall),
        };
        pass.leave_upcall(request.interceptors);
        let outcome = match pass.end(&request, outcome.clone(), None) {
            Some(changed) => {
                stands = false;
                changed
            }
            None => outcome,
        };
        Served {
            outcome,
            stands,
            reply_contexts: pass.reply_contexts,
        }
    }

    /// Calls the servant through the adapter. Returns the outcome, and whether it is the servant's
    /// own.
    fn call(
        &self,
        pass: &mut ServerPass,
        request: &Request<'_>,
        upcall: Upcall<'_>,
    ) -> (Outcome, bool) {
        let Upcall { run, ended } = upcall;
        let mut refused = None;
        let caller = self.caller;
        let has_timeout = || caller.has_timeout();
        let object = &self.here.object;
        let entered = catch_unwind(AssertUnwindSafe(|| {
            let local = LocalRequest::new(self.facts.operation, self.is_two_way, &has_timeout);
            object.through_adapter(&local, &mut |provided| {
                refused = pass.receive_request(request, object.serving());
                if refused.is_none() {
                    run(provided);
                }
                pass.leave_upcall(request.interceptors);
            })
        }));
        match (entered, refused) {
            (_, Some(refused)) => (refused, false),
            (Ok(Ok(Went::Here)), None) => match ended() {
                Some(Outcome::Reply) if !self.answers() => (Outcome::Sent, true),
                Some(outcome) => (outcome, true),
                // The servant may wait for other calls, and the caller must not block.
                None if !caller.may_wait && caller.must_not_wait() => (Outcome::Retry, false),
                // The servant has another interface: its reply to a request decides.
                None => {
                    caller.locality.leave();
                    (Outcome::Retry, false)
                }
            },
            (Ok(Ok(Went::ByWire)), None) => (Outcome::Retry, false),
            (Ok(Err(DispatchError::System(exception))), None) => {
                (Outcome::System(exception), false)
            }
            (Ok(Err(DispatchError::Forward(to) | DispatchError::ForwardPermanently(to))), None) => {
                (Outcome::Forward(to), false)
            }
            (Err(payload), None) => {
                let exception = server::panicked(&"this process", self.facts.operation, &*payload);
                (Outcome::System(exception), false)
            }
        }
    }

    /// Returns whether the caller waits for the servant's result.
    fn answers(&self) -> bool {
        self.facts.sync_scope == SyncScope::WithTarget
    }
}
