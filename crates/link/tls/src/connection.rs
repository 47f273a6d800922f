//! TLS connection over TCP.
//!
//! Three locks, taken in this order: sending, receiving, and TLS's state. The last is held only to
//! encrypt or decrypt data already in memory, never while the socket is waited on, so one thread
//! sends while another receives. Ciphertext leaves in the order in which it was made, since only
//! the holder of the sending lock takes it out of TLS's state.

mod now;
mod receiving;
mod sending;

use crate::address_of;
use crate::flow::{Incoming, Sending};
use crate::handshake::Handshake;
use crate::options::TlsOptions;
use crate::timeout::CachedTimeout;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Address, Connection, LinkError, Pending, Phase, SendError, Taken, Waitable};
use punctual_sys::dscp::{Dscp, Marking};
use punctual_sys::stream::{self, Direction};
use punctual_sys::traffic;
use std::fmt;
use std::io::{self, IoSlice, Read};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Upper bound of plaintext that is encrypted at once, and so of the ciphertext in TLS's state, in
/// bytes.
const SENT_AT_ONCE: usize = 64 * 1024;
/// Upper bound of receives that discard waiting data when a connection is closed.
const DRAINED: usize = 16;

/// TLS connection whose handshake is complete.
pub(crate) struct TlsConnection {
    stream: TcpStream,
    marking: Marking,
    peer: Address,
    local: Address,
    block: usize,
    block_kept: usize,
    sending: Mutex<Sending>,
    receiving: Mutex<Incoming>,
    tls: Mutex<rustls::Connection>,
    /// `true` if this side has closed the connection.
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
            marking: Marking::new(options.tcp.traffic.socket_priority),
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
}

impl Connection for TlsConnection {
    fn napi_id(&self) -> Option<u32> {
        traffic::napi_id(&self.stream).ok().flatten()
    }

    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.marking.set(&self.stream, dscp)
    }

    fn lend(&self, capacity: usize) -> Block {
        Block::of_thread(capacity.max(self.block), self.block_kept)
    }

    /// Sends all parts. The number reported as sent after an error may exceed what the peer can
    /// decrypt, but is never below it.
    fn send(&self, parts: &[IoSlice<'_>], mut deadline: Deadline) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sending = lock(&self.sending);
        let mut sent = self.send_owed(&mut sending, deadline)?.min(total);
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
        // Memory grows with the decrypted data, whatever `need` says.
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
        self.begin_close_notify();
        // A socket that is closed with unread data, a session ticket for example, is reset, and the
        // reset may overtake the data sent last.
        if self.stream.set_nonblocking(true).is_ok() {
            let mut unread = [0; 1024];
            let read = |_: &usize| matches!((&self.stream).read(&mut unread), Ok(1..));
            let _ = (0..DRAINED).take_while(read).count();
        }
        // Fails only when the peer closed first.
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

/// Prints the addresses only, neither data under way nor TLS's state.
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

/// Returns whether the error is the socket's own time-out, or a signal.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
