//! A reply that is passed back.

use super::{RawBody, Terms};
use crate::client::{Reply, ReplyOutcome};
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::messaging::{Head, Message, Session};
use crate::orb::Orb;
use punctual_cdr::{CdrError, CodeSets, Coding, Decoder};
use punctual_giop::{ReplyHeader, ReplyStatus};
use std::sync::Arc;

/// A reply as it came, to be passed back: results, or an exception of either kind.
#[derive(Debug)]
pub struct RelayedReply {
    message: Message,
    session: Arc<dyn Session>,
    code_sets: CodeSets,
    status: ReplyStatus,
    exception: Option<SystemException>,
    orb: Orb,
}

impl RelayedReply {
    /// Reads a reply's head. One that concerns the caller alone, such as a forward, is read whole.
    ///
    /// # Errors
    /// MARSHAL when it does not decode.
    pub(crate) fn read(
        message: Message,
        session: &Arc<dyn Session>,
        code_sets: CodeSets,
        orb: &Orb,
    ) -> Result<ReplyOutcome, SystemException> {
        let mut reply = Self {
            message,
            session: session.clone(),
            code_sets,
            status: ReplyStatus::NoException,
            exception: None,
            orb: orb.clone(),
        };
        let judged = reply.judge().map_err(|error| {
            cdr_exception(error, CompletionStatus::Maybe).in_context("reading the reply")
        })?;
        match judged {
            Some((status, exception)) => {
                reply.status = status;
                reply.exception = exception;
                Ok(ReplyOutcome::Relayed(reply))
            }
            None => Reply::read(reply.message, &**session, code_sets, orb),
        }
    }

    /// The status, and the system exception if it is one; `None` for what is not passed back.
    fn judge(&self) -> Result<Option<(ReplyStatus, Option<SystemException>)>, CdrError> {
        let (header, mut body) = self.head()?;
        Ok(match header.status {
            status @ (ReplyStatus::NoException | ReplyStatus::UserException) => {
                Some((status, None))
            }
            status @ ReplyStatus::SystemException => {
                match crate::client::system_exception(&mut body)? {
                    ReplyOutcome::SystemException(exception) => Some((status, Some(exception))),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    pub(crate) fn head(&self) -> Result<(ReplyHeader<'_>, Decoder<'_>), CdrError> {
        let coding = Coding {
            version: self.message.header.version,
            code_sets: self.code_sets,
            limits: self.orb.limits(),
            environment: Some(&self.orb),
        };
        let mut input = self.message.decoder(coding);
        match self
            .session
            .get_head(self.message.header.kind, &mut input)?
        {
            Head::Reply(header) => Ok((header, input)),
            _ => Err(CdrError::Invalid("the head is not a reply's")),
        }
    }

    /// What it brings.
    #[must_use]
    pub fn status(&self) -> ReplyStatus {
        self.status
    }

    /// The system exception that it brings, if it is one.
    #[must_use]
    pub fn exception(&self) -> Option<&SystemException> {
        self.exception.as_ref()
    }

    /// What it came on.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms {
            version: self.message.header.version,
            code_sets: self.code_sets,
        }
    }

    /// Its body.
    ///
    /// # Errors
    /// MARSHAL for one that cannot be passed on as it is.
    pub fn body(&self) -> Result<RawBody<'_>, SystemException> {
        let body = self.head();
        let body = body.and_then(|(_, input)| RawBody::of(&input, self.message.block.lent()));
        body.map_err(|error| cdr_exception(error, self.completed()))
    }

    /// Whether the operation has run, when the reply cannot be passed back.
    pub(crate) fn completed(&self) -> CompletionStatus {
        let raised = self.exception.as_ref().map(SystemException::completed);
        raised.unwrap_or(CompletionStatus::Yes)
    }
}
