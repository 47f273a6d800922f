//! What is sent: a request or a locate request, and a cancel request when nobody waits any more.

use super::buffer::Waiting;
use super::endpoint_select::Binding;
use super::invocation::{Ask, Call};
use super::mux::{ClientConnection, PendingReply};
use super::route::Route;
use crate::messaging::Head;
use crate::policy::Transfer;
use crate::probe::{self, Point};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Encoder, GiopVersion};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    AddressingDisposition, CancelRequest, LocateRequestHeader, MessageKind, RequestHeader,
    ServiceContexts, Target as WireTarget, service_context,
};

impl Call<'_> {
    /// The whole message. `arguments` are written anew for each attempt.
    pub(super) fn marshal(
        &self,
        binding: &Binding,
        route: &Route<'_>,
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
        let session = &*connection.session;
        let begin = |kind| session.begin(connection.lend(), kind, ByteOrder::NATIVE, coding);
        let target = route.target();
        let wire_target = self.addressed(binding, target);
        let out = match &self.ask {
            Ask::Request {
                operation,
                arguments,
            } => {
                let mut out = begin(MessageKind::Request);
                let told = CodeSetContext::from(connection.code_sets).encode();
                let context = [(service_context::CODE_SETS, told.as_slice())];
                let contexts = if tells_code_sets { &context[..] } else { &[] };
                let header = RequestHeader {
                    request_id,
                    response: operation.response(),
                    target: wire_target,
                    operation: operation.name(),
                    contexts: ServiceContexts::new(contexts),
                };
                session.put_head(&mut out, &Head::Request(header, None))?;
                // What waits for others leaves when the caller may have filled its buffers anew.
                let waits = !operation.two_way && route.effective.buffering.is_some();
                if route.effective.transfer == Transfer::Lend && !waits {
                    out.set_lender(connection.link.lender());
                }
                probe::begins!(Point::ClientMarshal);
                body(&mut out, version, arguments)?;
                probe::begins!(Point::ClientMessagingSend);
                out
            }
            Ask::Relay(request) => {
                let (order, kind) = (request.body.order(), MessageKind::Request);
                let mut out = session.begin(connection.lend(), kind, order, coding);
                let told = CodeSetContext::from(connection.code_sets).encode();
                let context = [(service_context::CODE_SETS, told.as_slice())];
                let contexts = if tells_code_sets { &context[..] } else { &[] };
                let contexts = connection.abilities.contexts.then_some(contexts);
                request.put_head(session, (request_id, &wire_target), contexts, &mut out)?;
                let lends = route.effective.transfer == Transfer::Lend;
                let lender = lends.then(|| connection.link.lender()).flatten();
                request.body.put(&mut out, lender);
                out
            }
            Ask::Locate => {
                let mut out = begin(MessageKind::LocateRequest);
                let header = LocateRequestHeader {
                    request_id,
                    target: wire_target,
                };
                session.put_head(&mut out, &Head::LocateRequest(header))?;
                out
            }
        };
        let mut block = out.into_block();
        session.finish(&mut block)?;
        Ok(block)
    }

    /// The arguments alone, as a batch has them.
    pub(super) fn marshal_body(&self, binding: &Binding) -> Result<Waiting, CdrError> {
        let (connection, orb) = (&*binding.connection, self.object.orb());
        let coding = Coding {
            version: connection.version,
            code_sets: connection.code_sets,
            limits: orb.limits(),
            environment: Some(orb),
        };
        let Ask::Request {
            operation,
            arguments,
        } = &self.ask
        else {
            return Err(CdrError::Invalid("only requests are buffered"));
        };
        let mut out = Encoder::new(connection.lend(), ByteOrder::NATIVE, coding);
        arguments(&mut out)?;
        let key = binding.endpoint.object_key.clone();
        Ok(Waiting::body(key, operation.kept_name(), out.into_block()))
    }

    /// The object, named as the server asked for (§9.4.2.3).
    fn addressed<'t>(
        &self,
        binding: &'t Binding,
        target: &'t crate::reference::Target,
    ) -> WireTarget<'t> {
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
}

/// Replies that one connection may owe, to callers who have given up, before it is let go.
const MOST_OWED: u32 = 1024;

/// A caller gives up: tells the server that nobody waits any more (§9.4.4), which may well ignore that.
#[cold]
pub(super) fn give_up(connection: &ClientConnection, pending: &PendingReply<'_>) {
    pending.caller.gives_up();
    cancel(connection, pending.id());
    if connection.owed() >= MOST_OWED {
        connection.retire();
    }
}

fn cancel(connection: &ClientConnection, request_id: u32) {
    let coding = Coding::new(connection.version, &connection.limits);
    let session = &*connection.session;
    let kind = MessageKind::CancelRequest;
    let mut out = session.begin(connection.lend(), kind, ByteOrder::NATIVE, coding);
    let head = Head::Cancel(CancelRequest { request_id });
    let put = session.put_head(&mut out, &head);
    let mut block = out.into_block();
    if put.is_ok() && session.finish(&mut block).is_ok() {
        connection.send_at_leisure(&block);
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
