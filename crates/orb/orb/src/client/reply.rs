//! What a reply says.

use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
};
use crate::messaging::Message;
use crate::orb::Orb;
use punctual_cdr::{CdrError, CodeSets, Coding, Decoder, GiopVersion, Unmarshal};
use punctual_giop::{
    AddressingDisposition, LocateReplyHeader, LocateStatus, MessageHeader, MessageKind,
    ReplyHeader, ReplyStatus, SystemExceptionBody,
};
use punctual_ior::Ior;

/// A reply that has arrived, decoded up to its body.
#[derive(Debug)]
pub(crate) struct Reply {
    message: Message,
    code_sets: CodeSets,
    body: usize,
    orb: Orb,
}

/// What the server made of a call.
#[derive(Debug)]
pub(crate) enum ReplyOutcome {
    /// The results.
    Results(Reply),
    /// A user exception: its repository id, then its members.
    UserException(Reply),
    SystemException(SystemException),
    Forward(Ior),
    /// The server wants the object addressed by this disposition.
    NeedsAddressing(AddressingDisposition),
    /// To a LocateRequest: the object is there.
    ObjectHere,
    /// To a LocateRequest: no such object.
    UnknownObject,
}

enum Head {
    Results,
    UserException,
    Other(ReplyOutcome),
}

impl Reply {
    /// Reads a reply as far as its status demands.
    ///
    /// # Errors
    /// MARSHAL when it does not decode.
    pub(crate) fn read(
        message: Message,
        code_sets: CodeSets,
        orb: &Orb,
    ) -> Result<ReplyOutcome, SystemException> {
        let mut reply = Self {
            message,
            code_sets,
            body: MessageHeader::LEN,
            orb: orb.clone(),
        };
        let (head, body) = reply.head().map_err(|error| {
            cdr_exception(error, CompletionStatus::Maybe).in_context("reading the reply")
        })?;
        reply.body = body;
        Ok(match head {
            Head::Results => ReplyOutcome::Results(reply),
            Head::UserException => ReplyOutcome::UserException(reply),
            Head::Other(outcome) => outcome,
        })
    }

    /// Stands at the results, or at the exception's id.
    pub(crate) fn decoder(&self) -> Decoder<'_> {
        let coding = Coding {
            version: self.message.header.version,
            code_sets: self.code_sets,
            limits: self.orb.limits(),
            environment: Some(&self.orb),
        };
        let mut decoder = self.message.decoder(coding);
        // `head` has decoded as many octets before.
        let _ = decoder.skip(self.body - MessageHeader::LEN);
        decoder
    }

    fn head(&self) -> Result<(Head, usize), CdrError> {
        let mut decoder = self.decoder();
        let head = if self.message.header.kind == MessageKind::LocateReply {
            Head::Other(locate_outcome(&mut decoder)?)
        } else {
            reply_head(&mut decoder)?
        };
        Ok((head, decoder.position()))
    }
}

fn reply_head(decoder: &mut Decoder<'_>) -> Result<Head, CdrError> {
    let header = ReplyHeader::decode(decoder)?;
    Ok(match header.status {
        ReplyStatus::NoException => Head::Results,
        ReplyStatus::UserException => Head::UserException,
        ReplyStatus::SystemException => Head::Other(system_exception(decoder)?),
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            Head::Other(ReplyOutcome::Forward(Ior::unmarshal(decoder)?))
        }
        ReplyStatus::NeedsAddressingMode => Head::Other(ReplyOutcome::NeedsAddressing(
            AddressingDisposition::unmarshal(decoder)?,
        )),
    })
}

fn locate_outcome(decoder: &mut Decoder<'_>) -> Result<ReplyOutcome, CdrError> {
    let header = LocateReplyHeader::decode(decoder)?;
    Ok(match header.status {
        LocateStatus::ObjectHere => ReplyOutcome::ObjectHere,
        LocateStatus::UnknownObject => ReplyOutcome::UnknownObject,
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
            ReplyOutcome::Forward(Ior::unmarshal(decoder)?)
        }
        LocateStatus::SystemException => system_exception(decoder)?,
        LocateStatus::NeedsAddressingMode => {
            ReplyOutcome::NeedsAddressing(AddressingDisposition::unmarshal(decoder)?)
        }
    })
}

fn system_exception(decoder: &mut Decoder<'_>) -> Result<ReplyOutcome, CdrError> {
    let body = SystemExceptionBody::decode(decoder)?;
    let completed = CompletionStatus::from_number(body.completed);
    let exception = match Kind::from_repository_id(body.repository_id) {
        Some(kind) => SystemException::new(kind, body.minor, completed)
            .with_detail(format!("raised by the server: {}", kind.meaning())),
        None => SystemException::new(Kind::Unknown, body.minor, completed)
            .with_detail(format!("raised by the server as `{}`", body.repository_id)),
    };
    Ok(ReplyOutcome::SystemException(exception))
}

/// A user exception that the operation does not declare (CORBA 3.3 part 1, §A.3).
pub(crate) fn unlisted(id: &str) -> SystemException {
    SystemException::new(
        Kind::Unknown,
        minor::UNLISTED_USER_EXCEPTION,
        CompletionStatus::Yes,
    )
    .with_detail(format!(
        "the server raised `{id}`, which the operation does not declare"
    ))
}

/// The id that a reply answers, if its header decodes so far.
pub(crate) fn request_id(message: &Message) -> Option<u32> {
    let header = &message.header;
    let mut decoder = message.decoder(Coding::default());
    if header.version == GiopVersion::V1_2 || header.kind == MessageKind::LocateReply {
        return decoder.get_u32().ok();
    }
    ReplyHeader::decode(&mut decoder)
        .ok()
        .map(|header| header.request_id)
}
