//! Replies that a peer has not taken yet.
//!
//! A reactor's thread waits for no peer: what the socket does not take of a reply waits here, and goes
//! when there is room. While much waits, no more requests of that peer are read; and a reply that waits
//! for longer than `timeouts.reply` ends the connection.

use punctual_link::{Connection, SendError};
use std::collections::VecDeque;
use std::io::IoSlice;

/// While more octets than these wait, the peer's requests do.
const MANY: usize = 256 * 1024;
/// Messages that go with one system call.
const GATHERED: usize = 32;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// What waits, message by message.
    waiting: VecDeque<Vec<u8>>,
    /// How much of the first has gone.
    gone: usize,
    /// Octets that wait.
    octets: usize,
    /// Whether the connection is to be closed when all has gone.
    pub(super) closes: bool,
}

/// What sending has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// All that there was has gone.
    All,
    /// At least one whole message has gone, and more wait.
    Some,
    /// What is first waits as before, or a little less of it.
    Stuck,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether so much waits that no more is to be made.
    pub(super) fn is_congested(&self) -> bool {
        self.octets > MANY
    }

    /// Sends a message of these parts, or as much as goes; the rest waits, behind what does already.
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
            // There may be room for more: one call takes so many parts only.
            true if sent > 0 => self.flush(link),
            _ => Ok(Sent::Stuck),
        }
    }

    /// Sends what waits, as much as goes.
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
            if self.has_gone(sent) {
                outcome = Sent::Some;
            }
        }
        Ok(Sent::All)
    }

    /// Forgets octets that have gone; whether a whole message has.
    fn has_gone(&mut self, mut count: usize) -> bool {
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
            // What a slow peer made grow is not kept.
            self.waiting = VecDeque::new();
        }
        whole
    }
}
