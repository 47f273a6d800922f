//! Encoding of a call's reply: after a prepared header, or as a whole.

use super::call::ServerCall;
use crate::adapter::DispatchError;
use crate::exception::{CompletionStatus, SystemException, cdr_exception};
use crate::fixed_context::{ContextWord, ReplyContexts, ShortContext, WORD};
use crate::messaging::{Head, Template, body};
use crate::probe::{self, Point};
use punctual_cdr::{Block, ByteOrder, CdrError, Encoder, GiopVersion, Marshal};
use punctual_giop::{MessageKind, ReplyHeader, ReplyStatus, ServiceContexts, SystemExceptionBody};

impl<'m> ServerCall<'m> {
    /// Begins the reply with a prepared header, if there is one.
    #[inline(always)]
    pub(super) fn begin_reply(&mut self, status: ReplyStatus) -> Option<&'m Template> {
        if status != ReplyStatus::NoException || self.version != GiopVersion::V1_2 {
            return None;
        }
        match &self.reply_contexts {
            ReplyContexts::None => {}
            ReplyContexts::Word(word) => return self.begin_reply_with_word(*word),
            _ => return self.begin_reply_with_contexts(),
        }
        let template = self.conversation.results()?;
        template.put_head(self.reply, self.request_id);
        Some(template)
    }

    // Separate function, so that replies without contexts skip it by one branch.
    #[inline(never)]
    fn begin_reply_with_word(&mut self, word: ContextWord) -> Option<&'m Template> {
        let template = self.conversation.results_with((word.id, WORD))?;
        template.put_head_with_word(self.reply, self.request_id, word.data);
        Some(template)
    }

    #[inline(never)]
    fn begin_reply_with_contexts(&mut self) -> Option<&'m Template> {
        let short = self.reply_contexts.short()?;
        let template = self.conversation.results_with(short.shape())?;
        template.put_head(self.reply, self.request_id);
        template.fill_contexts_of(self.reply, [short], ShortContext::fill);
        Some(template)
    }

    /// Writes the part of the reply after the header; returns the reply's length.
    #[inline]
    pub(super) fn complete_reply(
        &mut self,
        template: &Template,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<usize, CdrError> {
        let connection = self.conversation;
        let mut out = template.resume(std::mem::take(self.reply), *self.arguments.coding());
        if connection.lends {
            out.set_lender(connection.link().lender());
        }
        probe::begins!(Point::ServerMarshal);
        write(&mut out)?;
        probe::begins!(Point::ServerMessagingSend);
        let length = template.finish(&mut out, 0);
        out.put_back(self.reply);
        Ok(length)
    }

    /// Encodes the complete reply message; returns its length in bytes.
    #[inline(never)]
    pub(super) fn encode_reply(
        &mut self,
        status: ReplyStatus,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<usize, CdrError> {
        let memory = std::mem::take(self.reply);
        *self.reply = self.encode_in(memory, status, write)?;
        Ok(self.reply.full_len())
    }

    /// Returns the reply of SYNC_WITH_SERVER; no other answer follows.
    ///
    /// # Errors
    /// If it cannot be encoded, in which case the call is answered after the upcall.
    pub(super) fn early_reply(&mut self) -> Result<Block, CdrError> {
        let reply = self.encode(ReplyStatus::NoException, |_| Ok(()))?;
        self.answered = true;
        Ok(reply)
    }

    /// Returns a reply with the exception, if the client waits for one.
    #[cold]
    pub(super) fn fail(&self, error: &DispatchError) -> Option<Block> {
        if self.answered || !self.expects_reply() {
            return None;
        }
        let encoded = match error {
            DispatchError::System(exception) => self.encode_exception(exception),
            DispatchError::Forward(to) => {
                self.encode(ReplyStatus::LocationForward, |out| to.marshal(out))
            }
            DispatchError::ForwardPermanently(to) => {
                let status = match self.version {
                    GiopVersion::V1_2 => ReplyStatus::LocationForwardPerm,
                    _ => ReplyStatus::LocationForward,
                };
                self.encode(status, |out| to.marshal(out))
            }
        };
        // A standard exception has no part that could fail to be marshaled.
        encoded
            .or_else(|error| self.encode_exception(&cdr_exception(error, CompletionStatus::Maybe)))
            .ok()
    }

    fn encode_exception(&self, exception: &SystemException) -> Result<Block, CdrError> {
        self.encode(ReplyStatus::SystemException, |out| {
            exception_body(exception).encode(out)
        })
    }

    fn encode(
        &self,
        status: ReplyStatus,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Block, CdrError> {
        self.encode_in(self.conversation.link().lend(0), status, write)
    }

    fn encode_in(
        &self,
        block: Block,
        status: ReplyStatus,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Block, CdrError> {
        let connection = self.conversation;
        let coding = *self.arguments.coding();
        let contexts = self.reply_contexts.all();
        let mut out =
            connection
                .session
                .begin(block, MessageKind::Reply, ByteOrder::NATIVE, coding);
        let header = ReplyHeader {
            request_id: self.request_id,
            status,
            contexts: ServiceContexts::new(&contexts),
        };
        connection
            .session
            .put_head(&mut out, &Head::Reply(header))?;
        if connection.lends {
            out.set_lender(connection.link().lender());
        }
        probe::begins!(Point::ServerMarshal);
        body(&mut out, self.version, write)?;
        probe::begins!(Point::ServerMessagingSend);
        let mut block = out.into_block();
        connection.session.finish(&mut block)?;
        Ok(block)
    }
}

pub(super) fn exception_body(exception: &SystemException) -> SystemExceptionBody<'static> {
    SystemExceptionBody {
        repository_id: exception.kind().repository_id(),
        minor: exception.minor(),
        completed: exception.completed().number(),
    }
}
