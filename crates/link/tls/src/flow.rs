//! Transfer of bytes between the socket and TLS's state, each way.

use crate::handshake::Failure;
use punctual_cdr::Block;
use punctual_link::Cause;
use std::io::{self, BufRead};

/// Size of a receive of ciphertext in bytes: a largest record and some more.
const RECEIVED_AT_ONCE: usize = 18 * 1024;

#[derive(Default)]
pub(crate) struct Sending {
    /// Ciphertext that is to be sent through the socket.
    pub(crate) octets: Vec<u8>,
    /// Number of ciphertext bytes that were sent already.
    pub(crate) gone: usize,
    /// Number of encrypted bytes of plaintext not yet reported as sent.
    pub(crate) owed: usize,
    /// Set if a send failed in mid-message: nothing may follow.
    pub(crate) broken: bool,
}

/// Ciphertext that was received from the socket.
#[derive(Default)]
pub(crate) struct Incoming {
    pub(crate) octets: Vec<u8>,
    /// Number of ciphertext bytes that the TLS library has consumed.
    pub(crate) taken: usize,
}

impl Sending {
    /// Appends the ciphertext that the TLS library has produced.
    pub(crate) fn take(&mut self, tls: &mut rustls::Connection) -> io::Result<()> {
        while tls.wants_write() {
            tls.write_tls(&mut self.octets)?;
        }
        Ok(())
    }

    /// Returns the ciphertext that is still to be sent, if there is any.
    pub(crate) fn rest(&self) -> Option<&[u8]> {
        self.octets.get(self.gone..).filter(|rest| !rest.is_empty())
    }

    pub(crate) fn clear(&mut self) {
        self.octets.clear();
        self.gone = 0;
    }

    /// Drops encrypted data that was not sent: it must not leave with a later send, as the caller
    /// of the failed send may repeat it.
    pub(crate) fn break_off(&mut self) {
        self.broken = true;
        self.owed = 0;
        self.clear();
    }
}

impl Incoming {
    /// Empties the receive buffer, and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.octets.clear();
        self.octets.reserve(RECEIVED_AT_ONCE);
        self.taken = 0;
    }

    /// Passes some ciphertext to TLS; returns `false` when none is left. The plaintext must be
    /// taken out before more is passed.
    pub(crate) fn feed(&mut self, tls: &mut rustls::Connection) -> Result<bool, Cause> {
        let mut rest = self.octets.get(self.taken..).unwrap_or_default();
        let mut taken = 0;
        if !rest.is_empty() {
            taken = tls.read_tls(&mut rest).map_err(Cause::Os)?;
            self.taken += taken;
        }
        // Also reports an earlier error again.
        tls.process_new_packets().map_err(|error| {
            let failure = Failure::from(error);
            Cause::Os(io::Error::new(io::ErrorKind::InvalidData, failure))
        })?;
        if taken == 0 {
            // Data after the peer's close_notify is ignored.
            self.taken = self.octets.len();
        }
        Ok(taken > 0)
    }
}

/// Appends all plaintext at hand to `block`; returns whether the peer has sent a `close_notify`.
pub(crate) fn take_plaintext(
    tls: &mut rustls::Connection,
    block: &mut Block,
) -> Result<bool, Cause> {
    let mut reader = tls.reader();
    loop {
        let taken = match reader.fill_buf() {
            Ok([]) => return Ok(true),
            Ok(chunk) => {
                let needed = chunk.len();
                let room = block.as_mut_vec().try_reserve(needed);
                room.map_err(|_| Cause::NoMemory(needed))?;
                block.extend_from_slice(chunk);
                needed
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(Cause::Os(error)),
        };
        reader.consume(taken);
    }
}
