//! Operations of all stream sockets, TCP's and Unix's: sending, receiving, peeking, time-outs.

use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown};
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;

/// Largest number of parts that one system call takes (`IOV_MAX`).
const PARTS: usize = 1024;

/// Direction of the data to which a socket time-out applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Receiving, with the time-out `SO_RCVTIMEO`.
    Receive,
    /// Sending, with the time-out `SO_SNDTIMEO`.
    Send,
}

/// Bounds each later blocking call on the socket; `None` waits for ever.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn set_timeout(
    socket: impl AsFd,
    direction: Direction,
    timeout: Option<Duration>,
) -> io::Result<()> {
    let which = match direction {
        Direction::Receive => Timeout::Recv,
        Direction::Send => Timeout::Send,
    };
    // A zero time-out would mean none, and the kernel's clock ticks in microseconds here.
    let timeout = timeout.map(|timeout| timeout.max(Duration::from_micros(1)));
    Ok(sockopt::set_socket_timeout(socket, which, timeout)?)
}

/// Sets `SO_SNDBUF` and `SO_RCVBUF`, in bytes; `None` leaves a size to the kernel.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn set_buffers(
    socket: impl AsFd,
    send: Option<usize>,
    receive: Option<usize>,
) -> io::Result<()> {
    let socket = socket.as_fd();
    if let Some(size) = send {
        sockopt::set_socket_send_buffer_size(socket, size)?;
    }
    if let Some(size) = receive {
        sockopt::set_socket_recv_buffer_size(socket, size)?;
    }
    Ok(())
}

/// Sends from the front of `parts` in one system call and returns the number of bytes sent. Blocks
/// as the socket's time-out says; a peer that has gone is an error and no signal. `dont_route`
/// sends only to hosts on a network that this one is on.
///
/// # Errors
/// Errors of `sendmsg(2)`; `WouldBlock` when the time-out has passed.
pub fn send(socket: impl AsFd, parts: &[IoSlice<'_>], dont_route: bool) -> io::Result<usize> {
    Ok(send_with(socket, parts, dont_route, SendFlags::empty())?)
}

/// Sends as [`send`] does, where more bytes follow at once (`MSG_MORE`): over TCP the kernel may
/// keep these for up to 200 ms, so that they go out in one segment with those.
///
/// # Errors
/// As [`send`].
pub fn send_before_more(
    socket: impl AsFd,
    parts: &[IoSlice<'_>],
    dont_route: bool,
) -> io::Result<usize> {
    Ok(send_with(socket, parts, dont_route, SendFlags::MORE)?)
}

#[inline]
fn send_with(
    socket: impl AsFd,
    parts: &[IoSlice<'_>],
    dont_route: bool,
    how: SendFlags,
) -> rustix::io::Result<usize> {
    let mut flags = SendFlags::NOSIGNAL | how;
    flags.set(SendFlags::DONTROUTE, dont_route);
    match parts {
        [only] => rustix::net::send(socket, only, flags),
        many => {
            let some = many.get(..PARTS).unwrap_or(many);
            rustix::net::sendmsg(socket, some, &mut SendAncillaryBuffer::default(), flags)
        }
    }
}

/// Receives at least one byte and appends the data to `buffer`, within the capacity that it already
/// has.
///
/// Returns 0 when the peer has closed, or when there is no spare capacity. Blocks as the socket's
/// time-out says.
///
/// # Errors
/// Errors of `recv(2)`; `WouldBlock` when the time-out has passed.
pub fn receive(socket: impl AsFd, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let (read, _) = rustix::net::recv(
        socket,
        rustix::buffer::spare_capacity(buffer),
        RecvFlags::empty(),
    )?;
    Ok(read)
}

/// Sends as [`send`] does, without blocking: returns 0 when the system takes nothing now.
///
/// # Errors
/// Errors of `sendmsg(2)`.
pub fn send_now(socket: impl AsFd, parts: &[IoSlice<'_>], dont_route: bool) -> io::Result<usize> {
    match send_with(socket, parts, dont_route, SendFlags::DONTWAIT) {
        Err(rustix::io::Errno::AGAIN) => Ok(0),
        sent => Ok(sent?),
    }
}

/// Receives as [`receive`] does, without blocking: returns `None` when nothing is there.
///
/// # Errors
/// Errors of `recv(2)`.
#[inline]
pub fn receive_now(socket: impl AsFd, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let spare = rustix::buffer::spare_capacity(buffer);
    match rustix::net::recv(socket, spare, RecvFlags::DONTWAIT) {
        Ok((read, _)) => Ok(Some(read)),
        Err(rustix::io::Errno::AGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// State of the incoming side of a connection that no thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// No data: the connection is quiet and open, as far as this host knows.
    Nothing,
    /// Data can be read without waiting.
    Data,
    /// The peer has closed or reset the connection.
    End,
}

/// Peeks at the incoming data, without taking it and without blocking.
#[must_use]
pub fn pending(socket: impl AsFd) -> Pending {
    let mut one = [0u8; 1];
    match rustix::net::recv(socket, &mut one[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((_, 0)) => Pending::End,
        Ok(_) => Pending::Data,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Pending::Nothing,
        Err(_) => Pending::End,
    }
}

/// Shuts down both directions of a socket and ends every call that waits on it: `accept` on a
/// listener, sending and receiving on a connected socket, receiving on a datagram socket.
///
/// # Errors
/// Errors of `shutdown(2)`; `NotConnected` from a datagram socket without a peer, which is woken
/// nevertheless.
pub fn shut(socket: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::shutdown(socket, Shutdown::Both)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn more_parts_than_one_call_takes_are_sent_in_several() {
        let (here, there) = UnixStream::pair().unwrap();
        let parts = vec![IoSlice::new(b"x"); PARTS + 10];
        let sent = send(&here, &parts, false).unwrap();
        assert_eq!(sent, PARTS);
        assert_eq!(send(&here, parts.get(sent..).unwrap(), false).unwrap(), 10);
        let mut buffer = Vec::with_capacity(2 * PARTS);
        while buffer.len() < PARTS + 10 {
            receive(&there, &mut buffer).unwrap();
        }
    }

    #[test]
    fn without_blocking_a_full_socket_takes_nothing_and_an_empty_one_gives_nothing() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut buffer = Vec::with_capacity(1 << 16);
        assert_eq!(receive_now(&there, &mut buffer).unwrap(), None);
        let octets = [7; 4096];
        let mut sent = 0;
        loop {
            match send_now(&here, &[IoSlice::new(&octets)], false).unwrap() {
                0 => break,
                count => sent += count,
            }
        }
        let mut received = 0;
        while let Some(count) = receive_now(&there, &mut buffer).unwrap() {
            received += count;
            buffer.clear();
        }
        assert_eq!(received, sent);
        drop(here);
        assert_eq!(receive_now(&there, &mut buffer).unwrap(), Some(0));
    }

    #[test]
    fn sending_to_a_peer_that_has_gone_is_an_error_and_no_signal() {
        let (here, there) = UnixStream::pair().unwrap();
        drop(there);
        let error = send(&here, &[IoSlice::new(b"x")], false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_timeout_shorter_than_a_tick_is_not_taken_for_none() {
        let (here, _there) = UnixStream::pair().unwrap();
        set_timeout(&here, Direction::Receive, Some(Duration::ZERO)).unwrap();
        let error = receive(&here, &mut Vec::with_capacity(1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
