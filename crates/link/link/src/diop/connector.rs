//! Connecting over UDP: a socket that knows its one peer.

use super::address::{self, NAME};
use super::connection::DiopConnection;
use super::options::DiopOptions;
use crate::socket::{no_number, resolve};
use crate::{Address, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use punctual_sys::udp;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

pub(super) fn connect(
    address: &Address,
    options: &DiopOptions,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let mut failure = None;
    for candidate in resolve(address, deadline)? {
        match dial(candidate, options) {
            Ok((socket, local)) => {
                let peer = Address::new(NAME, address.place());
                let connection =
                    DiopConnection::new(socket, options.launch, peer, address::from_socket(local));
                return Ok(Arc::new(connection));
            }
            Err(error) => failure = Some(LinkError::os(Phase::Connect, error)),
        }
    }
    Err(failure.unwrap_or_else(|| no_number(Phase::Connect)))
}

/// Makes a connected socket. No datagram is sent: only sending one shows whether the peer listens.
fn dial(candidate: SocketAddr, options: &DiopOptions) -> io::Result<(UdpSocket, SocketAddr)> {
    let any: SocketAddr = if candidate.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = udp::bind(any)?;
    options.apply(&socket)?;
    socket.connect(candidate)?;
    let local = socket.local_addr()?;
    Ok((socket, local))
}
