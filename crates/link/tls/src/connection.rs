//! One TLS connection over TCP.
//!
//! Three locks, taken in this order: who sends, who receives, and TLS's state. The last is held only
//! to encrypt or decrypt what is in memory already, never while the socket is waited on, so one thread
//! sends while another receives. Ciphertext leaves in the order in which it was made, since only who
//! holds the sending lock takes it out of TLS's state.

mod now;

use crate::address_of;
use crate::flow::{Incoming, Sending, take_plaintext};
use crate::handshake::Handshake;
use crate::options::TlsOptions;
use crate::timeout::CachedTimeout;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{
    Address, Cause, Connection, LinkError, Pending, Phase, SendError, Taken, Waitable,
};
use punctual_sys::stream::{self, Direction};
use std::fmt;
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Plaintext that is encrypted at once, at most: what TLS's state holds of ciphertext.
const SENT_AT_ONCE: usize = 64 * 1024;
/// How often what still waits is thrown away when a connection is closed.
const DRAINED: usize = 16;

/// A connection whose handshake is done.
pub(crate) struct TlsConnection {
    stream: TcpStream,
    peer: Address,
    local: Address,
    block: usize,
    block_kept: usize,
    sending: Mutex<Sending>,
    receiving: Mutex<Incoming>,
    tls: Mutex<rustls::Connection>,
    /// Whether this side has closed it.
    closed: AtomicBool,
    send_timeout: CachedTimeout,
    receive_timeout: CachedTimeout,
}

impl TlsConnection {
    pub(crate) fn new(
        handshake: Handshake,
        peer: Address,
        options: &TlsOptions,
    ) -> io::Result<Self> {
        let Handshake { stream, mut tls } = handshake;
        tls.set_buffer_limit(Some(SENT_AT_ONCE));
        Ok(Self {
            local: address_of(stream.local_addr()?),
            stream,
            peer,
            block: options.block,
            block_kept: options.block_kept,
            sending: Mutex::default(),
            receiving: Mutex::default(),
            tls: Mutex::new(tls),
            closed: AtomicBool::new(false),
            send_timeout: CachedTimeout::new(Direction::Send),
            receive_timeout: CachedTimeout::new(Direction::Receive),
        })
    }

    fn tls(&self) -> MutexGuard<'_, rustls::Connection> {
        lock(&self.tls)
    }

    fn is_closed(&self) -> bool {
        // Acquire pairs with the AcqRel in `close`.
        self.closed.load(Ordering::Acquire)
    }

    /// Encrypts from what is left of `parts` after the first `sent` octets, and returns how much.
    fn encrypt(
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

    /// Sends all ciphertext; on an error, with how many octets of it went.
    fn flush(&self, sending: &mut Sending, deadline: Deadline) -> Result<(), (LinkError, usize)> {
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

    /// Sends what TLS itself has to say (an alert, an answer to new keys), as far as that goes without
    /// waiting; the next send takes the rest along. Whoever sends at the moment does it instead.
    fn flush_control(&self) {
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

    /// Decrypts all ciphertext that is here, and appends what comes out of it to `block`.
    fn decrypt(&self, incoming: &mut Incoming, block: &mut Block) -> Result<(), Cause> {
        let mut tls = self.tls();
        while incoming.feed(&mut tls)? {
            take_plaintext(&mut tls, block)?;
        }
        Ok(())
    }

    /// What the end of the stream means.
    fn end(&self) -> Cause {
        match self.known() {
            Some(Pending::End) => Cause::Closed,
            _ if self.is_closed() => Cause::Closed,
            _ => {
                Cause::BadPeer("the stream ended without a close_notify: it may have been cut off")
            }
        }
    }

    /// Waits for ciphertext, where there is none left.
    fn wait(&self, incoming: &mut Incoming, deadline: Deadline) -> Result<(), Cause> {
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

    fn receive_some(&self, block: &mut Block, mut deadline: Deadline) -> Result<usize, Cause> {
        let mut incoming = lock(&self.receiving);
        let before = block.len();
        let mut waited = false;
        loop {
            let ended = take_plaintext(&mut self.tls(), block)?;
            let decrypted = self.decrypt(&mut incoming, block);
            self.flush_control();
            if block.len() > before {
                // A mistake behind it is told of next time.
                return Ok(block.len() - before);
            }
            decrypted?;
            if ended {
                return Err(Cause::Closed);
            }
            if waited && deadline.has_passed() {
                // What came was TLS's own affairs: those are no way to hold anybody up.
                return Err(Cause::TimedOut);
            }
            self.wait(&mut incoming, deadline)?;
            waited = true;
            deadline = deadline.from_now();
        }
    }

    /// Takes in what waits at the socket, without waiting for more, until it tells something.
    fn look(&self) -> Pending {
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

    /// What TLS's state alone tells.
    fn known(&self) -> Option<Pending> {
        let mut tls = self.tls();
        match tls.reader().fill_buf() {
            Ok([]) => Some(Pending::End),
            Ok(_) => Some(Pending::Data),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(_) => Some(Pending::End),
        }
    }

    /// Says goodbye, if nobody is in the midst of saying something else.
    fn say_goodbye(&self) {
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
            // What does not go at once does not go.
            let _ = self.flush_now(&mut sending);
        }
    }
}

impl Connection for TlsConnection {
    fn lend(&self, capacity: usize) -> Block {
        Block::of_thread(capacity.max(self.block), self.block_kept)
    }

    /// What counts as sent after an error may be more than what the peer can decrypt, never less.
    fn send(&self, parts: &[IoSlice<'_>], mut deadline: Deadline) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sending = lock(&self.sending);
        let mut sent = self.pay_owed(&mut sending, deadline)?.min(total);
        while sent < total {
            if sending.broken || self.is_closed() {
                let error = LinkError::closed(Phase::Send);
                return Err(SendError { error, sent });
            }
            let before = sending.rest().map_or(0, <[u8]>::len);
            let result = match self.encrypt(parts, sent, &mut sending) {
                Ok(taken) => self
                    .flush(&mut sending, deadline)
                    .map(|()| taken)
                    .map_err(|(error, went)| (error, went.saturating_sub(before).min(taken))),
                Err(error) => Err((LinkError::os(Phase::Send, error), 0)),
            };
            match result {
                Ok(taken) => {
                    sent += taken;
                    if sent < total {
                        deadline = deadline.from_now();
                    }
                }
                Err((error, went)) => {
                    sending.break_off();
                    let sent = sent + went;
                    return Err(SendError { error, sent });
                }
            }
        }
        drop(sending);
        self.flush_control();
        Ok(())
    }

    fn receive(
        &self,
        block: &mut Block,
        _need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        // Memory grows by what has been decrypted, whatever is needed.
        self.receive_some(block, deadline)
            .map_err(|cause| LinkError {
                phase: Phase::Receive,
                cause,
            })
    }

    fn serves_without_blocking(&self) -> bool {
        true
    }

    fn receive_now(&self, block: &mut Block, _need: usize) -> Result<Option<Taken>, LinkError> {
        self.receive_there(block).map_err(|cause| LinkError {
            phase: Phase::Receive,
            cause,
        })
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, SendError> {
        self.push(parts, &mut lock(&self.sending))
    }

    fn pending(&self) -> Pending {
        self.look()
    }

    fn close(&self) {
        // AcqRel pairs with the Acquire in `is_closed`.
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.say_goodbye();
        // A socket that is closed with something unread, a session ticket for one, is reset, and the
        // reset may overtake what was sent last.
        if self.stream.set_nonblocking(true).is_ok() {
            let mut unread = [0; 1024];
            let read = |_: &usize| matches!((&self.stream).read(&mut unread), Ok(1..));
            let _ = (0..DRAINED).take_while(read).count();
        }
        // Fails only when the peer was quicker.
        let _ = stream::shut(&self.stream);
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Descriptor(self.stream.as_fd())
    }

    fn peer_certificates(&self) -> Vec<Vec<u8>> {
        let tls = self.tls();
        let certificates = tls.peer_certificates().unwrap_or_default();
        certificates.iter().map(|one| one.to_vec()).collect()
    }
}

/// Neither what is under way nor TLS's state.
impl fmt::Debug for TlsConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConnection")
            .field("peer", &self.peer)
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

impl Drop for TlsConnection {
    fn drop(&mut self) {
        self.close();
    }
}

/// The socket's own time-out, or a signal.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
