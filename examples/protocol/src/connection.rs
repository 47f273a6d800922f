//! Connection of the link.

use crate::frame::{self, Arrivals, Payloads};
use crate::{Options, address};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{
    Address, BlockPool, Cause, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io::{self, IoSlice, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};

/// TCP connection, and the frame that is being received.
#[derive(Debug)]
pub(crate) struct CheckedConnection {
    /// Non-blocking socket; threads that must wait poll it until the deadline.
    stream: TcpStream,
    peer: Address,
    local: Address,
    pool: Arc<BlockPool>,
    /// Receive state; the thread that receives holds the lock.
    incoming: Mutex<Incoming>,
}

#[derive(Debug, Default)]
struct Incoming {
    arrivals: Arrivals,
    /// Fault found in a frame; nothing can be received after it.
    wrong: Option<&'static str>,
}

impl CheckedConnection {
    pub(crate) fn new(stream: TcpStream, options: Options) -> io::Result<Self> {
        stream.set_nodelay(options.no_delay)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            peer: address::link(stream.peer_addr()?),
            local: address::link(stream.local_addr()?),
            stream,
            pool: BlockPool::new(4, 256 * 1024),
            incoming: Mutex::default(),
        })
    }

    /// Writes a frame completely; an error says how many of its bytes were sent.
    fn write(&self, payload: &[&[u8]], deadline: Deadline) -> Result<(), (usize, LinkError)> {
        let header = frame::header(payload.iter().copied());
        let mut slices = Vec::with_capacity(payload.len() + 1);
        slices.push(IoSlice::new(&header));
        slices.extend(payload.iter().map(|run| IoSlice::new(run)));
        let mut left = slices.as_mut_slice();
        let mut gone = 0;
        while !left.is_empty() {
            match (&self.stream).write_vectored(left) {
                Ok(count) => {
                    gone += count;
                    IoSlice::advance_slices(&mut left, count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self
                    .wait(PollFlags::OUT, deadline, Phase::Send)
                    .map_err(|error| (gone, error))?,
                Err(error) => return Err((gone, LinkError::os(Phase::Send, error))),
            }
        }
        Ok(())
    }

    /// Waits until the socket is ready, or until the deadline.
    fn wait(&self, flags: PollFlags, deadline: Deadline, phase: Phase) -> Result<(), LinkError> {
        let timeout = deadline
            .remaining()
            .and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(&self.stream, flags)], timeout.as_ref()) {
            Ok(0) => Err(LinkError::timed_out(phase)),
            // The caller retries after an interruption, and comes back here.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(LinkError::os(phase, error.into())),
        }
    }
}

impl Incoming {
    /// Moves the payloads of complete frames to `block`; a wrong frame ends the connection.
    fn deliver(&mut self, block: &mut Block, stream: &TcpStream) -> Result<usize, LinkError> {
        if self.wrong.is_none() {
            let (delivered, outcome) = self.arrivals.deliver(block);
            if outcome.is_err() {
                // This cuts off the peer, and threads that wait for the socket see its end.
                let _ = stream.shutdown(Shutdown::Both);
                self.wrong = outcome.err();
            }
            if delivered > 0 {
                return Ok(delivered);
            }
        }
        match self.wrong {
            None => Ok(0),
            Some(wrong) => Err(LinkError {
                phase: Phase::Receive,
                cause: Cause::BadPeer(wrong),
            }),
        }
    }
}

impl Connection for CheckedConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sent = 0;
        for payload in Payloads::of(parts) {
            self.write(&payload, deadline)
                .map_err(|(gone, error)| SendError {
                    error,
                    // Header bytes count, too: once some are sent, the stream is broken as well.
                    sent: (sent + gone).min(total),
                })?;
            sent += payload.iter().map(|run| run.len()).sum::<usize>();
        }
        Ok(())
    }

    /// Receives all complete frames that have arrived, even if there are more than `need` asks for:
    /// a frame left in the buffer would not make the descriptor readable.
    fn receive(
        &self,
        block: &mut Block,
        _need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let mut incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tried = false;
        loop {
            let delivered = incoming.deliver(block, &self.stream)?;
            if delivered > 0 {
                return Ok(delivered);
            }
            // A peer that sends byte by byte never makes this side wait, and must not hold it.
            if tried && deadline.has_passed() {
                return Err(LinkError::timed_out(Phase::Receive));
            }
            tried = true;
            let room = spare_capacity(incoming.arrivals.to_fill());
            match recv(&self.stream, room, RecvFlags::empty()) {
                Ok((0, _)) => return Err(LinkError::closed(Phase::Receive)),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(PollFlags::IN, deadline, Phase::Receive)?,
                Err(error) => return Err(LinkError::os(Phase::Receive, error.into())),
            }
        }
    }

    fn pending(&self) -> Pending {
        match self.stream.peek(&mut [0]) {
            Ok(1..) => Pending::Data,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Pending::Nothing,
            _ => Pending::End,
        }
    }

    fn close(&self) {
        // Shutdown fails only if the peer was quicker.
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
