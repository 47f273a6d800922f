//! Receiving on a TLS connection: the reader waits for ciphertext without holding the lock of the
//! TLS state, and decrypts what has arrived.

use super::{TlsConnection, is_passing, lock};
use crate::flow::{Incoming, take_plaintext};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Cause, Pending};
use punctual_sys::stream;
use std::io::{self, BufRead};
use std::time::Duration;

impl TlsConnection {
    /// Decrypts all ciphertext that has been received, and appends the plaintext to `block`.
    pub(super) fn decrypt(&self, incoming: &mut Incoming, block: &mut Block) -> Result<(), Cause> {
        let mut tls = self.tls();
        while incoming.feed(&mut tls)? {
            take_plaintext(&mut tls, block)?;
        }
        Ok(())
    }

    /// Returns the cause to report at the end of the TCP stream: closed after a `close_notify`,
    /// otherwise an unexpected end of the stream.
    pub(super) fn end(&self) -> Cause {
        match self.known() {
            Some(Pending::End) => Cause::Closed,
            _ if self.is_closed() => Cause::Closed,
            _ => Cause::Os(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the stream ended without TLS's close_notify: the peer has crashed, or the stream was cut off",
            )),
        }
    }

    /// Waits until ciphertext arrives from the peer, or the deadline passes.
    pub(super) fn wait(&self, incoming: &mut Incoming, deadline: Deadline) -> Result<(), Cause> {
        incoming.clear();
        let mut timeout = deadline.timeout();
        loop {
            let received = self
                .receive_timeout
                .set(&self.stream, timeout)
                .and_then(|()| stream::receive(&self.stream, &mut incoming.octets));
            match received {
                Ok(0) => return Err(self.end()),
                Ok(_) => return Ok(()),
                Err(_) if self.is_closed() => return Err(Cause::Closed),
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(Cause::Os(error)),
            }
            timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) {
                return Err(Cause::TimedOut);
            }
        }
    }

    pub(super) fn receive_some(
        &self,
        block: &mut Block,
        mut deadline: Deadline,
    ) -> Result<usize, Cause> {
        let mut incoming = lock(&self.receiving);
        let before = block.len();
        let mut waited = false;
        loop {
            let ended = take_plaintext(&mut self.tls(), block)?;
            let decrypted = self.decrypt(&mut incoming, block);
            self.flush_control();
            if block.len() > before {
                // An error behind it is reported next time.
                return Ok(block.len() - before);
            }
            decrypted?;
            if ended {
                return Err(Cause::Closed);
            }
            if waited && deadline.has_passed() {
                // Only TLS's own messages came: those must not delay the caller any longer.
                return Err(Cause::TimedOut);
            }
            self.wait(&mut incoming, deadline)?;
            waited = true;
            deadline = deadline.from_now();
        }
    }

    /// Returns the state of the incoming side without waiting; decrypts data waiting at the socket
    /// as far as that is needed to know it.
    pub(super) fn look(&self) -> Pending {
        let Ok(mut incoming) = self.receiving.try_lock() else {
            return Pending::Nothing;
        };
        loop {
            if let Some(known) = self.known() {
                return known;
            }
            let fed = incoming.feed(&mut self.tls());
            match fed {
                Ok(true) => continue,
                Ok(false) => self.flush_control(),
                Err(_) => return Pending::End,
            }
            match stream::pending(&self.stream) {
                stream::Pending::Nothing => return Pending::Nothing,
                stream::Pending::End => return Pending::End,
                stream::Pending::Data => {}
            }
            if self
                .wait(&mut incoming, Deadline::after(Duration::ZERO))
                .is_err()
            {
                return Pending::End;
            }
        }
    }

    /// Returns the state of the incoming side as far as it is known without reading the socket:
    /// decrypted data, or the end of the stream; `None` if TLS has neither.
    pub(super) fn known(&self) -> Option<Pending> {
        let mut tls = self.tls();
        match tls.reader().fill_buf() {
            Ok([]) => Some(Pending::End),
            Ok(_) => Some(Pending::Data),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(_) => Some(Pending::End),
        }
    }
}
