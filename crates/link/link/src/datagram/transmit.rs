//! Sending of datagrams.

use crate::{Cause, LinkError, Phase, SendError};
use punctual_exec::Deadline;
use punctual_sys::udp;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

/// Size of the largest message, in bytes: the capacity of one datagram over IPv4.
pub const LARGEST: usize = udp::LARGEST;

/// Sends `parts` as one datagram, to `peer` or to the socket's own; waits for room until
/// `deadline`.
pub(crate) fn transmit(
    socket: &UdpSocket,
    parts: &[IoSlice<'_>],
    peer: Option<SocketAddr>,
    deadline: Deadline,
) -> Result<(), SendError> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let failed = |cause| SendError {
        error: LinkError {
            phase: Phase::Send,
            cause,
        },
        sent: 0,
    };
    if total == 0 {
        return Ok(());
    }
    if total > LARGEST {
        return Err(failed(Cause::TooLarge(LARGEST)));
    }
    loop {
        match udp::send(socket, parts, peer) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let room = udp::wait_for_room(socket, deadline.remaining());
                if !room.map_err(|error| failed(Cause::Os(error)))? {
                    return Err(failed(Cause::TimedOut));
                }
            }
            Err(error) => return Err(failed(Cause::Os(error))),
        }
    }
}
