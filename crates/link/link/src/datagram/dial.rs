//! A client's socket, which knows its one peer.

use punctual_sys::udp;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Makes a connected socket, with the options that `prepare` sets. No datagram is sent: only sending one shows whether the
/// peer listens.
pub(crate) fn dial(
    peer: SocketAddr,
    prepare: impl FnOnce(&UdpSocket) -> io::Result<()>,
) -> io::Result<(UdpSocket, SocketAddr)> {
    let any: SocketAddr = if peer.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let socket = udp::bind(any)?;
    prepare(&socket)?;
    socket.connect(peer)?;
    let local = socket.local_addr()?;
    Ok((socket, local))
}
