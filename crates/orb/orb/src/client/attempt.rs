//! One attempt of a call: bind, write, send, complete.

use super::complete::{self, Completion};
use super::failure::{Failed, out_of_place, too_many_calls};
use super::invocation::{Invocation, Outcome};
use super::outcome::{Reply, ReplyOutcome};
use super::send;
use super::write::{Anew, Ask};
use crate::exception::SystemException;
use crate::lane::Binding;
use crate::messaging::Message;
use crate::policy::Buffering;
use crate::probe::{self, Point};
use crate::relayed::{self, RelayedReply, Terms};

impl Invocation<'_> {
    /// Makes one attempt, at the endpoint that is to be tried now.
    pub(super) fn attempt(&mut self) -> Result<(Option<Binding>, Outcome), SystemException> {
        probe::begins!(Point::ClientReference);
        let binding = self.route.bind(self.deadline)?;
        let outcome = self.attempt_by(&binding);
        Ok((Some(binding), outcome))
    }

    /// Sends the request once and waits for what comes of it; `None` for a one-way that was sent.
    fn attempt_by(&self, binding: &Binding) -> Outcome {
        let connection = &binding.connection;
        if let Some(refused) = self.refused(binding) {
            return Err(Failed::Unfit(refused));
        }
        probe::begins!(Point::ClientMessagingSend);
        let is_request = !matches!(self.ask, Ask::Locate);
        let anew = Anew {
            callee: self.callee,
            binding,
            route: &self.route,
            addressing: self.addressing,
            tells_code_sets: is_request && connection.must_tell_code_sets(),
        };
        if let Some(when) = self.route.effective.buffering
            && let Ask::Request { operation, .. } = self.ask
            && !operation.two_way
        {
            return self.buffer(&anew, when);
        }
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let mut request = anew.message(self.ask, pending.id())?;
        send::send(connection, &mut request, self.deadline)?;
        if anew.tells_code_sets {
            connection.code_sets_are_told();
        }
        drop(request);
        if self.completion == Completion::Sent {
            return Ok(None);
        }
        probe::begins!(Point::ClientTransportReceive);
        match complete::wait(connection, &pending, self.completion, self.deadline) {
            Ok(message) => self.read(binding, message).map(Some),
            Err(why) => Err(complete::without_reply(
                connection,
                &pending,
                why,
                self.deadline,
            )),
        }
    }

    /// Lets a one-way request wait for others on its connection.
    fn buffer(&self, anew: &Anew<'_>, when: Buffering) -> Outcome {
        let Ask::Request {
            operation,
            arguments,
        } = self.ask
        else {
            return Err(Failed::Finally(out_of_place()));
        };
        let connection = &anew.binding.connection;
        let waiting = anew.waiting(operation, arguments)?;
        send::buffer((self.callee.lane, connection), waiting, when, self.deadline)?;
        // A batch has no contexts.
        if anew.tells_code_sets && !connection.abilities.batches {
            connection.code_sets_are_told();
        }
        Ok(None)
    }

    /// What a reply says.
    fn read(&self, binding: &Binding, message: Message) -> Result<ReplyOutcome, Failed> {
        probe::begins!(Point::ClientMessagingReceive);
        let connection = &binding.connection;
        let (session, code_sets) = (&connection.session, connection.code_sets);
        let read = match self.ask {
            Ask::Relay(_) => {
                match RelayedReply::read(message, session, code_sets, &connection.limits) {
                    Ok(Ok(reply)) => Ok(ReplyOutcome::Relayed(reply)),
                    Ok(Err(message)) => Reply::read(message, &**session, code_sets, self.callee),
                    Err(exception) => Err(exception),
                }
            }
            _ => Reply::read(message, &**session, code_sets, self.callee),
        };
        read.map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
    }

    /// Why a request that is passed on cannot leave by this connection.
    fn refused(&self, binding: &Binding) -> Option<SystemException> {
        let Ask::Relay(request) = self.ask else {
            return None;
        };
        let connection = &binding.connection;
        let terms = Terms {
            version: connection.version,
            code_sets: connection.code_sets,
        };
        let either_order = connection.abilities.either_order;
        relayed::refused(request, connection.peer(), terms, either_order)
    }
}
