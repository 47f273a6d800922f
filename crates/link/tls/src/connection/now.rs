//! Sending and receiving without blocking.
//!
//! Encryption cannot be undone. So plaintext counts as sent when all of its ciphertext has left;
//! until then it is *owed*: the caller passes it again, as it must, and it is not encrypted again.

use super::{TlsConnection, lock};
use crate::flow::{Sending, take_plaintext};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Cause, LinkError, Pending, Phase, SendError, Taken};
use punctual_sys::stream;
use std::io::{self, IoSlice};

/// Upper bound of receives in a row whose ciphertext holds only TLS's own messages: some hundred
/// KiB.
const MAX_CONTROL_ONLY: usize = 32;

impl TlsConnection {
    /// Sends what can be sent without waiting. Encrypted data that has not left counts as not sent.
    pub(super) fn push(
        &self,
        parts: &[IoSlice<'_>],
        sending: &mut Sending,
    ) -> Result<usize, SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sent = 0;
        loop {
            if sending.broken || self.is_closed() {
                let error = LinkError::closed(Phase::Send);
                return Err(SendError { error, sent });
            }
            let flushed = self.flush_now(sending);
            if matches!(flushed, Ok(false)) {
                return Ok(sent);
            }
            let encrypted = flushed.and_then(|_| {
                sent = total.min(sent + std::mem::take(&mut sending.owed));
                match sent == total {
                    true => Ok(0),
                    false => self.encrypt(parts, sent, sending),
                }
            });
            match encrypted {
                Ok(0) => return Ok(sent),
                Ok(taken) => sending.owed = taken,
                Err(error) => {
                    let sent = total.min(sent + sending.owed);
                    sending.break_off();
                    let error = LinkError::os(Phase::Send, error);
                    return Err(SendError { error, sent });
                }
            }
        }
    }

    /// Sends the ciphertext left over from a send without blocking; returns how many bytes at the
    /// beginning of the next send it covers.
    pub(super) fn send_owed(
        &self,
        sending: &mut Sending,
        deadline: Deadline,
    ) -> Result<usize, SendError> {
        let sent = std::mem::take(&mut sending.owed);
        if sent > 0 {
            self.flush(sending, deadline).map_err(|(error, _)| {
                sending.break_off();
                SendError { error, sent }
            })?;
        }
        Ok(sent)
    }

    /// Sends the ciphertext that the socket takes without waiting; returns whether that was all.
    pub(super) fn flush_now(&self, sending: &mut Sending) -> io::Result<bool> {
        while let Some(rest) = sending.rest() {
            match stream::send_now(&self.stream, &[IoSlice::new(rest)], false)? {
                0 => return Ok(false),
                count => sending.gone += count,
            }
        }
        sending.clear();
        Ok(true)
    }

    /// Receives data like [`Self::receive_some`], but without waiting.
    pub(super) fn receive_there(&self, block: &mut Block) -> Result<Option<Taken>, Cause> {
        let mut incoming = lock(&self.receiving);
        let before = block.len();
        let mut emptied = false;
        for _ in 0..MAX_CONTROL_ONLY {
            take_plaintext(&mut self.tls(), block)?;
            let decrypted = self.decrypt(&mut incoming, block);
            self.flush_control();
            let octets = block.len() - before;
            let known = self.known();
            if octets > 0 {
                // An error or a goodbye behind it is reported next time.
                let all = emptied && decrypted.is_ok() && known.is_none();
                return Ok(Some(Taken { octets, all }));
            }
            decrypted?;
            if known == Some(Pending::End) {
                return Err(Cause::Closed);
            }
            if emptied {
                return Ok(None);
            }
            incoming.clear();
            let room = incoming.octets.capacity();
            match stream::receive_now(&self.stream, &mut incoming.octets) {
                Ok(None) => return Ok(None),
                Ok(Some(0)) => return Err(self.end()),
                Ok(Some(count)) => emptied = count < room,
                Err(_) if self.is_closed() => return Err(Cause::Closed),
                Err(error) => return Err(Cause::Os(error)),
            }
        }
        Err(Cause::BadPeer(
            "it sent too many TLS control messages without data",
        ))
    }
}
