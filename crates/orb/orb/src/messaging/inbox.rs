//! Assembly of complete messages from received bytes.
//!
//! A message that fits in the block is received together with its header. A message that fills its
//! block is passed on with the block, without a copy; if several messages share a block, the
//! smaller part is copied. Bytes that a link lends beside a message are not copied.

use super::protocol::{BadFrame, Examined, Frame, ReplyHead, Session};
use crate::budget::{Account, Evicted, Hold, NoRoom};
use punctual_cdr::{Block, Coding, Decoder, Lent, Limits};
use punctual_exec::Deadline;
use punctual_giop::{Accepted, FragmentError, MessageHeader, Reassembly};
use punctual_link::{Connection, LinkError, Pending, Phase};
use punctual_sys::clock::coarse_millis;
use std::sync::Arc;
use std::time::Duration;

/// Complete received message, with the GIOP fragments joined.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: MessageHeader,
    pub(crate) block: Block,
    /// True if the message is a batch of several requests.
    pub(crate) batch: bool,
    /// Position in the block from which the message's alignment is counted.
    origin: usize,
    /// Position of the message's header in the block.
    head: usize,
    /// Positions where fragments of GIOP 1.1 were joined, at which alignment starts again.
    seams: Option<Box<[usize]>>,
    /// Decoded header, if the message is a reply whose header has been read.
    pub(crate) reply: Option<ReplyHead>,
    /// Charge of the message's bytes to the budget of received data, for long messages.
    pub(crate) held: Option<Arc<Hold>>,
}

impl Message {
    #[inline]
    fn whole(frame: &Frame, block: Block) -> Self {
        Self {
            header: frame.header,
            block,
            batch: frame.batch,
            origin: frame.origin,
            head: frame.head,
            seams: None,
            reply: None,
            held: None,
        }
    }

    fn whole_with_lent(frame: &Frame, mut block: Block) -> Self {
        // Decoders start at the origin.
        for lent in block.lent_mut() {
            lent.at = lent.at.saturating_sub(frame.origin);
        }
        Self::whole(frame, block)
    }

    /// Returns the bytes from the origin of alignment on, if they are contiguous.
    #[inline]
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        if self.seams.is_some() || !self.block.lent().is_empty() {
            return None;
        }
        self.block.get(self.origin..)
    }

    /// Returns the positions where alignment starts again: where fragments of GIOP 1.1 were joined.
    pub(crate) fn seams(&self) -> &[usize] {
        self.seams.as_deref().unwrap_or_default()
    }

    /// Returns a decoder at the header of the message, with the version and byte order of the
    /// message.
    pub(crate) fn decoder<'m>(&'m self, coding: Coding<'m>) -> Decoder<'m> {
        let mut decoder = self.decoder_at_origin(coding);
        // A complete message has its header.
        let _ = decoder.skip(self.head_position());
        decoder
    }

    /// Returns a decoder at `position`, as counted by [`Decoder::position`], or at the end if that
    /// comes first.
    #[inline]
    pub(crate) fn decoder_at<'m>(&'m self, position: usize, coding: Coding<'m>) -> Decoder<'m> {
        let mut decoder = self.decoder_at_origin(coding);
        let _ = decoder.skip(position);
        decoder
    }

    #[inline]
    fn decoder_at_origin<'m>(&'m self, coding: Coding<'m>) -> Decoder<'m> {
        let coding = Coding {
            version: self.header.version,
            ..coding
        };
        let octets = self.block.get(self.origin..).unwrap_or_default();
        let order = self.header.order;
        match &self.seams {
            None if self.block.lent().is_empty() => Decoder::new(octets, order, coding),
            None => Decoder::with_lent(octets, self.block.lent(), order, coding),
            Some(seams) => Decoder::with_seams(octets, seams, order, coding),
        }
    }

    /// Returns the position of the message's header, as counted by [`Decoder::position`].
    pub(crate) fn head_position(&self) -> usize {
        self.head - self.origin
    }
}

/// Maximum length in bytes of a message that is copied out of a block with several messages.
const SHORT: usize = 2048;

/// Result of trying to take the next message from the inbox.
pub(crate) enum InboxStep {
    Message(Message),
    /// There is no complete message yet: this many bytes are needed in total.
    Need(usize),
}

/// Reason why no more messages can be received on the connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InboxError {
    #[error("{0}")]
    Link(#[from] LinkError),
    #[error("{0}")]
    Frame(#[from] BadFrame),
    #[error("{0}")]
    Fragment(#[from] FragmentError),
    #[error("lent memory does not end at a message boundary")]
    LentAcross,
    #[error("{0}")]
    NoRoom(#[from] NoRoom),
}

impl InboxError {
    /// Returns `true` if the peer broke the protocol, and MessageError is to be sent.
    pub(crate) fn is_protocol_error(&self) -> bool {
        !matches!(self, Self::Link(_) | Self::NoRoom(_))
    }
}

/// Received data of one connection that has not been taken yet.
#[derive(Debug)]
pub(crate) struct Inbox {
    session: Arc<dyn Session>,
    block: Block,
    /// Position in the block at which the next message starts.
    start: usize,
    reassembly: Reassembly,
    limits: Arc<Limits>,
    /// True if fragments of some message have arrived and the rest has not.
    fragments: bool,
    /// Maximum time between the first and the last fragment of a message.
    message_time: Option<Duration>,
    account: Option<Account>,
    /// Number of bytes needed to determine a message's length.
    least: usize,
}

impl Inbox {
    /// Makes an empty inbox. It has no memory until data arrives.
    pub(crate) fn new(session: Arc<dyn Session>, limits: Arc<Limits>) -> Self {
        let least = match session.examine(&[], 0, &limits) {
            Ok(Examined::Incomplete { need }) => need,
            _ => 1,
        };
        Self {
            session,
            block: Block::default(),
            start: 0,
            reassembly: Reassembly::new(&limits),
            limits,
            fragments: false,
            message_time: None,
            account: None,
            least,
        }
    }

    /// From now on, reports the number of bytes held to `account`, and limits the time for
    /// receiving a fragmented message to `message_time`.
    pub(crate) fn watch(&mut self, account: Account, message_time: Option<Duration>) {
        self.account = Some(account);
        self.message_time = message_time;
    }

    /// Returns the connections that were closed to make room for this inbox. To be dropped once the
    /// inbox has been released ([`Account::take_evicted`]).
    #[inline]
    pub(crate) fn take_evicted(&mut self) -> Vec<Evicted> {
        match &mut self.account {
            Some(account) => account.take_evicted(),
            None => Vec::new(),
        }
    }

    /// Returns `true` if a part of a message has been received and the rest has not.
    #[inline]
    pub(crate) fn is_mid_message(&self) -> bool {
        self.available() > 0 || self.fragments
    }

    /// Returns `true` if the inbox has no complete message, judged by the header of the next one.
    pub(crate) fn has_no_complete_message(&self) -> bool {
        !matches!(self.examine(), Ok(Examined::Complete(_)))
    }

    fn examine(&self) -> Result<Examined, BadFrame> {
        let waiting = self.block.get(self.start..).unwrap_or_default();
        self.session
            .examine(waiting, self.available(), &self.limits)
    }

    /// Returns the number of available bytes, including lent ones.
    #[inline]
    fn available(&self) -> usize {
        self.block.full_len() - self.start
    }

    /// Returns `true` if the inbox holds nothing, not even a part of a message.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_mid_message()
    }

    /// Returns the number of bytes that are needed to determine a message's length.
    #[inline]
    pub(crate) fn least(&self) -> usize {
        self.least
    }

    /// Takes a block whose data was received outside the inbox. The inbox must be empty.
    pub(crate) fn put(&mut self, block: Block) {
        debug_assert!(self.available() == 0, "nothing is thrown away");
        self.block = block;
        self.start = 0;
    }

    /// Returns the next message, if it is complete, short, not a fragment and without lent bytes.
    /// The message stays in the inbox until [`Inbox::pass`] is called.
    #[inline]
    pub(crate) fn next_short(&self) -> Option<&[u8]> {
        if self.fragments || !self.block.lent().is_empty() {
            return None;
        }
        match self.examine() {
            Ok(Examined::Complete(frame))
                if frame.length <= SHORT && !frame.header.more_fragments =>
            {
                self.block.get(self.start..self.start + frame.length)
            }
            _ => None,
        }
    }

    /// Removes a message of this length without returning it.
    #[inline]
    pub(crate) fn pass(&mut self, length: usize) {
        self.advance(length);
        self.let_go();
    }

    /// Takes the next complete message, if there is one. Makes no system call.
    pub(crate) fn take(&mut self, connection: &dyn Connection) -> Result<InboxStep, InboxError> {
        loop {
            if self.available() == 0 {
                self.check_fragments(connection)?;
                return Ok(InboxStep::Need(self.least));
            }
            let frame = match self.examine()? {
                Examined::Incomplete { need } => {
                    self.check_fragments(connection)?;
                    return Ok(InboxStep::Need(need));
                }
                Examined::Complete(frame) => frame,
            };
            if !self.block.lent().is_empty() {
                return self.take_with_lent(&frame, connection);
            }
            if frame.header.more_fragments {
                self.reassembly.mark(coarse_millis());
            }
            let waiting = self.block.get(self.start..).unwrap_or_default();
            let bytes = waiting.get(..frame.length).unwrap_or(waiting);
            match self.reassembly.accept(&frame.header, bytes)? {
                Accepted::Whole => {
                    // The message may be the CancelRequest of an incomplete one.
                    self.fragments = self.reassembly.pending() > 0;
                    let block = self.cut(frame.length, connection);
                    return Ok(self.hand_on(Message::whole(&frame, block)));
                }
                Accepted::Pending => {
                    self.fragments = true;
                    self.advance(frame.length);
                }
                Accepted::Assembled(whole) => {
                    self.fragments = self.reassembly.pending() > 0;
                    self.advance(frame.length);
                    return Ok(self.hand_on(Message {
                        header: whole.header,
                        block: Block::from_vec(whole.bytes),
                        batch: false,
                        origin: 0,
                        head: MessageHeader::LEN,
                        seams: (!whole.seams.is_empty()).then(|| whole.seams.into()),
                        reply: None,
                        held: None,
                    }));
                }
            }
        }
    }

    /// Takes the next message, parts of which the link lends. It is never a fragment, as links that
    /// lend do not fragment.
    fn take_with_lent(
        &mut self,
        frame: &Frame,
        connection: &dyn Connection,
    ) -> Result<InboxStep, InboxError> {
        self.begin_at_front();
        let mut beside = 0;
        let mut count = 0;
        for lent in self.block.lent() {
            let begin = lent.at + beside;
            // An empty run at a message's end belongs to neither side.
            if begin >= frame.length {
                break;
            }
            beside += lent.segment.len();
            if begin + lent.segment.len() > frame.length {
                return Err(InboxError::LentAcross);
            }
            count += 1;
        }
        let own = frame.length - beside;
        if count > 0 && frame.header.more_fragments {
            return Err(InboxError::LentAcross);
        }
        let mut ours = self.block.take_lent();
        let later = ours.split_off(count);
        let mut message = self.cut(own, connection);
        let shift = own - self.start;
        self.set_lent(later, shift);
        if ours.is_empty() {
            return Ok(self.hand_on(Message::whole(frame, message)));
        }
        *message.lent_mut() = ours;
        Ok(self.hand_on(Message::whole_with_lent(frame, message)))
    }

    /// Fails if a fragmented message has taken too long and no more of it has arrived.
    #[inline]
    fn check_fragments(&self, connection: &dyn Connection) -> Result<(), InboxError> {
        match self.fragments {
            true => self.check_first_fragment(connection),
            false => Ok(()),
        }
    }

    #[cold]
    fn check_first_fragment(&self, connection: &dyn Connection) -> Result<(), InboxError> {
        let (Some(first), Some(most)) = (self.reassembly.first_mark(), self.message_time) else {
            return Ok(());
        };
        let took = u128::from(coarse_millis().saturating_sub(first));
        // If this side has not read for a while, the rest may have arrived.
        match took > most.as_millis() && connection.pending() != Pending::Data {
            true => Err(LinkError::timed_out(Phase::Receive).into()),
            false => Ok(()),
        }
    }

    /// Releases all data; it will not be read any more.
    pub(crate) fn abandon(&mut self) {
        self.block = Block::default();
        self.start = 0;
        self.reassembly = Reassembly::new(&self.limits);
        self.fragments = false;
        if let Some(account) = &mut self.account {
            // A decrease never fails.
            let _ = account.holds(0);
        }
    }

    /// Transfers the charge for the message's bytes to its receiver.
    #[inline]
    fn hand_on(&mut self, mut message: Message) -> InboxStep {
        if let Some(account) = &mut self.account {
            let left = self.block.full_len() + self.reassembly.held();
            let held = account.hands_on(message.block.full_len(), left);
            message.held = held.map(Arc::new);
        }
        InboxStep::Message(message)
    }

    /// Reports the number of bytes that the inbox holds to the connection's account.
    #[inline]
    fn count(&mut self) -> Result<(), NoRoom> {
        match &mut self.account {
            Some(account) => account.holds(self.block.full_len() + self.reassembly.held()),
            None => Ok(()),
        }
    }

    /// Receives more data, up to `need` bytes of the next message. Blocks.
    pub(crate) fn receive(
        &mut self,
        connection: &dyn Connection,
        need: usize,
        deadline: Deadline,
    ) -> Result<(), InboxError> {
        self.begin_at_front();
        if self.block.capacity() == 0 {
            self.block = connection.lend(0);
        }
        connection.receive(&mut self.block, need, deadline)?;
        self.count()?;
        Ok(())
    }

    /// Receives the data that is available, without blocking.
    pub(crate) fn receive_now(
        &mut self,
        connection: &dyn Connection,
        need: usize,
    ) -> Result<Option<punctual_link::Taken>, InboxError> {
        self.begin_at_front();
        if self.block.capacity() == 0 {
            self.block = connection.lend(0);
        }
        let taken = connection.receive_now(&mut self.block, need)?;
        self.count()?;
        Ok(taken)
    }

    /// Releases the inbox's memory if it holds no data: an idle connection holds none.
    pub(crate) fn let_go(&mut self) {
        if self.available() == 0 {
            self.block = Block::default();
            self.start = 0;
        }
    }

    /// Removes the bytes of messages that were taken, so that the next message begins at the start
    /// of the block.
    fn begin_at_front(&mut self) {
        if self.start > 0 {
            let later = self.block.take_lent();
            self.block.consume_front(self.start);
            self.set_lent(later, self.start);
            self.start = 0;
        }
    }

    /// Puts lent runs of bytes back into the block, after `gone` bytes before them have been
    /// removed.
    fn set_lent(&mut self, lent: Vec<Lent>, gone: usize) {
        if !lent.is_empty() {
            let moved = lent.into_iter().map(|lent| Lent {
                at: lent.at - gone,
                ..lent
            });
            *self.block.lent_mut() = moved.collect();
        }
    }

    /// Splits off the next `length` bytes as a separate block.
    fn cut(&mut self, length: usize, connection: &dyn Connection) -> Block {
        let rest = self.block.len() - self.start - length;
        if self.start == 0 && rest == 0 {
            return std::mem::take(&mut self.block);
        }
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
