//! Sockets of links.

use super::super::link::UdpLink;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::io;
use std::net::{SocketAddrV4, UdpSocket};

/// Returns a socket that sends to the link's address, and whose own address is therefore known.
pub(super) fn sending(link: &UdpLink) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddrV4::new(link.interface, 0))?;
    if link.is_group() {
        socket.set_multicast_ttl_v4(link.ttl)?;
        if !link.interface.is_unspecified() {
            sockopt::set_ip_multicast_if(&socket, &link.interface)?;
        }
    }
    socket.connect(link.address)?;
    Ok(socket)
}

/// Returns a socket that receives at the link's address, which several processes of a host may share if it is a
/// multicast group.
pub(super) fn receiving(link: &UdpLink) -> io::Result<UdpSocket> {
    let kind = SocketType::DGRAM;
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)?;
    if link.is_group() {
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    // Bound to the group's own address, it receives no datagrams to others.
    rustix::net::bind(&socket, &link.address)?;
    let socket = UdpSocket::from(socket);
    if link.is_group() {
        socket.join_multicast_v4(link.address.ip(), &link.interface)?;
    }
    Ok(socket)
}
