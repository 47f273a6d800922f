//! Replies that a peer has not accepted yet.
//!
//! A reactor's thread never waits for a peer: the part of a reply that the socket does not accept
//! is queued here, and is sent when the socket accepts more. While the queue is long, no more
//! requests of that peer are read; a reply that is queued for longer than `timeouts.reply` ends the
//! connection.

use punctual_link::{Connection, SendError};
use std::collections::VecDeque;
use std::io::IoSlice;

/// Number of queued bytes above which no more of the peer's requests are read.
const MANY: usize = 256 * 1024;
/// Maximum number of messages sent by one system call.
const GATHERED: usize = 32;

/// Queue of unsent messages of one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Unsent messages.
    waiting: VecDeque<Vec<u8>>,
    /// Number of bytes of the first message that have been sent.
    gone: usize,
    /// Number of unsent bytes.
    octets: usize,
    /// True if the connection is to be closed when everything has been sent.
    pub(super) closes: bool,
}

/// Result of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// Everything has been sent.
    All,
    /// At least one whole message has been sent, and more are queued.
    Some,
    /// The first message is still queued, at most partly sent.
    Stuck,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns `true` if so much is queued that no more replies should be made.
    pub(super) fn is_congested(&self) -> bool {
        self.octets > MANY
    }

    /// Sends a message that consists of these parts, as far as the socket accepts it; the rest is
    /// queued after earlier messages.
    pub(super) fn send(
        &mut self,
        link: &dyn Connection,
        parts: &[IoSlice<'_>],
    ) -> Result<Sent, SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let sent = match self.is_empty() {
            true => link.send_now(parts)?,
            false => 0,
        };
        if sent == total {
            return Ok(Sent::All);
        }
        let mut rest = Vec::with_capacity(total - sent);
        let mut skip = sent;
        for part in parts {
            let skipped = skip.min(part.len());
            skip -= skipped;
            rest.extend_from_slice(part.get(skipped..).unwrap_or_default());
        }
        let was_empty = self.is_empty();
        self.octets += rest.len();
        self.waiting.push_back(rest);
        match was_empty {
            // There may be room for more: one call takes a limited number of parts.
            true if sent > 0 => self.flush(link),
            _ => Ok(Sent::Stuck),
        }
    }

    /// Sends queued messages, as far as the socket accepts them.
    pub(super) fn flush(&mut self, link: &dyn Connection) -> Result<Sent, SendError> {
        let mut outcome = Sent::Stuck;
        while !self.is_empty() {
            let mut skip = self.gone;
            let parts = self.waiting.iter().take(GATHERED).map(|message| {
                let begin = std::mem::take(&mut skip);
                IoSlice::new(message.get(begin..).unwrap_or_default())
            });
            let parts: Vec<IoSlice<'_>> = parts.collect();
            let sent = link.send_now(&parts)?;
            if sent == 0 {
                return Ok(outcome);
            }
            if self.count_closed(sent) {
                outcome = Sent::Some;
            }
        }
        Ok(Sent::All)
    }

    /// Removes bytes that have been sent; returns `true` if at least one message has been sent
    /// completely.
    fn count_closed(&mut self, mut count: usize) -> bool {
        self.octets -= count.min(self.octets);
        let mut whole = false;
        while let Some(first) = self.waiting.front() {
            let left = first.len() - self.gone;
            if count < left {
                self.gone += count;
                break;
            }
            count -= left;
            self.gone = 0;
            self.waiting.pop_front();
            whole = true;
        }
        if self.waiting.is_empty() {
            // Memory that grew because of a slow peer is released.
            self.waiting = VecDeque::new();
        }
        whole
    }
}
