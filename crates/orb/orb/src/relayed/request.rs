//! Request that is passed on undecoded.

use super::body::RawBody;
use super::terms::Terms;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind, code_set_exception, minor,
};
use crate::messaging::{Head, Session};
use punctual_cdr::{ByteOrder, CdrError, CodeSets, Encoder};
use punctual_giop::{
    ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContext, ServiceContexts,
    Target, service_context,
};
use punctual_link::Address;

/// Maximum number of bridges that one request may pass; a longer path is taken for a loop.
pub const MAX_HOPS: u8 = 16;

/// Id of the service context that counts bridges (`PUN` and a number). Its data: an octet with the
/// byte order, an octet with the count, and padding.
const HOPS: u32 = 0x5055_4e01;

/// Undecoded request, to be passed on to another server.
#[derive(Clone, Debug)]
pub struct RelayedRequest<'m> {
    pub(crate) operation: &'m str,
    pub(crate) response: ResponseFlags,
    pub(crate) contexts: ServiceContexts<'m>,
    pub(crate) terms: Terms,
    pub(crate) body: RawBody<'m>,
}

impl<'m> RelayedRequest<'m> {
    /// Makes a request of an operation from a body that was kept, without service contexts. Its caller waits for the target's
    /// reply, even if the operation is a one-way.
    #[must_use]
    pub fn from_parts(operation: &'m str, code_sets: CodeSets, body: RawBody<'m>) -> Self {
        let version = body.version();
        Self {
            operation,
            response: ResponseFlags::SYNC_WITH_TARGET,
            contexts: ServiceContexts::none(),
            terms: Terms { version, code_sets },
            body,
        }
    }

    /// Returns the operation's name in the relayed request.
    #[must_use]
    pub fn operation(&self) -> &'m str {
        self.operation
    }

    /// Returns the terms (GIOP version and code sets) that the other side must share.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// Returns the undecoded body of the relayed request.
    #[must_use]
    pub fn body(&self) -> RawBody<'m> {
        self.body
    }

    /// Returns the number of bridges that the request has passed.
    #[must_use]
    pub fn hops(&self) -> u8 {
        let told = self.contexts.find(HOPS);
        told.and_then(|data| data.get(1).copied()).unwrap_or(0)
    }

    /// Returns a copy of the relayed request with another body.
    #[must_use]
    pub fn with_body<'o>(&self, body: RawBody<'o>) -> RelayedRequest<'o>
    where
        'm: 'o,
    {
        RelayedRequest {
            body,
            ..self.clone()
        }
    }
}

impl RelayedRequest<'_> {
    /// Returns a copy of the relayed request with other service contexts.
    pub(crate) fn with_contexts<'o>(&'o self, contexts: ServiceContexts<'o>) -> RelayedRequest<'o> {
        RelayedRequest {
            contexts,
            ..self.clone()
        }
    }

    /// Writes the request's header anew: with another request id, another target, and additional
    /// `contexts`.
    ///
    /// # Errors
    /// If the session's protocol cannot express the header, or the body would not be aligned after
    /// it.
    pub(crate) fn put_head(
        &self,
        session: &dyn Session,
        (request_id, target): (u32, &Target<'_>),
        contexts: Option<&[ServiceContext<'_>]>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let count = self.hops().saturating_add(1);
        put_aligned(&self.body, out, |out, shift| {
            let counted = hops(count);
            let counted = counted.get(..4 + shift).unwrap_or(&counted);
            let all: Vec<ServiceContext<'_>> = contexts.map_or_else(Vec::new, |told| {
                let told = told.iter().copied();
                told.chain(passing(self.contexts))
                    .chain([(HOPS, counted)])
                    .collect()
            });
            let header = RequestHeader {
                request_id,
                response: self.response,
                target: target.clone(),
                operation: self.operation,
                contexts: ServiceContexts::new(&all),
            };
            session.put_head(out, &Head::Request(header, None))
        })
    }
}

/// Writes the header of a reply that is passed back.
///
/// # Errors
/// If the session's protocol cannot express the header, or the body would not be aligned after it.
pub(crate) fn put_reply_head(
    session: &dyn Session,
    (request_id, status): (u32, ReplyStatus),
    contexts: ServiceContexts<'_>,
    body: &RawBody<'_>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    put_aligned(body, out, |out, shift| {
        let padding = hops(0);
        let padding = padding.get(..shift).unwrap_or_default();
        let padding = (shift > 0).then_some((HOPS, padding));
        let all: Vec<ServiceContext<'_>> = passing(contexts).chain(padding).collect();
        let header = ReplyHeader {
            request_id,
            status,
            contexts: ServiceContexts::new(&all),
        };
        session.put_head(out, &Head::Reply(header))
    })
}

/// Writes a header. If the body would lose its alignment, writes it again with an extension.
fn put_aligned(
    body: &RawBody<'_>,
    out: &mut Encoder<'_>,
    put: impl Fn(&mut Encoder<'_>, usize) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    let start = out.position();
    put(out, 0)?;
    match body.shift_behind(out.position())? {
        0 => Ok(()),
        shift => {
            out.block_mut().truncate(start);
            put(out, shift)
        }
    }
}

/// Returns the contexts to pass on: all except those that concern only one connection, and except
/// the count of bridges.
fn passing<'m>(
    contexts: ServiceContexts<'m>,
) -> impl Iterator<Item = ServiceContext<'m>> + use<'m> {
    let ours = [
        service_context::CODE_SETS,
        service_context::BI_DIR_IIOP,
        HOPS,
    ];
    contexts.iter().filter(move |(id, _)| !ours.contains(id))
}

/// Returns the data of the context that counts bridges; the first 4 octets are enough.
fn hops(count: u8) -> [u8; 8] {
    [ByteOrder::NATIVE.flag(), count, 0, 0, 0, 0, 0, 0]
}

/// Returns the exception for a request that cannot be sent to `to` on `terms`; `None` if it can.
pub(crate) fn refused(
    request: &RelayedRequest<'_>,
    to: &Address,
    terms: Terms,
    either_order: bool,
) -> Option<SystemException> {
    let came = request.terms;
    if came.version != terms.version {
        let detail = format!(
            "a request of GIOP {} is not passed on to {to}, which is called in GIOP {}",
            came.version, terms.version
        );
        return Some(unusable(detail));
    }
    if came.code_sets != terms.code_sets {
        return Some(code_set_exception(format_args!(
            "a request in {:?} is not passed on to {to}, which has {:?}",
            came.code_sets, terms.code_sets
        )));
    }
    let order = request.body.order();
    if !either_order && order != ByteOrder::NATIVE {
        let detail = format!(
            "a request in {order:?}-endian order is not passed on to {to}, whose protocol has only \
             this machine's"
        );
        return Some(unusable(detail));
    }
    None
}

fn unusable(detail: String) -> SystemException {
    // In the standard's words: no profile of the reference can be used.
    SystemException::new(
        SystemExceptionKind::ImpLimit,
        minor::omg(1),
        CompletionStatus::No,
    )
    .with_detail(detail)
}
