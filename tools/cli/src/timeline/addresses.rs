//! Addresses of the ends of recorded connections, as texts: whether they are those of one connection.

use super::file::Connection;
use std::net::IpAddr;

/// Returns the ports of two addresses, if both have one.
pub(super) fn ports(one: &str, other: &str) -> Option<(u16, u16)> {
    Some((host_and_port(one)?.1, host_and_port(other)?.1))
}

/// Returns whether the ends of a client's and a server's connection have the same addresses.
pub(super) fn is_same(client: &Connection, server: &Connection) -> bool {
    let ends = (
        ends_of(&client.local, &server.peer),
        ends_of(&client.peer, &server.local),
    );
    matches!(ends, (Some(true), Some(true)))
}

/// Returns whether two texts are one IP address and port; `None` if they are none. A host's name, and the address of all
/// interfaces, may be any address.
fn ends_of(one: &str, other: &str) -> Option<bool> {
    let ((host, port), (other_host, other_port)) = (host_and_port(one)?, host_and_port(other)?);
    let certain = |host: &str| ip(host).filter(|address| !address.is_unspecified());
    let is_one_host = match (certain(host), certain(other_host)) {
        (Some(one), Some(other)) => one.to_canonical() == other.to_canonical(),
        _ => true,
    };
    Some(is_one_host && port == other_port && port != 0)
}

/// Returns whether a connection cannot leave its host.
pub(super) fn is_within_a_host(one: &Connection) -> bool {
    let address = |text: &str| ip(host_and_port(text)?.0);
    match (address(&one.local), address(&one.peer)) {
        (Some(local), Some(peer)) => local == peer || local.is_loopback() || peer.is_loopback(),
        _ => matches!(link(&one.local), "uiop" | "shmiop" | "inproc"),
    }
}

/// Returns the name of an address's link.
pub(super) fn link(address: &str) -> &str {
    address.split_once("://").map_or(address, |(link, _)| link)
}

fn host_and_port(address: &str) -> Option<(&str, u16)> {
    let (_, place) = address.split_once("://")?;
    let (host, port) = place.rsplit_once(':')?;
    Some((host, port.parse().ok()?))
}

fn ip(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
}
