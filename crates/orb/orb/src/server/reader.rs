//! Receiving side of a client's connection: the received data, and whether a thread receives.

use super::conversation::Conversation;
use super::memory::Memory;
use crate::messaging::{Inbox, Message};
use crate::sync::Mutex;
use punctual_cdr::GiopVersion;
use punctual_link::Pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Receiving side of one connection. Relaxed throughout: each field is independent, and written by
/// the thread that has the inbox.
#[derive(Debug)]
pub(super) struct Reader {
    /// Inbox of the connection, locked by the thread that receives.
    pub(super) inbox: Mutex<Inbox>,
    /// True if a thread receives, or is about to.
    receiving: AtomicBool,
    /// True if more data has arrived together with the current message.
    buffered: AtomicBool,
    /// Number of messages received, by which a watcher detects progress.
    received: AtomicU64,
    /// True if the peer's first message has arrived.
    heard: AtomicBool,
    /// True if a part of a message has arrived, and the rest has not.
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

    /// Records whether a thread receives. To be called under the inbox's lock.
    #[inline]
    pub(super) fn set_receiving(&self, receiving: bool) {
        self.receiving.store(receiving, Ordering::Relaxed);
    }

    pub(super) fn is_receiving(&self) -> bool {
        self.receiving.load(Ordering::Relaxed)
    }

    /// Returns `true` if the next data may be received as a plain request, which is not allowed on
    /// a new connection or with tracing.
    #[inline]
    pub(super) fn expects_plain_requests(&self, conversation: &Conversation) -> bool {
        self.is_heard() && !conversation.broker().tracer().is_on()
    }

    /// Copies the next of several messages that have arrived together; returns `false` if the slow
    /// path must handle it.
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

    /// Records an arrived message, and whether more arrived with it.
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

    /// Records the arrival of a message that the inbox has assembled.
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

    /// Records whether a part of a message has arrived, before more is received.
    pub(super) fn set_mid_message(&self, is_mid_message: bool) {
        self.mid_message.store(is_mid_message, Ordering::Relaxed);
    }

    /// Returns `true` if a part of a message has arrived, and the rest has not.
    pub(super) fn is_mid_message(&self) -> bool {
        self.mid_message.load(Ordering::Relaxed)
    }

    /// Returns the number of messages received on the connection.
    #[inline]
    pub(super) fn number_received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns `true` if the peer's first message has arrived.
    #[inline]
    pub(super) fn is_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }

    /// Returns `true` if more data has been received already. Makes no system call.
    #[inline]
    pub(super) fn has_received_more(&self) -> bool {
        self.buffered.load(Ordering::Relaxed)
    }

    /// Returns `true` if the connection has data to receive.
    pub(super) fn has_more(&self, conversation: &Conversation) -> bool {
        self.has_received_more() || conversation.link().pending() != Pending::Nothing
    }
}
