//! Reply that is passed back to the caller undecoded.

use super::body::RawBody;
use super::terms::Terms;
use crate::exception::{CompletionStatus, SystemException, unmarshal_exception};
use crate::messaging::{Head, Message, Session};
use punctual_cdr::{CdrError, CodeSets, Coding, Decoder, Limits};
use punctual_giop::{ReplyHeader, ReplyStatus};
use std::sync::Arc;

/// Undecoded reply, to be passed back: results, or a user or system exception.
#[derive(Debug)]
pub struct RelayedReply {
    message: Message,
    session: Arc<dyn Session>,
    code_sets: CodeSets,
    status: ReplyStatus,
    exception: Option<SystemException>,
    limits: Arc<Limits>,
}

impl RelayedReply {
    /// Reads a reply's header. Returns a reply that concerns the caller alone, such as a forward.
    ///
    /// # Errors
    /// MARSHAL if it cannot be decoded.
    pub(crate) fn read(
        message: Message,
        session: &Arc<dyn Session>,
        code_sets: CodeSets,
        limits: &Arc<Limits>,
    ) -> Result<Result<Self, Message>, SystemException> {
        let mut reply = Self {
            message,
            session: session.clone(),
            code_sets,
            status: ReplyStatus::NoException,
            exception: None,
            limits: limits.clone(),
        };
        let judged = reply.judge().map_err(|error| {
            unmarshal_exception(error, CompletionStatus::Maybe).in_context("reading the reply")
        })?;
        Ok(match judged {
            Some((status, exception)) => {
                reply.status = status;
                reply.exception = exception;
                Ok(reply)
            }
            None => Err(reply.message),
        })
    }

    /// Returns the reply status, and the system exception if the reply is one; `None` for replies
    /// that are not passed back.
    fn judge(&self) -> Result<Option<(ReplyStatus, Option<SystemException>)>, CdrError> {
        let (header, mut body) = self.head()?;
        Ok(match header.status {
            status @ (ReplyStatus::NoException | ReplyStatus::UserException) => {
                Some((status, None))
            }
            status @ ReplyStatus::SystemException => {
                Some((status, Some(SystemException::received(&mut body)?)))
            }
            _ => None,
        })
    }

    pub(crate) fn head(&self) -> Result<(ReplyHeader<'_>, Decoder<'_>), CdrError> {
        let coding = Coding {
            version: self.message.header.version,
            code_sets: self.code_sets,
            limits: &self.limits,
            environment: None,
        };
        let mut input = self.message.decoder(coding);
        match self
            .session
            .get_head(self.message.header.kind, &mut input)?
        {
            Head::Reply(header) => Ok((header, input)),
            _ => Err(CdrError::Invalid("the header is not a reply's")),
        }
    }

    /// Returns the status of the relayed reply.
    #[must_use]
    pub fn status(&self) -> ReplyStatus {
        self.status
    }

    /// Returns the system exception, if the reply is one.
    #[must_use]
    pub fn exception(&self) -> Option<&SystemException> {
        self.exception.as_ref()
    }

    /// Returns the terms (GIOP version and code sets) on which the reply arrived.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms {
            version: self.message.header.version,
            code_sets: self.code_sets,
        }
    }

    /// Returns the reply's body.
    ///
    /// # Errors
    /// MARSHAL for a body that cannot be passed on unchanged.
    pub fn body(&self) -> Result<RawBody<'_>, SystemException> {
        let body = self.head();
        let body = body.and_then(|(_, input)| RawBody::of(&input, self.message.block.lent()));
        body.map_err(|error| unmarshal_exception(error, self.completed()))
    }

    /// Returns the completion status for a reply that cannot be passed back.
    pub(crate) fn completed(&self) -> CompletionStatus {
        let raised = self.exception.as_ref().map(SystemException::completed);
        raised.unwrap_or(CompletionStatus::Yes)
    }
}
