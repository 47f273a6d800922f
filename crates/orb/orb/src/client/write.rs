//! The stage that writes messages: a request with a prepared header, or any message in full.

use super::contexts::FilledContexts;
use super::failure::{Failed, too_large};
use super::heads::RequestHead;
use super::remote::Callee;
use super::route::Route;
use crate::exception::argument_exception;
use crate::fixed_context::RequestContext;
use crate::lane::{Binding, ClientConnection, Waiting};
use crate::messaging::{Head, body};
use crate::operation::NamedOperation;
use crate::policy::Transfer;
use crate::priority::Priority;
use crate::probe::{self, Point};
use crate::relayed::RelayedRequest;
use punctual_cdr::{Block, ByteOrder, CallerMemory, CdrError, Coding, Encoder};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    AddressingDisposition, LocateRequestHeader, MessageKind, RequestHeader, ServiceContext,
    ServiceContexts, Target, service_context,
};
use std::sync::Arc;

/// Function that writes the arguments; called once for each attempt.
pub(crate) type Arguments<'a> = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + 'a;

/// Message to send for a call: a new request, a relayed one, or a LocateRequest.
#[derive(Clone, Copy)]
pub(super) enum Ask<'a> {
    Request {
        operation: &'a NamedOperation<'a>,
        arguments: &'a Arguments<'a>,
    },
    /// Request that is relayed for another client.
    Relay(&'a RelayedRequest<'a>),
    Locate,
}

/// Returns how values are encoded in messages on this connection.
#[inline]
pub(super) fn coding<'c>(callee: &Callee<'c>, connection: &ClientConnection) -> Coding<'c> {
    Coding {
        version: connection.wire.version,
        code_sets: connection.wire.code_sets,
        limits: callee.broker().limits(),
        environment: Some(callee.environment),
    }
}

/// Writes a request with a prepared header into `block`. If `lends` is true, large arguments are sent by reference over links
/// that share memory; those in `memory` are left out of the message.
#[inline(always)]
pub(super) fn by_head(
    (callee, connection): (&Callee<'_>, &ClientConnection),
    (head, request_id): (&RequestHead, u32),
    arguments: &Arguments<'_>,
    lends: bool,
    memory: Option<&CallerMemory<'_>>,
    block: &mut Block,
) -> Result<(), Failed> {
    if block.capacity() == 0 {
        *block = connection.lend();
    }
    let coding = coding(callee, connection);
    let mut out = head.template.resume(std::mem::take(block), coding);
    head.template.put_head(out.block_mut(), request_id);
    if head.template.has_contexts() {
        match (head.word, Priority::of_thread()) {
            (Some(layout), Some(priority)) => {
                head.template
                    .fill_word(out.block_mut(), layout.word(priority));
            }
            _ => {
                let fill = |context: &Arc<dyn RequestContext>, data: &mut [u8]| context.fill(data);
                head.template.fill_contexts(&mut out, &*head.contexts, fill);
            }
        }
    }
    if let Some(memory) = memory {
        out.set_lender(Some(memory));
    } else if lends {
        out.set_lender(connection.link().lender());
    }
    probe::begins!(Point::ClientMarshal);
    if let Err(error) = arguments(&mut out) {
        return Err(unwritable(head.announces_code_sets, error));
    }
    probe::begins!(Point::ClientMessagingSend);
    let length = head
        .template
        .finish(&mut out, memory.map_or(0, CallerMemory::left_out));
    out.put_back(block);
    check_length(length, connection)
}

/// Writes a request with these service contexts into `block`, otherwise as [`by_head`] does.
pub(super) fn with_contexts(
    (callee, connection): (&Callee<'_>, &ClientConnection),
    (head, request_id): (&RequestHead, u32),
    (operation, object_key, contexts): (&NamedOperation<'_>, &[u8], &FilledContexts),
    arguments: &Arguments<'_>,
    lends: bool,
    block: &mut Block,
) -> Result<(), Failed> {
    if block.capacity() == 0 {
        *block = connection.lend();
    }
    block.clear();
    let unwritable = |error| unwritable(head.announces_code_sets, error);
    let contexts: Vec<ServiceContext<'_>> =
        contexts.iter().map(|(id, data)| (*id, &data[..])).collect();
    let header = RequestHeader {
        request_id,
        response: operation.response,
        target: Target::ObjectKey(object_key),
        operation: operation.name(),
        contexts: ServiceContexts::new(&contexts),
    };
    let (session, coding) = (&*connection.wire.session, coding(callee, connection));
    let (kind, order) = (MessageKind::Request, ByteOrder::NATIVE);
    let mut out = session.begin(std::mem::take(block), kind, order, coding);
    let put = session.put_head(&mut out, &Head::Request(header, None));
    put.map_err(unwritable)?;
    if lends {
        out.set_lender(connection.link().lender());
    }
    probe::begins!(Point::ClientMarshal);
    body(&mut out, connection.wire.version, arguments).map_err(unwritable)?;
    probe::begins!(Point::ClientMessagingSend);
    *block = out.into_block();
    session.finish(block).map_err(unwritable)?;
    check_length(block.full_len(), connection)
}

/// Checks that the message is not longer than the limit of the connection.
#[inline]
pub(super) fn check_length(length: usize, connection: &ClientConnection) -> Result<(), Failed> {
    let limit = connection.wire.limits.message;
    if length > limit {
        return Err(Failed::Finally(too_large(length, limit)));
    }
    Ok(())
}

/// Returns the failure of a request whose arguments cannot be written. `announces_code_sets` is
/// true if the reference that the call has reached, after any forwards, announces code sets.
#[cold]
fn unwritable(announces_code_sets: bool, error: CdrError) -> Failed {
    Failed::Finally(argument_exception(error, announces_code_sets))
}

/// Message written in full, for calls that no prepared header fits.
pub(super) struct NewMessage<'w> {
    pub(super) callee: Callee<'w>,
    pub(super) binding: &'w Binding,
    pub(super) route: &'w Route,
    /// Service contexts of the request; ignored for connections that carry none.
    pub(super) contexts: &'w FilledContexts,
    /// True if `contexts` replaces the contexts of a relayed request.
    pub(super) is_intercepted: bool,
    /// Addressing disposition that the server asked for (CORBA 3.3 part 2, §9.4.2.3).
    pub(super) addressing: AddressingDisposition,
    /// True if the request carries the service context CodeSets.
    pub(super) announces_code_sets: bool,
    /// True if the request is buffered, and so may be sent after its caller has reused the memory
    /// of its arguments.
    pub(super) waits: bool,
}

impl NewMessage<'_> {
    /// Encodes the complete message, and checks the length.
    pub(super) fn message(&self, ask: Ask<'_>, request_id: u32) -> Result<Block, Failed> {
        let unwritable = |error| self.unwritable(error);
        let message = self.encode(ask, request_id).map_err(unwritable)?;
        check_length(message.full_len(), &self.binding.connection)?;
        Ok(message)
    }

    fn unwritable(&self, error: CdrError) -> Failed {
        unwritable(self.binding.endpoint.announces_code_sets, error)
    }

    fn encode(&self, ask: Ask<'_>, request_id: u32) -> Result<Block, CdrError> {
        let connection = &*self.binding.connection;
        let session = &*connection.wire.session;
        let coding = coding(&self.callee, connection);
        let told = CodeSetContext::from(connection.wire.code_sets).encode();
        let code_sets = (service_context::CODE_SETS, told.as_slice());
        let code_sets = self.announces_code_sets.then_some(code_sets);
        let begin = |kind, order| session.begin(connection.lend(), kind, order, coding);
        let lends = self.route.effective.transfer == Transfer::Lend;
        let target = self.addressed();
        let out = match ask {
            Ask::Request {
                operation,
                arguments,
            } => {
                let mut out = begin(MessageKind::Request, ByteOrder::NATIVE);
                let own = match connection.carries_contexts() {
                    true => &self.contexts[..],
                    false => &[],
                };
                let own = own.iter().map(|(id, data)| (*id, &data[..]));
                let listen_points = connection
                    .announced
                    .listen_points()
                    .filter(|_| self.announces_code_sets);
                let listen_points = listen_points.map(|data| (service_context::BI_DIR_IIOP, data));
                let told = code_sets.into_iter().chain(listen_points);
                let contexts: Vec<ServiceContext<'_>> = told.chain(own).collect();
                let header = RequestHeader {
                    request_id,
                    response: operation.response,
                    target,
                    operation: operation.name(),
                    contexts: ServiceContexts::new(&contexts),
                };
                session.put_head(&mut out, &Head::Request(header, None))?;
                if lends && !self.waits {
                    out.set_lender(connection.link().lender());
                }
                probe::begins!(Point::ClientMarshal);
                body(&mut out, connection.wire.version, arguments)?;
                probe::begins!(Point::ClientMessagingSend);
                out
            }
            Ask::Relay(request) => {
                let mut out = begin(MessageKind::Request, request.body.order());
                // A relayed request brings the contexts of its sender.
                let told = code_sets.as_slice();
                let contexts = connection.wire.abilities.contexts.then_some(told);
                let own = self.contexts.iter().map(|(id, data)| (*id, &data[..]));
                let own: Vec<ServiceContext<'_>> = own.collect();
                match self.is_intercepted {
                    true => request.with_contexts(ServiceContexts::new(&own)).put_head(
                        session,
                        (request_id, &target),
                        contexts,
                        &mut out,
                    )?,
                    false => {
                        request.put_head(session, (request_id, &target), contexts, &mut out)?;
                    }
                }
                let lender = lends.then(|| connection.link().lender()).flatten();
                request.body.put(&mut out, lender);
                out
            }
            Ask::Locate => {
                let mut out = begin(MessageKind::LocateRequest, ByteOrder::NATIVE);
                let header = LocateRequestHeader { request_id, target };
                session.put_head(&mut out, &Head::LocateRequest(header))?;
                out
            }
        };
        let mut block = out.into_block();
        session.finish(&mut block)?;
        Ok(block)
    }

    /// Writes a one-way request for buffering: as a whole message or, for a connection that sends
    /// batches, only its arguments.
    pub(super) fn waiting(
        &self,
        operation: &NamedOperation<'_>,
        arguments: &Arguments<'_>,
    ) -> Result<Waiting, Failed> {
        let connection = &*self.binding.connection;
        if !connection.wire.abilities.batches {
            let ask = Ask::Request {
                operation,
                arguments,
            };
            let message = self.message(ask, 0)?;
            return Ok(Waiting::message(message, None));
        }
        let coding = coding(&self.callee, connection);
        let mut out = Encoder::new(connection.lend(), ByteOrder::NATIVE, coding);
        arguments(&mut out).map_err(|error| self.unwritable(error))?;
        let key = self.binding.endpoint.object_key.clone();
        let waiting = Waiting::body(key, operation.kept_name(), out.into_block());
        check_length(waiting.octets(), connection)?;
        Ok(waiting)
    }

    /// Returns the object's address in the form that the server asked for (§9.4.2.3).
    fn addressed(&self) -> Target<'_> {
        let (endpoint, ior) = (
            &self.binding.endpoint,
            self.route.target(&self.callee).ior(),
        );
        match (self.addressing, ior.profiles.get(endpoint.profile)) {
            (AddressingDisposition::Profile, Some(profile)) => Target::Profile {
                tag: profile.tag,
                data: &profile.data,
            },
            (AddressingDisposition::Reference, Some(_)) => Target::Reference {
                selected: u32::try_from(endpoint.profile).unwrap_or_default(),
                ior: Box::new(ior.clone()),
            },
            _ => Target::ObjectKey(&endpoint.object_key),
        }
    }
}
