//! One call: bind, marshal, send, wait; follow forwards; repeat where it is safe.
//!
//! Repeating is safe when the server cannot have begun: the request never left, or the peer said
//! CloseConnection before it answered (CORBA 3.3 part 2, §9.4.7). Otherwise the caller gets
//! COMM_FAILURE with COMPLETED_MAYBE.

use super::endpoint_select::Endpoint;
use super::mux::ClientConnection;
use super::reply::{Reply, ReplyOutcome};
use super::reply_table::Broken;
use super::wait::NoReply;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
};
use crate::reference::{ObjectRef, Target};
use crate::server;
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, GiopVersion};
use punctual_exec::Deadline;
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    AddressingDisposition, CancelRequest, LocateRequestHeader, MessageKind, RequestHeader,
    ResponseFlags, ServiceContexts, Target as WireTarget, begin_message, finish_message,
    service_context,
};
use punctual_link::{Address, Cause, LinkError, Phase, SendError};
use std::sync::Arc;

/// How often a call moves on to a fresh connection because the old one had gone stale.
const MAX_STALE: u32 = 3;

/// An operation as a stub knows it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    name: &'static str,
    two_way: bool,
}

impl Operation {
    /// An operation with a reply.
    #[must_use]
    pub const fn two_way(name: &'static str) -> Self {
        Self {
            name,
            two_way: true,
        }
    }

    /// An operation without one.
    #[must_use]
    pub const fn one_way(name: &'static str) -> Self {
        Self {
            name,
            two_way: false,
        }
    }

    /// Its name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// What writes the arguments; run once for each attempt.
pub(crate) type Arguments<'a> = dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError> + 'a;

/// A connection, and the endpoint it was opened for.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) connection: Arc<ClientConnection>,
    pub(crate) endpoint: Endpoint,
}

/// What is asked of the object.
enum Ask<'a> {
    Request {
        operation: &'a Operation,
        arguments: &'a Arguments<'a>,
    },
    Locate,
}

/// One call on its way.
pub(crate) struct Call<'a> {
    object: &'a ObjectRef,
    ask: Ask<'a>,
    deadline: Deadline,
    /// How the server wants the object addressed (CORBA 3.3 part 2, §9.4.2.3).
    addressing: AddressingDisposition,
}

/// How one attempt ended without an outcome.
enum Failed {
    /// The server cannot have begun.
    Stale(SystemException),
    Finally(SystemException),
}

/// Asks the server whether it knows the object, by LocateRequest.
pub(crate) fn locate(object: &ObjectRef) -> Result<bool, SystemException> {
    let call = Call::new(object, Ask::Locate);
    match call
        .run()
        .map_err(|exception| exception.in_context("locating the object"))?
    {
        Some(ReplyOutcome::ObjectHere) => Ok(true),
        Some(ReplyOutcome::UnknownObject) => Ok(false),
        Some(ReplyOutcome::SystemException(exception)) => Err(exception),
        _ => Err(out_of_place()),
    }
}

impl<'a> Call<'a> {
    fn new(object: &'a ObjectRef, ask: Ask<'a>) -> Self {
        let deadline = Deadline::after_maybe(object.call_timeout());
        Self {
            object,
            ask,
            deadline,
            addressing: AddressingDisposition::Key,
        }
    }

    /// Makes a two-way call: its results or its user exception.
    pub(crate) fn invoke(
        object: &ObjectRef,
        operation: &Operation,
        arguments: &Arguments<'_>,
    ) -> Result<ReplyOutcome, SystemException> {
        let named = |exception: SystemException| {
            exception.in_context(format_args!("calling `{}`", operation.name))
        };
        let call = Call::new(
            object,
            Ask::Request {
                operation,
                arguments,
            },
        );
        match call.run().map_err(named)? {
            Some(ReplyOutcome::SystemException(exception)) => Err(named(exception)),
            Some(outcome) => Ok(outcome),
            None => Err(named(out_of_place())),
        }
    }

    /// Makes a one-way call: returns when the transport has taken it (SYNC_WITH_TRANSPORT).
    pub(crate) fn send(
        object: &ObjectRef,
        operation: &Operation,
        arguments: &Arguments<'_>,
    ) -> Result<(), SystemException> {
        let call = Call::new(
            object,
            Ask::Request {
                operation,
                arguments,
            },
        );
        call.run()
            .map(drop)
            .map_err(|exception| exception.in_context(format_args!("calling `{}`", operation.name)))
    }

    fn run(mut self) -> Result<Option<ReplyOutcome>, SystemException> {
        let max_forwards = self.object.orb().config().max_forwards;
        let (mut forwards, mut stale, mut fell_back) = (0, 0, false);
        loop {
            let (target, forwarded) = self.object.target();
            let failed = match self.attempt(&target) {
                Ok(Some(ReplyOutcome::Forward(to))) => {
                    forwards += 1;
                    if forwards > max_forwards {
                        return Err(too_many_forwards(max_forwards));
                    }
                    self.object.forward(to);
                    continue;
                }
                Ok(Some(ReplyOutcome::NeedsAddressing(disposition))) => {
                    if disposition == self.addressing {
                        return Err(out_of_place());
                    }
                    self.addressing = disposition;
                    continue;
                }
                // A forward that has gone stale: its object may be back at the original place.
                Ok(Some(ReplyOutcome::SystemException(exception)))
                    if forwarded
                        && !fell_back
                        && exception.kind() == Kind::ObjectNotExist
                        && exception.completed() == CompletionStatus::No =>
                {
                    Failed::Finally(exception)
                }
                Ok(outcome) => return Ok(outcome),
                Err(failed) => failed,
            };
            match failed {
                Failed::Stale(_) if stale < MAX_STALE && !self.deadline.has_passed() => stale += 1,
                Failed::Stale(exception) | Failed::Finally(exception) => {
                    let safe = exception.completed() == CompletionStatus::No;
                    if !forwarded || fell_back || !safe || self.deadline.has_passed() {
                        return Err(exception);
                    }
                    fell_back = true;
                    self.object.unforward();
                }
            }
        }
    }

    /// Sends the request once and waits for what comes of it; `None` for a one-way that was sent.
    fn attempt(&self, target: &Target) -> Result<Option<ReplyOutcome>, Failed> {
        let binding = target
            .bind(self.object.orb(), self.deadline)
            .map_err(Failed::Finally)?;
        let connection = &*binding.connection;
        let pending = connection
            .register()
            .ok_or_else(|| Failed::Finally(too_many_calls()))?;
        let tells_code_sets = self.is_request() && connection.must_tell_code_sets();
        let request = self
            .marshal(&binding, target, pending.id, tells_code_sets)
            .map_err(|error| Failed::Finally(cdr_exception(error, CompletionStatus::No)))?;
        let limit = self.object.orb().config().limits.message;
        if request.len() > limit {
            return Err(Failed::Finally(too_large(request.len(), limit)));
        }
        if let Err(error) = connection.send(&request, self.deadline) {
            return Err(self.not_sent(&binding, &error));
        }
        if tells_code_sets {
            connection.code_sets_are_told();
        }
        drop(request);
        if !self.expects_reply() {
            return Ok(None);
        }
        server::about_to_block();
        match connection.wait(&pending, self.deadline) {
            Ok(message) => Reply::read(message, connection.code_sets, self.object.orb())
                .map(Some)
                .map_err(|exception| Failed::Finally(exception.in_context(connection.peer()))),
            Err(NoReply::TimedOut) => {
                self.cancel(connection, pending.id);
                Err(Failed::Finally(self.timed_out(&binding)))
            }
            Err(NoReply::Broken(broken)) => Err(no_reply(&binding, &broken)),
        }
    }

    fn is_request(&self) -> bool {
        matches!(self.ask, Ask::Request { .. })
    }

    fn expects_reply(&self) -> bool {
        match &self.ask {
            Ask::Request { operation, .. } => operation.two_way,
            Ask::Locate => true,
        }
    }

    fn marshal(
        &self,
        binding: &Binding,
        target: &Target,
        request_id: u32,
        tells_code_sets: bool,
    ) -> Result<Block, CdrError> {
        let connection = &*binding.connection;
        let (version, orb) = (connection.version, self.object.orb());
        let coding = Coding {
            version,
            code_sets: connection.code_sets,
            limits: orb.limits(),
            environment: Some(orb),
        };
        let mut out = Encoder::new(connection.lend(), ByteOrder::NATIVE, coding);
        let wire_target = self.addressed(binding, target);
        match &self.ask {
            Ask::Request {
                operation,
                arguments,
            } => {
                begin_message(&mut out, MessageKind::Request);
                let told = CodeSetContext::from(connection.code_sets).encode();
                let context = [(service_context::CODE_SETS, told.as_slice())];
                let contexts = if tells_code_sets { &context[..] } else { &[] };
                RequestHeader {
                    request_id,
                    response: if operation.two_way {
                        ResponseFlags::SYNC_WITH_TARGET
                    } else {
                        ResponseFlags::NONE
                    },
                    target: wire_target,
                    operation: operation.name,
                    contexts: ServiceContexts::new(contexts),
                }
                .encode(&mut out)?;
                body(&mut out, version, arguments)?;
            }
            Ask::Locate => {
                begin_message(&mut out, MessageKind::LocateRequest);
                LocateRequestHeader {
                    request_id,
                    target: wire_target,
                }
                .encode(&mut out)?;
            }
        }
        let mut block = out.into_block();
        finish_message(&mut block)?;
        Ok(block)
    }

    /// The object, named as the server asked for (§9.4.2.3).
    fn addressed<'t>(&self, binding: &'t Binding, target: &'t Target) -> WireTarget<'t> {
        let endpoint = &binding.endpoint;
        match (self.addressing, target.ior().profiles.get(endpoint.profile)) {
            (AddressingDisposition::Profile, Some(profile)) => WireTarget::Profile {
                tag: profile.tag,
                data: &profile.data,
            },
            (AddressingDisposition::Reference, Some(_)) => WireTarget::Reference {
                selected: u32::try_from(endpoint.profile).unwrap_or_default(),
                ior: Box::new(target.ior().clone()),
            },
            _ => WireTarget::ObjectKey(&endpoint.object_key),
        }
    }

    /// Tells the server that nobody waits any more (§9.4.4); it may well ignore that.
    fn cancel(&self, connection: &ClientConnection, request_id: u32) {
        let coding = Coding::new(connection.version, self.object.orb().limits());
        let mut out = Encoder::new(connection.lend(), ByteOrder::NATIVE, coding);
        begin_message(&mut out, MessageKind::CancelRequest);
        CancelRequest { request_id }.encode(&mut out);
        let mut block = out.into_block();
        if finish_message(&mut block).is_ok() {
            // A connection that does not even take this is broken off by the attempt.
            let _ = connection.send(
                &block,
                Deadline::after(std::time::Duration::from_millis(100)),
            );
        }
    }

    fn not_sent(&self, binding: &Binding, error: &SendError) -> Failed {
        let address = &binding.endpoint.address;
        let completed = if error.sent == 0 {
            CompletionStatus::No
        } else {
            CompletionStatus::Maybe
        };
        let detail = format!("{address}: {error}");
        if matches!(error.error.cause, Cause::TimedOut) {
            let timeout = SystemException::new(Kind::Timeout, minor::CALL_TIMED_OUT, completed);
            return Failed::Finally(timeout.with_detail(detail));
        }
        let exception = SystemException::new(Kind::CommFailure, minor::SEND_FAILED, completed)
            .with_detail(detail);
        if error.sent == 0 {
            Failed::Stale(exception)
        } else {
            Failed::Finally(exception)
        }
    }

    fn timed_out(&self, binding: &Binding) -> SystemException {
        let waited = self.deadline.timeout().unwrap_or_default();
        SystemException::new(
            Kind::Timeout,
            minor::CALL_TIMED_OUT,
            CompletionStatus::Maybe,
        )
        .with_detail(format!(
            "{}: {}: no reply within {waited:?}",
            binding.endpoint.address,
            Phase::Receive
        ))
    }
}

/// Arguments or results behind a header: aligned to 8 in GIOP 1.2, and only if there are any
/// (CORBA 3.3 part 2, §9.4.2.2).
pub(crate) fn body(
    out: &mut Encoder<'_>,
    version: GiopVersion,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    if version < GiopVersion::V1_2 {
        return write(out);
    }
    let unaligned = out.position();
    out.align(8);
    let begin = out.position();
    write(out)?;
    if out.position() == begin {
        out.block_mut().truncate(unaligned);
    }
    Ok(())
}

fn no_reply(binding: &Binding, broken: &Broken) -> Failed {
    let detail = format!(
        "{}: {}: {}",
        binding.endpoint.address,
        Phase::Receive,
        broken.reason
    );
    if broken.orderly {
        let exception =
            SystemException::new(Kind::CommFailure, minor::PEER_CLOSED, CompletionStatus::No);
        Failed::Stale(exception.with_detail(detail))
    } else {
        let exception = SystemException::new(
            Kind::CommFailure,
            minor::RECEIVE_FAILED,
            CompletionStatus::Maybe,
        );
        Failed::Finally(exception.with_detail(detail))
    }
}

fn too_many_forwards(limit: u32) -> SystemException {
    SystemException::new(
        Kind::Transient,
        minor::TOO_MANY_FORWARDS,
        CompletionStatus::No,
    )
    .with_detail(format!(
        "forwarded more than {limit} times, perhaps in a loop"
    ))
}

fn too_many_calls() -> SystemException {
    SystemException::new(Kind::Transient, minor::TOO_MANY_CALLS, CompletionStatus::No).with_detail(
        format!(
            "{} calls wait on this connection already",
            super::reply_table::MAX_WAITING
        ),
    )
}

fn too_large(length: usize, limit: usize) -> SystemException {
    SystemException::new(Kind::ImpLimit, minor::LIMIT, CompletionStatus::No).with_detail(format!(
        "the request takes {length} octets, over the limit of {limit} (limits.message)"
    ))
}

/// A reply whose status does not fit what was asked.
pub(crate) fn out_of_place() -> SystemException {
    SystemException::new(Kind::CommFailure, minor::PROTOCOL, CompletionStatus::Maybe)
        .with_detail("the reply's status does not fit the request")
}

/// No endpoint could be connected to: which there were, and what came of each.
pub(crate) fn unreachable(failures: &[(Address, LinkError)], call: Deadline) -> SystemException {
    let all: Vec<String> = failures
        .iter()
        .map(|(address, error)| format!("{address}: {error}"))
        .collect();
    let (kind, minor) = if call.has_passed() {
        (Kind::Timeout, minor::CONNECT_TIMED_OUT)
    } else {
        (Kind::Transient, minor::CONNECT_FAILED)
    };
    SystemException::new(kind, minor, CompletionStatus::No).with_detail(all.join("; "))
}
