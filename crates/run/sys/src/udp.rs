//! UDP sockets: datagrams to one peer, or from and to any.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrAny,
    SocketFlags, SocketType, ipproto, sockopt,
};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

/// Size of the largest datagram over IPv4, in bytes: 65,535 less its two headers.
pub const LARGEST: usize = 65_507;

/// Largest number of parts that one system call takes (`IOV_MAX`).
const PARTS: usize = 1024;

/// Makes a socket bound to `address`; port 0 lets the kernel choose. On the IPv6 wildcard it serves
/// IPv4 as well.
///
/// # Errors
/// Errors of `socket` and `bind`.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    bind_steered(address, None)
}

/// Binds as [`bind`] does, for datagrams that a processor receives (`SO_INCOMING_CPU`): of several sockets at one address,
/// which share it (`SO_REUSEPORT`), the kernel takes the one with that processor. Any process of the same user may
/// share the address then.
///
/// # Errors
/// Errors of `socket`, `setsockopt` and `bind`.
pub fn bind_steered(address: SocketAddr, processor: Option<u32>) -> io::Result<UdpSocket> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let socket = rustix::net::socket_with(
        family,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::UDP),
    )?;
    if let Some(processor) = processor {
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_socket_incoming_cpu(&socket, processor)?;
    }
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, !address.ip().is_unspecified())?;
    }
    rustix::net::bind(&socket, &SocketAddrAny::from(address))?;
    Ok(UdpSocket::from(socket))
}

/// Sends one datagram made of `parts`, to `peer` or, without one, to the socket's own peer. Never
/// blocks; copies where there are more parts than one system call takes.
///
/// # Errors
/// Errors of `sendmsg(2)`; `WouldBlock` when the socket's buffer is full.
pub fn send(
    socket: impl AsFd,
    parts: &[IoSlice<'_>],
    peer: Option<SocketAddr>,
) -> io::Result<usize> {
    if parts.len() > PARTS {
        let whole: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        return send(socket, &[IoSlice::new(&whole)], peer);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let mut none = SendAncillaryBuffer::default();
    let sent = match (parts, peer) {
        ([only], None) => rustix::net::send(socket, only, flags)?,
        ([only], Some(peer)) => rustix::net::sendto(socket, only, flags, &peer)?,
        (many, None) => rustix::net::sendmsg(socket, many, &mut none, flags)?,
        (many, Some(peer)) => rustix::net::sendmsg_addr(socket, &peer, many, &mut none, flags)?,
    };
    Ok(sent)
}

/// Sends one datagram as [`send`] does, with a launch time in nanoseconds of the socket's
/// [`LaunchClock`](crate::traffic::LaunchClock): the queueing discipline `etf` or `fq` holds it back until then, others send
/// it at once.
///
/// # Errors
/// Errors of `sendmsg(2)`; `InvalidInput` without a clock; `WouldBlock` when the socket's buffer is full.
pub fn send_at(socket: impl AsFd, parts: &[IoSlice<'_>], launch: u64) -> io::Result<usize> {
    let whole: Vec<u8>;
    let gathered;
    let parts = match parts.len() > PARTS {
        true => {
            whole = parts.iter().flat_map(|part| part.iter().copied()).collect();
            gathered = [IoSlice::new(&whole)];
            &gathered[..]
        }
        false => parts,
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(TxTime(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::TxTime(launch));
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    Ok(rustix::net::sendmsg(socket, parts, &mut control, flags)?)
}

/// Receives one datagram; returns its length and its sender. There is no sender where the socket
/// was shut down meanwhile: the kernel then gives no address, where [`UdpSocket::recv_from`] relies
/// on one and may panic.
///
/// # Errors
/// Errors of `recvfrom(2)`; `WouldBlock` when the socket's time-out has passed.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<SocketAddr>)> {
    let (_, length, from) = rustix::net::recvfrom(socket, buffer, RecvFlags::empty())?;
    Ok((length, from.and_then(|from| from.try_into().ok())))
}

/// Waits until the socket's buffer has room again; returns `false` if `timeout` passed first.
///
/// # Errors
/// Errors of `poll(2)`.
pub fn wait_for_room(socket: impl AsFd, timeout: Option<Duration>) -> io::Result<bool> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    let socket = socket.as_fd();
    match poll(
        &mut [PollFd::new(&socket, PollFlags::OUT)],
        timeout.as_ref(),
    ) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a datagram waits, without taking it and without blocking. Reports once an error
/// that the network returned for an earlier datagram.
///
/// # Errors
/// Errors of `recv(2)`, e.g. that the peer's port is closed.
pub fn waits(socket: impl AsFd) -> io::Result<bool> {
    let mut one = [0u8; 1];
    match rustix::net::recv(socket, &mut one[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> UdpSocket {
        bind("127.0.0.1:0".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_datagram_with_a_launch_time_arrives_and_needs_a_clock() {
        let (here, there) = (local(), local());
        here.connect(there.local_addr().unwrap()).unwrap();
        let parts = [IoSlice::new(b"one"), IoSlice::new(b"two")];
        let clock = crate::traffic::LaunchClock::Monotonic;
        let launch = clock.now().unwrap() + 1_000;
        let refused = send_at(&here, &parts, launch).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        clock.apply(&here).unwrap();
        assert_eq!(send_at(&here, &parts, launch).unwrap(), 6);
        let mut buffer = [0; 16];
        let (length, _) = there.recv_from(&mut buffer).unwrap();
        assert_eq!(buffer.get(..length).unwrap(), b"onetwo");
    }

    #[test]
    fn of_sockets_at_one_address_the_one_whose_processor_receives_the_datagrams_gets_them() {
        use crate::processor::pin_to;
        let pinned = |number: usize| std::thread::spawn(move || pin_to(number).is_ok());
        if !(0..2).all(|number| pinned(number).join().unwrap()) {
            println!("skipped: this process cannot be on the processors 0 and 1");
            return;
        }
        let first = bind_steered("127.0.0.1:0".parse().unwrap(), Some(0)).unwrap();
        let address = first.local_addr().unwrap();
        let second = bind_steered(address, Some(1)).unwrap();
        for (number, socket) in [(0, &first), (1, &second)] {
            assert_eq!(crate::tcp::incoming_cpu(socket).unwrap(), Some(number));
        }
        assert_eq!(crate::tcp::incoming_cpu(local()).unwrap(), None);
        // Packets over loopback are received on the processor that has sent them. Several senders, as the kernel otherwise
        // chooses by their addresses.
        for (processor, socket) in [(1, &second), (0, &first), (1, &second), (0, &first)] {
            for _ in 0..4 {
                let sent = std::thread::spawn(move || {
                    pin_to(processor).unwrap();
                    let sender = local();
                    sender.send_to(b"x", address).unwrap();
                    sender.local_addr().unwrap()
                });
                let sent = sent.join().unwrap();
                let (_, from) = socket.recv_from(&mut [0; 4]).unwrap();
                assert_eq!(from, sent);
            }
        }
    }

    #[test]
    fn parts_go_out_as_one_datagram() {
        let (here, there) = (local(), local());
        let parts = [IoSlice::new(b"one"), IoSlice::new(b"two")];
        let peer = there.local_addr().unwrap();
        assert_eq!(send(&here, &parts, Some(peer)).unwrap(), 6);
        let mut buffer = [0; 16];
        let (length, from) = there.recv_from(&mut buffer).unwrap();
        assert_eq!(buffer.get(..length).unwrap(), b"onetwo");
        assert_eq!(from, here.local_addr().unwrap());
        assert!(wait_for_room(&here, Some(Duration::from_secs(5))).unwrap());
    }

    #[test]
    fn who_receives_when_the_socket_is_shut_down_has_nothing_of_nobody() {
        let (here, there) = (local(), local());
        let mut buffer = [0; 16];
        send(
            &there,
            &[IoSlice::new(b"one")],
            Some(here.local_addr().unwrap()),
        )
        .unwrap();
        let from = there.local_addr().unwrap();
        assert_eq!(receive(&here, &mut buffer).unwrap(), (3, Some(from)));
        let reading = here.try_clone().unwrap();
        let reader = std::thread::spawn(move || receive(&reading, &mut [0; 16]).unwrap());
        // An unconnected socket reports an error, and its reader is woken all the same.
        while !reader.is_finished() {
            let _ = crate::stream::shut(&here);
            std::thread::yield_now();
        }
        assert_eq!(reader.join().unwrap(), (0, None));
    }

    #[test]
    fn a_closed_port_is_reported_to_a_socket_that_has_a_peer() {
        let here = local();
        let gone = local().local_addr().unwrap();
        here.connect(gone).unwrap();
        send(&here, &[IoSlice::new(b"x")], None).unwrap();
        here.set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let error = here.recv(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn shutting_wakes_whoever_receives_even_without_a_peer() {
        let socket = std::sync::Arc::new(local());
        let waiting = socket.clone();
        let thread = std::thread::spawn(move || waiting.recv(&mut [0; 8]));
        let _ = crate::stream::shut(&*socket);
        assert_eq!(thread.join().unwrap().unwrap(), 0);
    }
}
