//! Requests and replies that bridges pass on undecoded.

use super::call::{Dispatched, MadeReply, ServerCall};
use crate::adapter::DispatchError;
use crate::exception::{CompletionStatus, cdr_exception};
use crate::relayed::{RawBody, RelayedReply, RelayedRequest, Terms, put_reply_head};
use punctual_cdr::{Block, ByteOrder, CdrError, CodeSets, Coding};
use punctual_giop::{MessageKind, ReplyStatus, ServiceContext, ServiceContexts};

impl<'m> ServerCall<'m> {
    /// Returns the request with its undecoded body, to be passed on. Its arguments must not have
    /// been read.
    ///
    /// # Errors
    /// MARSHAL for a body that would not be valid after another header.
    pub fn passed_on(&self) -> Result<RelayedRequest<'m>, DispatchError> {
        Ok(RelayedRequest {
            operation: self.operation,
            response: self.response,
            contexts: self.contexts,
            terms: Terms {
                version: self.version,
                code_sets: self.arguments.coding().code_sets,
            },
            body: RawBody::of(&self.arguments, self.lent())?,
        })
    }

    /// Answers with the reply of the other side, with its undecoded body or a replacement.
    ///
    /// # Errors
    /// The exception for the caller if the reply cannot be passed back.
    pub fn pass_back(
        &mut self,
        reply: &RelayedReply,
        body: RawBody<'_>,
    ) -> Result<Dispatched, DispatchError> {
        if !self.expects_reply() || self.answered {
            return Ok(Dispatched(()));
        }
        let fails = |error| cdr_exception(error, reply.completed()).in_context("passing back");
        let (header, _) = reply.head().map_err(fails)?;
        let block = self.encode_relayed(header.status, header.contexts, &body);
        self.pass_block(block.map_err(fails)?)
    }

    /// Answers with a body that was kept of an earlier reply: results, or a user or system exception.
    ///
    /// # Errors
    /// MARSHAL if the body is not valid in the reply: the request is of another GIOP version, or of other code sets, than the one
    /// that was answered by it.
    pub fn pass_kept(
        &mut self,
        status: ReplyStatus,
        code_sets: CodeSets,
        body: RawBody<'_>,
    ) -> Result<Dispatched, DispatchError> {
        if !self.expects_reply() || self.answered {
            return Ok(Dispatched(()));
        }
        let fails = |error| cdr_exception(error, CompletionStatus::Yes).in_context("passing back");
        if body.version() != self.version {
            return Err(fails(CdrError::Invalid("the reply is of another GIOP version")).into());
        }
        if code_sets != self.arguments.coding().code_sets {
            return Err(fails(CdrError::Invalid("the reply is of other code sets")).into());
        }
        let block = self.encode_relayed(status, ServiceContexts::none(), &body);
        self.pass_block(block.map_err(fails)?)
    }

    fn pass_block(&mut self, block: Block) -> Result<Dispatched, DispatchError> {
        let length = block.full_len();
        *self.reply = block;
        if length > self.conversation.long_reply {
            self.charge_long_reply(length)?;
        }
        self.made = MadeReply::PassedBack;
        Ok(Dispatched(()))
    }

    fn encode_relayed(
        &self,
        status: ReplyStatus,
        contexts: ServiceContexts<'_>,
        body: &RawBody<'_>,
    ) -> Result<Block, CdrError> {
        let contexts = match self.conversation.abilities.contexts {
            true => contexts,
            false => ServiceContexts::none(),
        };
        let own = self.reply_contexts.all();
        let all: Vec<ServiceContext<'_>> = contexts.iter().chain(own).collect();
        self.encode_with(status, ServiceContexts::new(&all), body)
    }

    /// Encodes a reply with a body that is passed on unchanged.
    pub(super) fn encode_with(
        &self,
        status: ReplyStatus,
        contexts: ServiceContexts<'_>,
        body: &RawBody<'_>,
    ) -> Result<Block, CdrError> {
        let (connection, order) = (self.conversation, body.order());
        if !connection.abilities.either_order && order != ByteOrder::NATIVE {
            return Err(CdrError::Invalid(
                "the protocol supports only this machine's byte order, and the reply has the other",
            ));
        }
        let coding = Coding {
            version: self.version,
            ..*self.arguments.coding()
        };
        let (session, kind) = (&connection.session, MessageKind::Reply);
        let mut out = session.begin(connection.link().lend(0), kind, order, coding);
        let head = (self.request_id, status);
        put_reply_head(&*connection.session, head, contexts, body, &mut out)?;
        body.put(&mut out, connection.link().lender());
        let mut block = out.into_block();
        connection.session.finish(&mut block)?;
        Ok(block)
    }
}
