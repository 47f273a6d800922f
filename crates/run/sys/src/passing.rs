//! Small messages over a Unix socket with descriptors beside them, and the socket as a means to wake
//! its waiters.
//!
//! Only [`wait`] and [`wait_all`] block here, whatever a peer has done to the socket.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, send, sendmsg,
};
use rustix::time::Timespec;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Upper bound of the descriptors that go with one message.
pub const MOST_DESCRIPTORS: usize = 3;

/// Number of descriptors taken from one message: one more than ever sent, to notice a surplus. The
/// kernel closes those that do not fit.
const DESCRIPTORS: usize = MOST_DESCRIPTORS + 1;

/// Sends `octets` with descriptors beside them, [`MOST_DESCRIPTORS`] at most; returns the number of
/// bytes that the kernel took.
///
/// # Errors
/// Errors of `sendmsg(2)`; `WouldBlock` when the socket is full; `InvalidInput` when there are too
/// many descriptors.
pub fn send_with(
    socket: impl AsFd,
    octets: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if descriptors.len() > MOST_DESCRIPTORS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if !descriptors.is_empty() {
        // There is room for all of them.
        let _ = control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    Ok(sendmsg(
        socket,
        &[IoSlice::new(octets)],
        &mut control,
        flags,
    )?)
}

/// Receives the bytes at hand, and appends descriptors that came with them to `descriptors`.
/// Returns 0 at the end.
///
/// # Errors
/// Errors of `recvmsg(2)`; `WouldBlock` when nothing is there; `EMFILE` when this process may not
/// open the descriptors that came; `InvalidData` when more came than the protocol allows, and all
/// are closed.
pub fn receive_with(
    socket: impl AsFd,
    octets: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        socket,
        &mut [IoSliceMut::new(octets)],
        &mut control,
        RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC,
    )?;
    // Descriptors left in the buffer are closed with it.
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            descriptors.extend(passed);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        if descriptors.is_empty() {
            // There was room for some, so room was not the reason.
            return Err(Errno::MFILE.into());
        }
        descriptors.clear();
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(received.bytes)
}

/// Makes the other end's [`wait`] return. A socket too full for one byte does so already.
pub fn notify(socket: impl AsFd) {
    // The peer is gone, or the socket is full: neither needs an action.
    let _ = send(socket, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// Takes notifications that have arrived, a bounded number of them. The kernel closes descriptors
/// that a peer has attached.
pub fn clear(socket: impl AsFd) {
    let mut notified = [0; 64];
    let _ = recv(socket, &mut notified[..], RecvFlags::DONTWAIT);
}

/// Outcome of waiting for something to receive on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The time-out passed without an event.
    Nothing,
    /// Data or a notification has arrived.
    Data,
    /// The other end is closed, or its process has died; something may still be there to receive.
    End,
}

/// Waits until something can be received or the other end closes. A signal ends the wait early,
/// with [`Found::Nothing`].
#[must_use]
pub fn wait(socket: impl AsFd, timeout: Option<Duration>) -> Found {
    let socket = socket.as_fd();
    let mut polled = [PollFd::from_borrowed_fd(socket, interest())];
    match poll(&mut polled, timespec(timeout).as_ref()) {
        Ok(0) | Err(Errno::INTR) => Found::Nothing,
        Ok(_) => found(polled[0].revents()),
        // Only for want of memory, or for an invalid descriptor.
        Err(_) => Found::End,
    }
}

/// Waits until something can be received (or accepted) on any of `sockets`, and returns the outcome
/// for each.
///
/// # Errors
/// Errors of `poll(2)`; a signal ends the wait early, with nothing found.
pub fn wait_all(sockets: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Vec<Found>> {
    let mut polled: Vec<PollFd<'_>> = sockets
        .iter()
        .map(|socket| PollFd::from_borrowed_fd(*socket, interest()))
        .collect();
    match poll(&mut polled, timespec(timeout).as_ref()) {
        Ok(_) => Ok(polled.iter().map(|one| found(one.revents())).collect()),
        Err(Errno::INTR) => Ok(vec![Found::Nothing; sockets.len()]),
        Err(error) => Err(error.into()),
    }
}

fn interest() -> PollFlags {
    PollFlags::IN | PollFlags::RDHUP
}

fn found(events: PollFlags) -> Found {
    if events.intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        Found::End
    } else if events.contains(PollFlags::IN) {
        Found::Data
    } else {
        Found::Nothing
    }
}

/// Converts a time-out; one beyond the clock counts as none.
fn timespec(timeout: Option<Duration>) -> Option<Timespec> {
    timeout.and_then(|timeout| Timespec::try_from(timeout).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    const SOON: Option<Duration> = Some(Duration::from_millis(5));

    #[test]
    fn a_descriptor_travels_beside_the_octets() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let sent = send_with(&one, b"hello", &[writer.as_fd()]);
        assert_eq!(sent.unwrap(), 5);
        let too_many = send_with(&one, b"more", &[writer.as_fd(); MOST_DESCRIPTORS + 1]);
        let refused = too_many.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        drop(writer);
        let (mut octets, mut passed) = ([0; 8], Vec::new());
        assert_eq!(receive_with(&other, &mut octets, &mut passed).unwrap(), 5);
        assert_eq!((&octets[..5], passed.len()), (&b"hello"[..], 1));
        std::fs::File::from(passed.remove(0))
            .write_all(b"x")
            .unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
    }

    #[test]
    fn descriptors_beyond_those_that_anybody_sends_are_all_closed() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let many = [writer.as_fd(); 7];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(7))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        let part = [IoSlice::new(b"flood")];
        sendmsg(&one, &part, &mut control, SendFlags::empty()).unwrap();
        let mut passed = Vec::new();
        let refused = receive_with(&other, &mut [0; 8], &mut passed).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        assert!(passed.is_empty());
        // The pipe ends only when no copy of its other end is open.
        drop(writer);
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_notification_is_found_until_it_is_cleared_and_an_end_is_told_from_it() {
        let (one, other) = UnixStream::pair().unwrap();
        assert_eq!(wait(&other, SOON), Found::Nothing);
        notify(&one);
        notify(&one);
        assert_eq!(wait(&other, None), Found::Data);
        clear(&other);
        assert_eq!(wait(&other, SOON), Found::Nothing);
        notify(&one);
        // Closing it would show only later if another thread has forked and its child still holds a
        // copy.
        one.shutdown(std::net::Shutdown::Both).unwrap();
        assert_eq!(wait(&other, None), Found::End);
        let both = [other.as_fd(), other.as_fd()];
        assert_eq!(wait_all(&both, None).unwrap(), [Found::End; 2]);
    }

    #[test]
    fn notifying_a_peer_that_never_reads_does_not_block() {
        let (one, _other) = UnixStream::pair().unwrap();
        for _ in 0..10_000 {
            notify(&one);
        }
    }
}
