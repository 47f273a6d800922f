//! Requests and replies as records.

use punctual::fault_tolerance::RequestId;
use punctual::poa::{DispatchError, Dispatched, ServerCall};
use punctual::relay::{
    ByteOrder, CodeSets, GiopVersion, NarrowCodeSet, RawBody, RelayedReply, RelayedRequest,
    ReplyStatus, WideCodeSet,
};
use punctual::{SystemException, SystemExceptionKind as Kind};
use punctual_host::store::{Cdr, Record};

use crate::digest::digest_of;
use crate::requests::{Body, Reply, Request, TextCodes};

/// Returns a record as bytes; `None` if it has none, as its text nests too deep or is too long.
pub fn bytes_of<T: Clone>(value: &T) -> Option<Vec<u8>>
where
    Cdr<T>: Record,
{
    let mut bytes = Vec::new();
    Cdr(value.clone()).encode(&mut bytes).ok()?;
    Some(bytes)
}

impl Request {
    /// Makes the record of a request that the calling thread serves, and whose arguments have not been read.
    ///
    /// # Errors
    /// MARSHAL for a body that would not be valid behind another header.
    pub fn of(call: &ServerCall<'_>) -> Result<Self, DispatchError> {
        let passed = call.passed_on()?;
        let id = RequestId::current();
        Ok(Self {
            identity: id.as_ref().map_or_else(Vec::new, RequestId::to_bytes),
            time: RequestId::now(),
            expires: id.map_or(0, |id| id.expires()),
            operation: passed.operation().to_owned(),
            text: TextCodes::of(passed.terms().code_sets),
            arguments: Body::of(&passed.body()),
        })
    }

    /// Calls a function with the request as it can be passed on; `None` if the record is none of this version's.
    pub fn with<R>(&self, pass: impl FnOnce(&RelayedRequest<'_>) -> R) -> Option<R> {
        let (code_sets, body) = (self.text.code_sets()?, self.arguments.raw()?);
        Some(pass(&RelayedRequest::from_parts(
            &self.operation,
            code_sets,
            body,
        )))
    }
}

impl TextCodes {
    fn of(code_sets: CodeSets) -> Self {
        Self {
            narrow: code_sets.narrow.id(),
            wide: code_sets.wide.map_or(0, WideCodeSet::id),
        }
    }

    fn code_sets(&self) -> Option<CodeSets> {
        let wide = |id| WideCodeSet::from_id(id).unwrap_or(WideCodeSet::Unsupported(id));
        Some(CodeSets {
            narrow: NarrowCodeSet::from_id(self.narrow)?,
            wide: (self.wide != 0).then(|| wide(self.wide)),
        })
    }
}

impl Reply {
    /// Makes the record of a reply.
    ///
    /// # Errors
    /// MARSHAL for a body that would not be valid behind another header.
    pub fn of(reply: &RelayedReply) -> Result<Self, SystemException> {
        Ok(Self {
            status: reply.status().number(),
            text: TextCodes::of(reply.terms().code_sets),
            results: Body::of(&reply.body()?),
        })
    }

    /// Returns the status, the code sets of its text, and the body, as they answer a request; `None` if the record is none of this version's.
    pub fn parts(&self) -> Option<(ReplyStatus, CodeSets, RawBody<'_>)> {
        let status = match self.status {
            0 => ReplyStatus::NoException,
            1 => ReplyStatus::UserException,
            2 => ReplyStatus::SystemException,
            _ => return None,
        };
        Some((status, self.text.code_sets()?, self.results.raw()?))
    }

    /// Answers a call with the reply.
    ///
    /// # Errors
    /// INTERNAL if the record is none of this version's; MARSHAL if the call is of another GIOP version, or of other code sets, than
    /// the request that has led to the reply.
    pub fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match self.parts() {
            Some((status, code_sets, body)) => call.pass_kept(status, code_sets, body),
            None => Err(Kind::Internal.because("the reply cannot be read").into()),
        }
    }

    /// Returns a digest of the reply, by which two runs of a request are compared. Those of replies in different byte orders
    /// differ in their lowest bit.
    pub(crate) fn digest(&self) -> u64 {
        let status = self.status.to_be_bytes();
        let digest = digest_of(status.into_iter().chain(self.results.bytes.iter().copied()));
        match self.results.is_little_endian {
            true => digest | 1,
            false => digest & !1,
        }
    }
}

impl Body {
    fn of(body: &RawBody<'_>) -> Self {
        Self {
            is_little_endian: body.order() == ByteOrder::Little,
            minor: match body.version() {
                GiopVersion::V1_0 => 0,
                GiopVersion::V1_1 => 1,
                GiopVersion::V1_2 => 2,
            },
            phase: u8::try_from(body.phase()).unwrap_or_default(),
            bytes: body.to_vec(),
        }
    }

    fn raw(&self) -> Option<RawBody<'_>> {
        let order = match self.is_little_endian {
            true => ByteOrder::Little,
            false => ByteOrder::Big,
        };
        let version = match self.minor {
            0 => GiopVersion::V1_0,
            1 => GiopVersion::V1_1,
            2 => GiopVersion::V1_2,
            _ => return None,
        };
        Some(RawBody::from_parts(
            &self.bytes,
            self.phase.into(),
            order,
            version,
        ))
    }
}
