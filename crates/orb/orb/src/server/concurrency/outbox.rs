//! Replies that a peer has not accepted yet.
//!
//! A reactor's thread never waits for a peer: the part of a reply that the socket does not accept
//! is queued here, and is sent when the socket accepts more. While the queue is long, no more
//! requests of that peer are read; a reply that is queued for longer than `timeouts.reply` ends the
//! connection.

use crate::budget::{Account, Evicted};
use punctual_cdr::Charge;
use punctual_link::{Connection, LinkError, Phase, SendError};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};

/// Number of queued bytes above which no more of the peer's requests are read.
const MANY: usize = 256 * 1024;
/// Maximum number of messages sent by one system call.
const GATHERED: usize = 32;

/// Queue of messages that wait to be sent on one connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Messages that have not been sent completely.
    waiting: VecDeque<Unsent>,
    /// Number of bytes of the first message that have been sent.
    gone: usize,
    /// Number of bytes of the queued messages that are not sent yet.
    octets: usize,
    /// Number of bytes of the unsent messages that have no charge of their own.
    short: usize,
    /// Memory account to which the bytes in `short` are charged.
    account: Option<Account>,
    /// True if the connection is to be closed when everything has been sent.
    pub(super) closes: bool,
}

/// Charge of a long unsent message against the memory budget, kept until the message has been sent.
struct ChargeOfLong(#[expect(dead_code, reason = "kept for as long as the message")] Charge);

impl fmt::Debug for ChargeOfLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChargeOfLong")
    }
}

/// Part of a message that has not been sent yet.
#[derive(Debug)]
struct Unsent {
    bytes: Vec<u8>,
    /// Charge of a long message, kept until it is sent.
    charge: Option<ChargeOfLong>,
}

/// Result of an attempt to send the queued messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// All queued messages have been sent.
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

    /// Sets the account to which the memory used by unsent messages is reported from now on.
    pub(super) fn watch(&mut self, account: Account) {
        self.account = Some(account);
    }

    /// Returns the connections that were closed to make room, to be logged by dropping the result
    /// ([`Account::take_evicted`]).
    pub(super) fn take_evicted(&mut self) -> Vec<Evicted> {
        let account = self.account.as_mut();
        account.map_or_else(Vec::new, Account::take_evicted)
    }

    /// Frees the unsent messages of a closed connection.
    pub(super) fn discard(&mut self) {
        self.waiting = VecDeque::new();
        (self.gone, self.octets, self.short) = (0, 0, 0);
        // A decrease never fails.
        let _ = self.count();
    }

    /// Reports the memory used by short unsent messages to the account of the connection.
    fn count(&mut self) -> Result<(), SendError> {
        let Some(account) = &mut self.account else {
            return Ok(());
        };
        account.holds(self.short).map_err(|full| SendError {
            error: LinkError::os(Phase::Send, io::Error::other(full)),
            sent: 0,
        })
    }

    /// Returns `true` if so much is queued that no more replies should be made.
    pub(super) fn is_congested(&self) -> bool {
        self.octets > MANY
    }

    /// Sends a message of these parts, or as much as the socket accepts; the rest is queued, behind
    /// earlier messages, with the charge of a long message.
    pub(super) fn send(
        &mut self,
        link: &dyn Connection,
        parts: &[IoSlice<'_>],
        charge: Option<&Charge>,
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
        if charge.is_none() {
            self.short += rest.len();
        }
        self.waiting.push_back(Unsent {
            bytes: rest,
            charge: charge.cloned().map(ChargeOfLong),
        });
        self.count()?;
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
                IoSlice::new(message.bytes.get(begin..).unwrap_or_default())
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
            let left = first.bytes.len() - self.gone;
            if count < left {
                self.gone += count;
                break;
            }
            count -= left;
            self.gone = 0;
            if let Some(Unsent { bytes, charge }) = self.waiting.pop_front()
                && charge.is_none()
            {
                self.short -= bytes.len();
            }
            whole = true;
        }
        // A decrease never fails.
        let _ = self.count();
        if self.waiting.is_empty() {
            // Memory that grew because of a slow peer is released.
            self.waiting = VecDeque::new();
        }
        whole
    }
}
