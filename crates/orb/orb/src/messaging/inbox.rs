//! From received octets to whole messages.
//!
//! A message that fits is received together with its header. One that fills its block is handed on
//! with the block, without a copy; where several share a block, the smaller part is copied.

use punctual_cdr::{Block, Coding, Decoder, Limits};
use punctual_exec::Deadline;
use punctual_giop::{
    Accepted, Examined, FragmentError, FrameError, MessageHeader, Reassembly, examine,
    message_decoder,
};
use punctual_link::{Connection, LinkError};
use std::sync::Arc;

/// A whole message, fragments joined.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: MessageHeader,
    pub(crate) block: Block,
    /// Where fragments of GIOP 1.1 were joined, for alignment.
    seams: Vec<usize>,
}

impl Message {
    /// Stands behind the message's header; version and byte order are the header's.
    pub(crate) fn decoder<'m>(&'m self, coding: Coding<'m>) -> Decoder<'m> {
        if self.seams.is_empty() {
            return message_decoder(&self.header, &self.block, coding);
        }
        let coding = Coding {
            version: self.header.version,
            ..coding
        };
        let mut decoder = Decoder::with_seams(&self.block, &self.seams, self.header.order, coding);
        // A whole message has its header.
        let _ = decoder.skip(MessageHeader::LEN);
        decoder
    }
}

/// What the inbox had.
pub(crate) enum Taken {
    Message(Message),
    /// No whole message yet: this many octets are wanted in all.
    Need(usize),
}

/// Why no more messages will come.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InboxError {
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("{0}")]
    Frame(#[from] FrameError),
    #[error("{0}")]
    Fragment(#[from] FragmentError),
}

impl InboxError {
    /// Whether the peer broke the protocol, and so is told MessageError.
    pub(crate) fn is_protocol_error(&self) -> bool {
        !matches!(self, Self::Link(_))
    }
}

/// What one connection has received and nobody has taken yet.
#[derive(Debug)]
pub(crate) struct Inbox {
    block: Block,
    /// Where the next message begins.
    start: usize,
    reassembly: Reassembly,
    limits: Arc<Limits>,
    /// Whether fragments of some message wait for the rest.
    fragments: bool,
}

impl Inbox {
    pub(crate) fn new(connection: &dyn Connection, limits: Arc<Limits>) -> Self {
        Self {
            block: connection.lend(0),
            start: 0,
            reassembly: Reassembly::new(&limits),
            limits,
            fragments: false,
        }
    }

    /// Whether part of a message is here and the rest is not.
    pub(crate) fn is_mid_message(&self) -> bool {
        self.block.len() > self.start || self.fragments
    }

    /// Whether no whole message is here, as far as the next one's header tells.
    pub(crate) fn is_dry(&self) -> bool {
        let waiting = self.block.as_slice().get(self.start..).unwrap_or_default();
        !matches!(examine(waiting, &self.limits), Ok(Examined::Complete(_)))
    }

    /// Takes the next whole message, if it is here. Enters no kernel.
    pub(crate) fn take(&mut self, connection: &dyn Connection) -> Result<Taken, InboxError> {
        loop {
            let waiting = self.block.as_slice().get(self.start..).unwrap_or_default();
            let header = match examine(waiting, &self.limits)? {
                Examined::Incomplete { need } => return Ok(Taken::Need(need)),
                Examined::Complete(header) => header,
            };
            let length = header.message_len();
            let bytes = waiting.get(..length).unwrap_or(waiting);
            let accepted = self.reassembly.accept(&header, bytes)?;
            match accepted {
                Accepted::Whole => {
                    let block = self.cut(length, connection);
                    return Ok(Taken::Message(Message {
                        header,
                        block,
                        seams: Vec::new(),
                    }));
                }
                Accepted::Pending => {
                    self.fragments = true;
                    self.advance(length);
                }
                Accepted::Assembled(whole) => {
                    self.fragments = self.reassembly.pending() > 0;
                    self.advance(length);
                    return Ok(Taken::Message(Message {
                        header: whole.header,
                        block: Block::from_vec(whole.bytes),
                        seams: whole.seams,
                    }));
                }
            }
        }
    }

    /// Receives more, up to `need` octets of the next message. Blocks.
    pub(crate) fn receive(
        &mut self,
        connection: &dyn Connection,
        need: usize,
        deadline: Deadline,
    ) -> Result<(), InboxError> {
        if self.start > 0 {
            self.block.consume_front(self.start);
            self.start = 0;
        }
        connection.receive(&mut self.block, need, deadline)?;
        Ok(())
    }

    /// The next `length` octets as a block of their own.
    fn cut(&mut self, length: usize, connection: &dyn Connection) -> Block {
        let rest = self.block.len() - self.start - length;
        if self.start == 0 && rest <= length {
            let mut next = connection.lend(rest);
            next.extend_from_slice(self.block.as_slice().get(length..).unwrap_or_default());
            let mut message = std::mem::replace(&mut self.block, next);
            message.truncate(length);
            return message;
        }
        let mut message = connection.lend(length);
        let end = self.start + length;
        message.extend_from_slice(
            self.block
                .as_slice()
                .get(self.start..end)
                .unwrap_or_default(),
        );
        self.advance(length);
        message
    }

    fn advance(&mut self, length: usize) {
        self.start += length;
        if self.start == self.block.len() {
            self.block.clear();
            self.start = 0;
        }
    }
}
