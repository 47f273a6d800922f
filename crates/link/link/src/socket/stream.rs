//! Connection over any stream socket.

use super::spin::SpinOptions;
use super::timeout::CachedTimeout;
use crate::{
    Address, Cause, Connection, Gatherer, LinkError, Pending, Phase, SendError, Taken, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::{Deadline, Spin};
use punctual_sys::credentials::Credentials;
use punctual_sys::dscp::{Dscp, Marking};
use punctual_sys::stream::{self, Direction};
use punctual_sys::tcp;
use punctual_sys::traffic;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};

/// Least increment, in bytes, of the memory for an announced message, which grows with the data
/// that arrives.
const GROWTH: usize = 64 * 1024;
/// Size in bytes from which a message's first bytes are sent ahead.
const LONG: usize = 512 * 1024;
/// Number of bytes of a long message that are sent ahead.
const AHEAD: usize = 1024;

/// Options of a connection in addition to those of the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Initial size of a buffer that a connection lends, in bytes.
    pub block: usize,
    /// Size in bytes beyond which blocks are not kept.
    pub block_kept: usize,
    /// `true` if each send reaches only hosts on a network that this one is on.
    pub dont_route: bool,
    /// Settings for spinning before a receive blocks.
    pub spin: SpinOptions,
    /// `true` if the kernel combines small messages that are announced to be followed by more.
    pub gathers: bool,
    /// `true` if the first bytes of a long message are sent by themselves, so that its receiver is
    /// awake when the bulk arrives. Where the kernel paces its sending, such messages took half as
    /// long in measurements.
    pub begins_ahead: bool,
    /// Class of packets (`SO_PRIORITY`) that was chosen for the socket: it holds beside a DSCP, too.
    pub class: Option<u8>,
}

impl Default for SocketOptions {
    /// Returns blocks of 4,096 bytes, kept up to 256 KiB, and the default of spinning; nothing that only TCP has.
    fn default() -> Self {
        Self {
            block: 4096,
            block_kept: 256 * 1024,
            dont_route: false,
            spin: SpinOptions::default(),
            gathers: false,
            begins_ahead: false,
            class: None,
        }
    }
}

/// Connection over a connected stream socket of any family, which lends heap blocks: a link over such sockets needs none of its
/// own. Threads and reactors can serve it.
#[derive(Debug)]
pub struct StreamConnection {
    socket: OwnedFd,
    marking: Marking,
    peer: Address,
    local: Address,
    options: SocketOptions,
    receive_timeout: CachedTimeout,
    send_timeout: CachedTimeout,
    /// Spin budget, if a receive spins before it blocks.
    spin: Option<Box<Spin>>,
}

impl StreamConnection {
    /// Makes a connection of a connected socket, which blocks: its time-outs bound sending and receiving, and are the
    /// connection's to set.
    #[must_use]
    pub fn new(socket: OwnedFd, peer: Address, local: Address, options: SocketOptions) -> Self {
        Self {
            socket,
            marking: Marking::new(options.class),
            peer,
            local,
            spin: options.spin.spin(),
            options,
            receive_timeout: CachedTimeout::new(Direction::Receive),
            send_timeout: CachedTimeout::new(Direction::Send),
        }
    }

    /// Sets the time-out of the socket's following sends.
    #[inline]
    fn bound_send(&self, deadline: Deadline) -> io::Result<()> {
        match self.send_timeout.is(deadline.timeout_nanos()) {
            true => Ok(()),
            false => self.send_timeout.set(&self.socket, deadline.timeout()),
        }
    }

    /// Sends from the rest of `parts` after the first `sent` bytes. Allocates only in the middle of
    /// a gather.
    fn send_from(&self, parts: &[IoSlice<'_>], sent: usize) -> io::Result<usize> {
        let dont_route = self.options.dont_route;
        if sent == 0 {
            return stream::send(&self.socket, parts, dont_route);
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
        stream::send(&self.socket, &rest, dont_route)
    }

    /// Sends as much as the system takes of a message that has not begun.
    #[inline]
    fn send_first(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        if let [only] = parts
            && only.len() >= LONG
            && self.options.begins_ahead
            && let Some(first) = only.get(..AHEAD)
        {
            return stream::send(
                &self.socket,
                &[IoSlice::new(first)],
                self.options.dont_route,
            );
        }
        stream::send(&self.socket, parts, self.options.dont_route)
    }

    /// Continues a send whose first attempt did not send the whole message.
    #[cold]
    fn send_on(
        &self,
        parts: &[IoSlice<'_>],
        first: io::Result<usize>,
        deadline: Deadline,
    ) -> Result<(), SendError> {
        let total: usize = parts.iter().map(|part| part.len()).sum();
        let mut sent = 0;
        let mut wrote = first;
        loop {
            match wrote {
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
            if sent >= total {
                return Ok(());
            }
            let timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) {
                return Err(SendError {
                    error: LinkError::timed_out(Phase::Send),
                    sent,
                });
            }
            wrote = self
                .send_timeout
                .set(&self.socket, timeout)
                .and_then(|()| self.send_from(parts, sent));
        }
    }

    /// Continues a receive after the first attempt, and waits if there is no data yet.
    #[cold]
    fn receive_on(
        &self,
        bytes: &mut Vec<u8>,
        first: io::Result<usize>,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let mut received = first;
        loop {
            match received {
                Ok(0) => return Err(LinkError::closed(Phase::Receive)),
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(LinkError::os(Phase::Receive, error)),
            }
            let timeout = deadline.remaining();
            if timeout.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Receive));
            }
            received = self
                .receive_timeout
                .set(&self.socket, timeout)
                .and_then(|()| stream::receive(&self.socket, bytes));
        }
    }
}

impl Connection for StreamConnection {
    fn lend(&self, capacity: usize) -> Block {
        Block::of_thread(capacity.max(self.options.block), self.options.block_kept)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let first = self.bound_send(deadline);
        let first = first.and_then(|()| self.send_first(parts));
        match (&first, parts) {
            (Ok(sent), [only]) if *sent == only.len() => Ok(()),
            _ => self.send_on(parts, first, deadline),
        }
    }

    fn peer_is_owner(&self) -> bool {
        // Of sockets but Unix sockets the kernel says that the user is unknown.
        Credentials::of_peer(&self.socket).is_ok_and(Credentials::may_act_as_this_user)
    }

    fn peer_user(&self) -> Option<u32> {
        let peer = Credentials::of_peer(&self.socket).ok();
        peer.map(|peer| peer.user())
            .filter(|user| *user != u32::MAX)
    }

    fn napi_id(&self) -> Option<u32> {
        traffic::napi_id(&self.socket).ok().flatten()
    }

    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.marking.set(&self.socket, dscp)
    }

    fn gatherer(&self) -> Option<&dyn Gatherer> {
        self.options.gathers.then_some(self)
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let bytes = with_room(block, need)?;
        if let Some(spin) = &self.spin
            && let Some(looked) = spin.spin_on_copying(
                || looked(stream::receive_now(&self.socket, bytes)),
                |found| found.as_ref().map_or(0, |octets| *octets),
            )
        {
            return looked;
        }
        let first = match self.receive_timeout.is(deadline.timeout_nanos()) {
            true => Ok(()),
            false => self.receive_timeout.set(&self.socket, deadline.timeout()),
        };
        match first.and_then(|()| stream::receive(&self.socket, bytes)) {
            Ok(count) if count > 0 => Ok(count),
            first => self.receive_on(bytes, first, deadline),
        }
    }

    fn serves_without_blocking(&self) -> bool {
        true
    }

    fn receive_now(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        let bytes = with_room(block, need)?;
        let room = bytes.capacity() - bytes.len();
        let Some(received) = looked(stream::receive_now(&self.socket, bytes)) else {
            return Ok(None);
        };
        let octets = received?;
        let all = octets < room;
        Ok(Some(Taken { octets, all }))
    }

    fn receive_soon(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        let Some(spin) = &self.spin else {
            return Ok(None);
        };
        let bytes = with_room(block, need)?;
        let room = bytes.capacity() - bytes.len();
        let found = spin.spin_on_copying(
            || looked(stream::receive_now(&self.socket, bytes)),
            |found| found.as_ref().map_or(0, |octets| *octets),
        );
        found.transpose().map(|found| {
            found.map(|octets| Taken {
                octets,
                all: octets < room,
            })
        })
    }

    fn send_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, SendError> {
        let sent = stream::send_now(&self.socket, parts, self.options.dont_route);
        sent.map_err(|error| SendError {
            error: LinkError::os(Phase::Send, error),
            sent: 0,
        })
    }

    fn pending(&self) -> Pending {
        match stream::pending(&self.socket) {
            stream::Pending::Nothing => Pending::Nothing,
            stream::Pending::Data => Pending::Data,
            stream::Pending::End => Pending::End,
        }
    }

    fn close(&self) {
        // Fails only when the peer closed first.
        let _ = stream::shut(&self.socket);
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Descriptor(self.socket.as_fd())
    }
}

impl Gatherer for StreamConnection {
    fn send_before_more(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let dont_route = self.options.dont_route;
        let first = self.bound_send(deadline);
        let first = first.and_then(|()| stream::send_before_more(&self.socket, parts, dont_route));
        match (&first, parts) {
            (Ok(sent), [only]) if *sent == only.len() => Ok(()),
            _ => self.send_on(parts, first, deadline),
        }
    }

    fn push(&self) {
        // If the socket has failed, the next send reports it.
        let _ = tcp::push(&self.socket);
    }
}

/// Returns the vector of `block` with spare room to receive into: for the rest of `need`, but for
/// no more bytes than the block holds already, or [`GROWTH`] if it holds fewer.
#[inline]
fn with_room(block: &mut Block, need: usize) -> Result<&mut Vec<u8>, LinkError> {
    let held = block.len();
    let room = need.saturating_sub(held).max(1).min(held.max(GROWTH));
    let bytes = block.as_mut_vec();
    bytes.try_reserve(room).map_err(|_| LinkError {
        phase: Phase::Receive,
        cause: Cause::NoMemory(need),
    })?;
    Ok(bytes)
}

/// Converts the outcome of a receive without blocking; `None` if nothing was there.
#[inline]
fn looked(received: io::Result<Option<usize>>) -> Option<Result<usize, LinkError>> {
    match received {
        Ok(None) => None,
        Ok(Some(0)) => Some(Err(LinkError::closed(Phase::Receive))),
        Ok(Some(octets)) => Some(Ok(octets)),
        Err(error) => Some(Err(LinkError::os(Phase::Receive, error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn end(socket: UnixStream) -> StreamConnection {
        let options = SocketOptions {
            block: 4096,
            block_kept: 4096,
            dont_route: false,
            spin: SpinOptions {
                budget: std::time::Duration::ZERO,
                always: false,
            },
            gathers: false,
            begins_ahead: true,
            class: None,
        };
        let nowhere = Address::new("uiop", "");
        StreamConnection::new(socket.into(), nowhere.clone(), nowhere, options)
    }

    #[test]
    fn a_long_message_begins_ahead_and_arrives_whole_and_a_short_one_comes_at_once() {
        let (sender, receiver) = UnixStream::pair().unwrap();
        let (sender, receiver) = (end(sender), end(receiver));
        for (length, first) in [(LONG, AHEAD), (3 * AHEAD, 3 * AHEAD)] {
            let message: Vec<u8> = (0..=255).cycle().take(length).collect();
            let parts = [IoSlice::new(&message)];
            assert_eq!(sender.send_first(&parts).unwrap(), first);
            let mut block = receiver.lend(length);
            receiver
                .receive(&mut block, length, Deadline::NEVER)
                .unwrap();
            assert_eq!(block.len(), first);
            std::thread::scope(|scope| {
                scope.spawn(|| sender.send(&parts, Deadline::NEVER).unwrap());
                block.clear();
                while block.len() < length {
                    receiver
                        .receive(&mut block, length, Deadline::NEVER)
                        .unwrap();
                }
            });
            assert_eq!(*block, *message);
        }
    }
}
