//! Connecting over UDP.

use super::address::NAME;
use crate::datagram::{
    DatagramConnection, DiopOptions, LaunchTimes, Sending, To, dial, from_socket, transmit,
};
use crate::socket::{no_number, resolve};
use crate::{Address, Connection, LinkError, Phase, SendError};
use punctual_exec::Deadline;
use std::io::IoSlice;
use std::net::UdpSocket;
use std::sync::Arc;

/// Sends each message as one datagram, at a launch time if there are such.
#[derive(Debug)]
struct Whole {
    launch: Option<LaunchTimes>,
}

impl Sending for Whole {
    fn send(
        &self,
        socket: &UdpSocket,
        parts: &[IoSlice<'_>],
        deadline: Deadline,
    ) -> Result<(), SendError> {
        transmit(socket, parts, To::Connected(self.launch.as_ref()), deadline)
    }
}

pub(super) fn connect(
    address: &Address,
    options: &DiopOptions,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let mut failure = None;
    for candidate in resolve(address, deadline)? {
        match dial(candidate, |socket| options.apply(socket)) {
            Ok((socket, local)) => {
                let ends = (
                    from_socket(NAME, local),
                    Address::new(NAME, address.place()),
                );
                let sending = Whole {
                    launch: options.launch,
                };
                return Ok(Arc::new(DatagramConnection::new(
                    (socket, options.marking()),
                    ends,
                    sending,
                )));
            }
            Err(error) => failure = Some(LinkError::os(Phase::Connect, error)),
        }
    }
    Err(failure.unwrap_or_else(|| no_number(Phase::Connect)))
}
