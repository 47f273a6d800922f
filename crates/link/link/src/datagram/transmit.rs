//! Sending of datagrams.

use super::launch::LaunchTimes;
use crate::{Cause, LinkError, Phase, SendError};
use punctual_exec::Deadline;
use punctual_sys::udp;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};

/// Size of the largest message, in bytes: the capacity of one datagram over IPv4.
pub const LARGEST: usize = udp::LARGEST;

/// Destination of a datagram.
#[derive(Clone, Copy)]
pub(crate) enum To<'l> {
    /// The peer that the socket is connected to, at the next of these launch times if there are such.
    Connected(Option<&'l LaunchTimes>),
    Peer(SocketAddr),
}

/// Sends `parts` as one datagram; waits for room until `deadline`.
pub(crate) fn transmit(
    socket: &UdpSocket,
    parts: &[IoSlice<'_>],
    to: To<'_>,
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
        let sent = match to {
            To::Connected(None) => udp::send(socket, parts, None),
            To::Connected(Some(launch)) => launch
                .next()
                .and_then(|launch| udp::send_at(socket, parts, launch)),
            To::Peer(peer) => udp::send(socket, parts, Some(peer)),
        };
        match sent {
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
