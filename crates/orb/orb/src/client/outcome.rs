//! Decoded replies.

use super::failure::Failed;
use super::remote::Callee;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, minor, unmarshal_exception,
};
use crate::lane::ClientConnection;
use crate::messaging::{Head as WireHead, Message, Session};
use crate::probe::{self, Point};
use crate::profile::Origin;
use crate::relayed::RelayedReply;
use punctual_cdr::{CdrError, CodeSets, Coding, Decoder, Unmarshal};
use punctual_giop::{
    AddressingDisposition, LocateReplyHeader, LocateStatus, ReplyHeader, ReplyStatus,
};
use punctual_ior::Ior;

/// Reply that has arrived, decoded up to its body.
#[derive(Debug)]
pub(crate) struct Reply {
    message: Message,
    code_sets: CodeSets,
    origin: Origin,
    body: usize,
}

/// Kind of body that a reply has: results or a user exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Results,
    /// A user exception: its repository id, then its members.
    UserException,
}

/// Function that reads a reply's body.
pub(crate) type Results<'r> = dyn FnMut(Body, &mut Decoder<'_>) + 'r;

/// Result of a call, as the server's reply states it.
#[derive(Debug)]
pub(crate) enum ReplyOutcome {
    /// Results of the operation, not yet decoded.
    Results(Reply),
    /// A user exception: its repository id, then its members.
    UserException(Reply),
    SystemException(SystemException),
    /// Reply of any status, to be relayed to another client unchanged.
    Relayed(RelayedReply),
    Forward {
        to: Ior,
        origin: Origin,
        /// True if the object has moved permanently (LOCATION_FORWARD_PERM).
        permanently: bool,
    },
    /// The server asks for the object to be addressed by this disposition.
    NeedsAddressing(AddressingDisposition),
    /// Answer to a LocateRequest: the server has the object.
    ObjectHere,
    /// Answer to a LocateRequest: the server does not know the object.
    UnknownObject,
}

impl ReplyOutcome {
    /// Returns the system exception that the server raised, if it did.
    pub(super) fn exception(&self) -> Option<&SystemException> {
        match self {
            Self::SystemException(exception) => Some(exception),
            Self::Relayed(reply) => reply.exception(),
            _ => None,
        }
    }

    /// Passes the results or the user exception to `results`. Returns any other outcome.
    pub(super) fn give(self, callee: Callee<'_>, results: &mut Results<'_>) -> Option<Self> {
        match self {
            Self::Results(reply) => {
                probe::begins!(Point::ClientDemarshal);
                results(Body::Results, &mut reply.decoder(callee));
                None
            }
            Self::UserException(reply) => {
                results(Body::UserException, &mut reply.decoder(callee));
                None
            }
            other => Some(other),
        }
    }
}

enum Head {
    Results,
    UserException,
    Other(ReplyOutcome),
}

impl Reply {
    /// Decodes a reply that has arrived on a connection, as far as its status requires.
    ///
    /// # Errors
    /// MARSHAL if the reply cannot be decoded.
    pub(super) fn read(
        message: Message,
        connection: &ClientConnection,
        callee: Callee<'_>,
    ) -> Result<ReplyOutcome, Failed> {
        let (session, code_sets) = (&*connection.wire.session, connection.wire.code_sets);
        let read = Self::read_by(message, session, (code_sets, connection.origin()), callee);
        read.map_err(|exception| Failed::Finally(exception.in_context(connection.peer())))
    }

    /// Passes the results or the user exception of a reply to `results`, if its header has been read
    /// already and says that it has them. Returns `false` for any other reply.
    pub(super) fn give_plain(
        message: &Message,
        connection: &ClientConnection,
        callee: &Callee<'_>,
        results: &mut Results<'_>,
    ) -> bool {
        let Some(head) = message.reply else {
            return false;
        };
        let body = match head.status {
            ReplyStatus::NoException => Body::Results,
            ReplyStatus::UserException => Body::UserException,
            _ => return false,
        };
        let coding = Coding {
            version: message.header.version,
            code_sets: connection.wire.code_sets,
            limits: callee.broker().limits(),
            environment: Some(callee.environment_of(connection.origin())),
        };
        probe::begins!(Point::ClientDemarshal);
        results(body, &mut message.decoder_at(head.body, coding));
        true
    }

    fn read_by(
        message: Message,
        session: &dyn Session,
        (code_sets, origin): (CodeSets, Origin),
        callee: Callee<'_>,
    ) -> Result<ReplyOutcome, SystemException> {
        let mut reply = Self {
            body: message.head_position(),
            message,
            code_sets,
            origin,
        };
        if let Some(head) = reply.message.reply {
            match head.status {
                ReplyStatus::NoException => {
                    reply.body = head.body;
                    return Ok(ReplyOutcome::Results(reply));
                }
                ReplyStatus::UserException => {
                    reply.body = head.body;
                    return Ok(ReplyOutcome::UserException(reply));
                }
                _ => {}
            }
        }
        let (head, body) = reply.head(session, callee).map_err(|error| {
            unmarshal_exception(error, CompletionStatus::Maybe).in_context("reading the reply")
        })?;
        reply.body = body;
        Ok(match head {
            Head::Results => ReplyOutcome::Results(reply),
            Head::UserException => ReplyOutcome::UserException(reply),
            Head::Other(outcome) => outcome,
        })
    }

    /// Returns a decoder positioned at the results, or at the user exception's repository id.
    #[inline]
    pub(crate) fn decoder<'r>(&'r self, callee: Callee<'r>) -> Decoder<'r> {
        let coding = Coding {
            version: self.message.header.version,
            code_sets: self.code_sets,
            limits: callee.broker().limits(),
            environment: Some(callee.environment_of(self.origin)),
        };
        // The reply was decoded up to this byte before.
        self.message.decoder_at(self.body, coding)
    }

    fn head(&self, session: &dyn Session, callee: Callee<'_>) -> Result<(Head, usize), CdrError> {
        let mut decoder = self.decoder(callee);
        let head = match session.get_head(self.message.header.kind, &mut decoder)? {
            WireHead::Reply(header) => reply_head(&header, &mut decoder, self.origin)?,
            WireHead::LocateReply(header) => {
                Head::Other(locate_outcome(header, &mut decoder, self.origin)?)
            }
            _ => return Err(CdrError::Invalid("the header is not a reply's")),
        };
        Ok((head, decoder.position()))
    }
}

fn reply_head(
    header: &ReplyHeader<'_>,
    decoder: &mut Decoder<'_>,
    origin: Origin,
) -> Result<Head, CdrError> {
    Ok(match header.status {
        ReplyStatus::NoException => Head::Results,
        ReplyStatus::UserException => Head::UserException,
        ReplyStatus::SystemException => Head::Other(raised(decoder)?),
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            Head::Other(ReplyOutcome::Forward {
                to: Ior::unmarshal(decoder)?,
                origin,
                permanently: header.status == ReplyStatus::LocationForwardPerm,
            })
        }
        ReplyStatus::NeedsAddressingMode => Head::Other(ReplyOutcome::NeedsAddressing(
            AddressingDisposition::unmarshal(decoder)?,
        )),
    })
}

fn locate_outcome(
    header: LocateReplyHeader,
    decoder: &mut Decoder<'_>,
    origin: Origin,
) -> Result<ReplyOutcome, CdrError> {
    Ok(match header.status {
        LocateStatus::ObjectHere => ReplyOutcome::ObjectHere,
        LocateStatus::UnknownObject => ReplyOutcome::UnknownObject,
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => ReplyOutcome::Forward {
            to: Ior::unmarshal(decoder)?,
            origin,
            permanently: header.status == LocateStatus::ObjectForwardPerm,
        },
        LocateStatus::SystemException => raised(decoder)?,
        LocateStatus::NeedsAddressingMode => {
            ReplyOutcome::NeedsAddressing(AddressingDisposition::unmarshal(decoder)?)
        }
    })
}

fn raised(decoder: &mut Decoder<'_>) -> Result<ReplyOutcome, CdrError> {
    SystemException::received(decoder).map(ReplyOutcome::SystemException)
}

/// Returns the exception for a user exception that the operation does not declare (CORBA 3.3 part
/// 1, §A.3).
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
