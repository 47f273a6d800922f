//! One TCP connection.

use super::IiopOptions;
use crate::{
    Address, BlockPool, Cause, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_sys::tcp::{self, Direction};
use std::io::{self, IoSlice, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many blocks rest with a connection: one to send, one to receive, one for a reply in hand.
const BLOCKS: usize = 4;
/// Memory for an announced message grows by what has arrived, but at least by this many octets.
const GROWTH: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct TcpConnection {
    stream: TcpStream,
    peer: Address,
    local: Address,
    pool: Arc<BlockPool>,
    block: usize,
    receive_timeout: CachedTimeout,
    send_timeout: CachedTimeout,
}

impl TcpConnection {
    pub(super) fn new(
        stream: TcpStream,
        peer: Address,
        options: &IiopOptions,
    ) -> io::Result<TcpConnection> {
        options.tcp.apply(&stream)?;
        let local = stream.local_addr()?;
        Ok(Self {
            local: Address::iiop(&local.ip().to_canonical().to_string(), local.port()),
            stream,
            peer,
            pool: BlockPool::new(BLOCKS, options.block_kept),
            block: options.block,
            receive_timeout: CachedTimeout::new(Direction::Receive),
            send_timeout: CachedTimeout::new(Direction::Send),
        })
    }
}

impl Connection for TcpConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(self.block))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sent = 0;
        let mut timeout = deadline.timeout();
        while sent < total {
            let wrote = self
                .send_timeout
                .set(&self.stream, timeout)
                .and_then(|()| write_from(&self.stream, parts, sent));
            match wrote {
                Ok(0) => {
                    return Err(SendError {
                        error: LinkError::closed(Phase::Send),
                        sent,
                    });
                }
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    return Err(SendError {
                        error: LinkError::os(Phase::Send, error),
                        sent,
                    });
                }
            }
            if sent < total {
                timeout = deadline.remaining();
                if timeout.is_some_and(|left| left.is_zero()) {
                    return Err(SendError {
                        error: LinkError::timed_out(Phase::Send),
                        sent,
                    });
                }
            }
        }
        Ok(())
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let room = need
            .saturating_sub(block.len())
            .max(1)
            .min(block.len().max(GROWTH));
        let bytes = block.as_mut_vec();
        bytes.try_reserve(room).map_err(|_| LinkError {
            phase: Phase::Receive,
            cause: Cause::NoMemory(need),
        })?;
        let mut timeout = deadline.timeout();
        loop {
            let received = self
                .receive_timeout
                .set(&self.stream, timeout)
                .and_then(|()| tcp::receive(&self.stream, bytes));
            match received {
                Ok(0) => return Err(LinkError::closed(Phase::Receive)),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(LinkError::os(Phase::Receive, error)),
            }
            timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Receive));
            }
        }
    }

    fn pending(&self) -> Pending {
        match tcp::pending(&self.stream) {
            tcp::Pending::Nothing => Pending::Nothing,
            tcp::Pending::Data => Pending::Data,
            tcp::Pending::End => Pending::End,
        }
    }

    fn close(&self) {
        // Fails only when the peer was quicker.
        let _ = self.stream.shutdown(Shutdown::Both);
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
}

/// Writes what is left of `parts` after the first `sent` octets.
fn write_from(mut stream: &TcpStream, parts: &[IoSlice<'_>], sent: usize) -> io::Result<usize> {
    if let ([only], 0) = (parts, sent) {
        return stream.write(only);
    }
    let mut skip = sent;
    let mut rest: Vec<IoSlice<'_>> = Vec::with_capacity(parts.len());
    for part in parts {
        let skipped = skip.min(part.len());
        skip -= skipped;
        if skipped < part.len() {
            rest.push(IoSlice::new(part.get(skipped..).unwrap_or_default()));
        }
    }
    stream.write_vectored(&rest)
}

/// A socket's time-out, set again only when it changes.
///
/// Relaxed is enough: only the one thread that sends, or that receives, touches it, and whoever
/// hands that right on synchronises.
#[derive(Debug)]
struct CachedTimeout {
    direction: Direction,
    microseconds: AtomicU64,
}

impl CachedTimeout {
    fn new(direction: Direction) -> Self {
        Self {
            direction,
            microseconds: AtomicU64::new(0),
        }
    }

    fn set(&self, stream: &TcpStream, timeout: Option<Duration>) -> io::Result<()> {
        // 0 is the kernel's word for none, so the shortest time-out is one microsecond.
        let wanted = timeout.map_or(0, |timeout| {
            u64::try_from(timeout.as_micros())
                .unwrap_or(u64::MAX)
                .max(1)
        });
        if self.microseconds.load(Ordering::Relaxed) != wanted {
            tcp::set_timeout(stream, self.direction, timeout)?;
            self.microseconds.store(wanted, Ordering::Relaxed);
        }
        Ok(())
    }
}
