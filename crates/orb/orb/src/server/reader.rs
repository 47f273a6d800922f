//! What has come from a client, and who receives.

use super::conversation::Conversation;
use super::memory::Memory;
use crate::messaging::{Inbox, Message};
use crate::sync::Mutex;
use punctual_cdr::GiopVersion;
use punctual_link::Pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Of one connection. Relaxed throughout: each is a number or a flag by itself, written by the thread that
/// has the inbox.
#[derive(Debug)]
pub(super) struct Reader {
    /// Held by the thread that receives.
    pub(super) inbox: Mutex<Inbox>,
    /// Whether a thread receives, or is about to.
    receiving: AtomicBool,
    /// Whether more had come together with the message in hand.
    buffered: AtomicBool,
    /// Messages received, so that a look now and then tells whether they go on.
    received: AtomicU64,
    /// Whether a first message has come.
    heard: AtomicBool,
    /// Whether part of a message has come, and the rest has not.
    mid_message: AtomicBool,
}

impl Reader {
    pub(super) fn new(inbox: Inbox) -> Self {
        Self {
            inbox: Mutex::new(inbox),
            receiving: AtomicBool::new(true),
            buffered: AtomicBool::new(false),
            received: AtomicU64::new(0),
            heard: AtomicBool::new(false),
            mid_message: AtomicBool::new(false),
        }
    }

    /// Notes whether a thread receives. Under the inbox's lock.
    #[inline]
    pub(super) fn set_receiving(&self, receiving: bool) {
        self.receiving.store(receiving, Ordering::Relaxed);
    }

    pub(super) fn is_receiving(&self) -> bool {
        self.receiving.load(Ordering::Relaxed)
    }

    /// Whether what comes next may be looked at as a whole: not on a new connection, nor where people
    /// look on.
    #[inline]
    pub(super) fn expects_plain_requests(&self, conversation: &Conversation) -> bool {
        self.is_heard() && !conversation.broker().tracer().is_on()
    }

    /// Copies the next of several messages that came at once; false where it is to be taken otherwise.
    pub(super) fn copy_short(
        &self,
        conversation: &Conversation,
        inbox: &Inbox,
        memory: &mut Memory,
    ) -> bool {
        let Some(octets) = inbox.next_short() else {
            return false;
        };
        memory
            .empty_block(conversation.link())
            .extend_from_slice(octets);
        true
    }

    /// Notes a message that has come, and whether more came with it.
    #[inline]
    pub(super) fn record_received(
        &self,
        conversation: &Conversation,
        version: GiopVersion,
        more: bool,
    ) {
        // Only the thread that has the inbox counts.
        let received = self.received.load(Ordering::Relaxed).wrapping_add(1);
        self.received.store(received, Ordering::Relaxed);
        self.buffered.store(more, Ordering::Relaxed);
        conversation.record_version(version);
    }

    /// The same of a message that was put together.
    pub(super) fn record_message(
        &self,
        conversation: &Conversation,
        message: &Message,
        more: bool,
    ) {
        self.heard.store(true, Ordering::Relaxed);
        self.mid_message.store(false, Ordering::Relaxed);
        self.record_received(conversation, message.header.version, more);
        let tracer = conversation.broker().tracer();
        tracer.received(conversation.link(), message);
    }

    /// Notes whether part of a message is here, before more is received.
    pub(super) fn set_mid_message(&self, is_mid_message: bool) {
        self.mid_message.store(is_mid_message, Ordering::Relaxed);
    }

    /// Whether part of a message has come, and the rest has not.
    pub(super) fn is_mid_message(&self) -> bool {
        self.mid_message.load(Ordering::Relaxed)
    }

    /// How many messages have come.
    #[inline]
    pub(super) fn number_received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Whether a first message has come.
    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Whether more has been received already. Enters no kernel.
    #[inline]
    pub(super) fn has_received_more(&self) -> bool {
        self.buffered.load(Ordering::Relaxed)
    }

    /// Whether there is something to receive.
    pub(super) fn has_more(&self, conversation: &Conversation) -> bool {
        self.has_received_more() || conversation.link().pending() != Pending::Nothing
    }
}
