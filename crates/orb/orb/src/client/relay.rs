//! What is different in a call that passes a request on.

use super::failure::out_of_place;
use super::invocation::{Ask, Call};
use super::mux::{ClientConnection, PendingReply};
use super::reply::ReplyOutcome;
use super::wait::NoReply;
use crate::exception::SystemException;
use crate::messaging::Message;
use crate::reference::ObjectRef;
use crate::relay::{self, RelayedReply, RelayedRequest, Terms, on_terms};
use crate::server;
use punctual_exec::Deadline;
use punctual_ior::Ior;
use std::time::Duration;

/// How long a request that is passed on may take before another thread receives meanwhile.
const MOMENT: Duration = Duration::from_millis(2);

impl Call<'_> {
    /// Passes a request on: the reply as it came, `None` if there is none to expect.
    pub(crate) fn relay(
        object: &ObjectRef,
        request: &RelayedRequest<'_>,
    ) -> Result<Option<RelayedReply>, SystemException> {
        let named = |exception: SystemException| {
            exception.in_context(format_args!("passing on `{}`", request.operation()))
        };
        let call = Call::new(object, Ask::Relay(request));
        match call.run().map_err(named)? {
            None => Ok(None),
            Some(ReplyOutcome::Relayed(reply)) => Ok(Some(reply)),
            Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
            Some(_) => Err(named(out_of_place())),
        }
    }

    /// Waits for the reply. While it does, another thread receives where this one would have; for a
    /// request that is passed on only if it takes longer than a moment, or if more has come already: a
    /// change of threads would cost as much as the call.
    pub(super) fn wait(
        &self,
        connection: &ClientConnection,
        pending: &PendingReply<'_>,
    ) -> Result<Message, NoReply> {
        if matches!(self.ask, Ask::Relay(_)) && !server::is_wanted_elsewhere() {
            let moment = self.deadline.earlier(Deadline::after(MOMENT));
            match connection.wait(pending, moment) {
                Err(NoReply::TimedOut) if !self.deadline.has_passed() => {}
                waited => return waited,
            }
        }
        let bound = server::about_to_block();
        connection.wait(pending, connection.bounded(self.deadline, bound))
    }

    /// Why a request that is passed on cannot leave by this connection.
    pub(super) fn refused(&self, connection: &ClientConnection) -> Option<SystemException> {
        let Ask::Relay(request) = &self.ask else {
            return None;
        };
        let terms = Terms {
            version: connection.version,
            code_sets: connection.code_sets,
        };
        let either_order = connection.abilities.either_order;
        relay::refused(request, connection.peer(), terms, either_order)
    }

    /// Where a forward leads; a request that is passed on keeps its terms there.
    pub(super) fn forwarded(&self, to: Ior) -> Ior {
        match &self.ask {
            Ask::Relay(request) => on_terms(self.object.orb(), &to, None, request.terms()),
            _ => to,
        }
    }
}
