//! Sending: plaintext is encrypted piece by piece, and each piece's ciphertext leaves before the
//! next is made.

use super::{SENT_AT_ONCE, TlsConnection, is_passing};
use crate::flow::Sending;
use punctual_exec::Deadline;
use punctual_link::{LinkError, Phase};
use punctual_sys::stream;
use std::io::{self, IoSlice, Write};

impl TlsConnection {
    /// Encrypts from the rest of `parts` after the first `sent` bytes, and returns the number of
    /// bytes.
    pub(super) fn encrypt(
        &self,
        parts: &[IoSlice<'_>],
        sent: usize,
        sending: &mut Sending,
    ) -> io::Result<usize> {
        let mut skip = sent;
        let mut rest: Vec<IoSlice<'_>> = Vec::new();
        let mut length = 0;
        for part in parts {
            let skipped = skip.min(part.len());
            skip -= skipped;
            if skipped < part.len() {
                let part = part.get(skipped..).unwrap_or_default();
                length += part.len();
                rest.push(IoSlice::new(part));
            }
            if length >= SENT_AT_ONCE {
                break;
            }
        }
        let mut tls = self.tls();
        let taken = tls.writer().write_vectored(&rest)?;
        sending.take(&mut tls)?;
        match taken {
            0 => Err(io::ErrorKind::WriteZero.into()),
            taken => Ok(taken),
        }
    }

    /// Sends all ciphertext.
    ///
    /// # Errors
    /// The error, with the number of bytes of ciphertext that were sent before it.
    pub(super) fn flush(
        &self,
        sending: &mut Sending,
        deadline: Deadline,
    ) -> Result<(), (LinkError, usize)> {
        let begin = sending.gone;
        let mut timeout = deadline.timeout();
        while let Some(rest) = sending.rest() {
            let wrote = self
                .send_timeout
                .set(&self.stream, timeout)
                .and_then(|()| stream::send(&self.stream, &[IoSlice::new(rest)], false));
            match wrote {
                Ok(count) => sending.gone += count,
                Err(_) if self.is_closed() => {
                    return Err((LinkError::closed(Phase::Send), sending.gone - begin));
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => {
                    let error = LinkError::os(Phase::Send, error);
                    return Err((error, sending.gone - begin));
                }
            }
            timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) && sending.rest().is_some() {
                let error = LinkError::timed_out(Phase::Send);
                return Err((error, sending.gone - begin));
            }
        }
        sending.clear();
        Ok(())
    }

    /// Sends TLS's own messages (an alert, an answer to new keys), as far as that is possible
    /// without waiting; the next send takes the rest along. A thread that is sending does it
    /// instead.
    pub(super) fn flush_control(&self) {
        while self.tls().wants_write() {
            let Ok(mut sending) = self.sending.try_lock() else {
                return;
            };
            if sending.take(&mut self.tls()).is_err() || sending.broken {
                return sending.clear();
            }
            if !self.flush_now(&mut sending).unwrap_or(false) {
                return;
            }
        }
    }

    /// Sends the `close_notify` alert, unless another thread is in the middle of a send.
    pub(super) fn begin_close_notify(&self) {
        let Ok(mut sending) = self.sending.try_lock() else {
            return;
        };
        if sending.broken {
            return;
        }
        let taken = {
            let mut tls = self.tls();
            tls.send_close_notify();
            sending.take(&mut tls)
        };
        if taken.is_ok() {
            // The part that cannot be sent at once is not sent.
            let _ = self.flush_now(&mut sending);
        }
    }
}
