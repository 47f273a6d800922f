//! One attempt of a call: binding, writing, sending, and reading the reply.

use super::complete::Completion;
use super::failure::{Failed, out_of_place, too_many_calls};
use super::invocation::{Call, Invocation};
use super::outcome::{Reply, ReplyOutcome};
use super::send;
use super::write::{Ask, NewMessage};
use crate::exception::SystemException;
use crate::lane::{AwaitedReply, Binding, ClientConnection, Waiting};
use crate::messaging::Message;
use crate::policy::BufferTerms;
use crate::probe::{self, Point};
use crate::relayed::{self, RelayedReply, Terms};
use crate::timeline::{self, Stage};

impl Invocation {
    /// Binds the call to the endpoint whose turn it is.
    pub(super) fn bind(&mut self, call: &Call<'_>) -> Result<Binding, SystemException> {
        probe::begins!(Point::ClientReference);
        self.route.bind(&call.callee, self.request_deadline)
    }

    /// Sends the request. Returns the reply to wait for, if there is one.
    pub(super) fn send_by(
        &self,
        call: &Call<'_>,
        binding: &Binding,
    ) -> Result<Option<AwaitedReply>, Failed> {
        let connection = &binding.connection;
        if let Some(refused) = call.refused(binding) {
            return Err(Failed::Unfit(refused));
        }
        probe::begins!(Point::ClientMessagingSend);
        let is_request = !matches!(call.ask, Ask::Locate);
        let terms = self.buffer_terms(call);
        let new_message = NewMessage {
            callee: call.callee,
            binding,
            route: &self.route,
            contexts: match &self.interception {
                Some(interception) => interception.contexts(),
                None => &self.contexts,
            },
            is_intercepted: self.interception.is_some(),
            addressing: self.addressing,
            announces_code_sets: is_request && connection.announced.must_tell_code_sets(),
            waits: terms.is_some(),
        };
        if let Some(terms) = terms
            && self.completion == Completion::Sent
        {
            self.buffer(call, &new_message, terms)?;
            return Ok(None);
        }
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let mut request = new_message.message(call.ask, pending.id())?;
        if timeline::is_recording() {
            connection.record_stage(Stage::Sending, pending.id());
        }
        match terms {
            Some(terms) => {
                let waiting = Waiting::message(request, Some(pending.id()));
                let by = (&**call.callee.lane, connection);
                call.callee.object.record_buffered_on(connection);
                send::buffer(by, waiting, terms, self.request_deadline)?;
            }
            None => {
                let out_of_band = self.route.effective.out_of_band;
                let deadline = self.request_deadline;
                send::send(connection, &mut request, out_of_band, deadline)?;
            }
        }
        if timeline::is_recording() {
            connection.record_stage(Stage::Sent, pending.id());
        }
        if new_message.announces_code_sets {
            connection.announced.record_code_sets_told();
        }
        let is_awaited = self.completion != Completion::Sent;
        Ok(is_awaited.then(|| pending.put_away(connection)))
    }

    /// Returns the buffering terms of the request if it is to be buffered, which applies to
    /// one-ways and to asynchronous calls.
    fn buffer_terms(&self, call: &Call<'_>) -> Option<&BufferTerms> {
        let terms = self.route.effective.buffering.as_ref()?;
        let Ask::Request { operation, .. } = call.ask else {
            return None;
        };
        (self.is_put_away || !operation.two_way).then_some(terms)
    }

    /// Puts a one-way request into the connection's buffer of unsent requests.
    fn buffer(
        &self,
        call: &Call<'_>,
        new_message: &NewMessage<'_>,
        terms: &BufferTerms,
    ) -> Result<(), Failed> {
        let Ask::Request {
            operation,
            arguments,
        } = call.ask
        else {
            return Err(Failed::Finally(out_of_place()));
        };
        let connection = &new_message.binding.connection;
        let waiting = new_message.waiting(operation, arguments)?;
        let by = (&**call.callee.lane, connection);
        send::buffer(by, waiting, terms, self.request_deadline)?;
        // A batch cannot carry service contexts.
        if new_message.announces_code_sets && !connection.wire.abilities.batches {
            connection.announced.record_code_sets_told();
        }
        Ok(())
    }
}

impl Call<'_> {
    /// Decodes the reply to the call.
    pub(super) fn read(&self, binding: &Binding, message: Message) -> Result<ReplyOutcome, Failed> {
        probe::begins!(Point::ClientMessagingReceive);
        let connection = &*binding.connection;
        let message = match self.ask {
            Ask::Relay(_) => match relayed_reply(message, connection)? {
                Ok(reply) => return Ok(ReplyOutcome::Relayed(reply)),
                Err(message) => message,
            },
            _ => message,
        };
        Reply::read(message, connection, self.callee)
    }

    /// Returns the reason why a relayed request cannot be sent over this connection.
    fn refused(&self, binding: &Binding) -> Option<SystemException> {
        let Ask::Relay(request) = self.ask else {
            return None;
        };
        let connection = &binding.connection;
        let terms = Terms {
            version: connection.wire.version,
            code_sets: connection.wire.code_sets,
        };
        let either_order = connection.wire.abilities.either_order;
        relayed::refused(request, connection.peer(), terms, either_order)
    }
}

/// Returns a reply to be relayed unchanged, or the message itself if its status makes the call
/// continue.
fn relayed_reply(
    message: Message,
    connection: &ClientConnection,
) -> Result<Result<RelayedReply, Message>, Failed> {
    let wire = &connection.wire;
    let read = RelayedReply::read(message, &wire.session, wire.code_sets, &wire.limits);
    read.map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
}
