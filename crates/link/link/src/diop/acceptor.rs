//! Listening on UDP.

use super::address::NAME;
use crate::datagram::{self, DiopOptions, Listening, Tally, Whole, from_socket};
use crate::socket::resolve;
use crate::{Acceptor, Address, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::udp;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

pub(super) fn listen(
    address: &Address,
    options: DiopOptions,
    tally: &Tally,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let failed = |error| LinkError::os(Phase::Listen, error);
    let mut failure = None;
    for candidate in resolve(address, Deadline::after(Duration::from_secs(10)))? {
        match udp::bind_steered(candidate, options.incoming_cpu) {
            Ok(socket) => return begin(socket, options, tally.clone()).map_err(failed),
            Err(error) => failure = Some(error),
        }
    }
    Err(failed(
        failure.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into()),
    ))
}

fn begin(socket: UdpSocket, options: DiopOptions, tally: Tally) -> io::Result<Box<dyn Acceptor>> {
    options.apply(&socket)?;
    let listening = Listening {
        link: NAME,
        thread: "punctual-diop",
        address: from_socket(NAME, socket.local_addr()?),
        options,
        look: Duration::from_secs(30),
        answers: true,
        tally,
    };
    datagram::begin(socket, listening, Whole)
}
