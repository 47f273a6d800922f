//! TCP sockets: listening, and the options that keep a cut cable from hanging a caller.

use crate::dscp::Dscp;
pub use crate::stream::{Direction, Pending, pending, receive, set_timeout};
use crate::traffic::Traffic;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, Shutdown, SocketAddrAny, SocketFlags, SocketType, ipproto};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::time::Duration;

/// Times after which a silent connection is probed and given up (`tcp(7)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe; whole seconds, at least 1 s.
    pub idle: Duration,
    /// Time between probes; whole seconds, at least 1 s.
    pub interval: Duration,
    /// Number of unanswered probes after which the connection is dead.
    pub probes: u32,
}

impl Default for KeepAlive {
    /// Returns 30 s, then 3 probes 10 s apart: a vanished peer is noticed within a minute.
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30),
            interval: Duration::from_secs(10),
            probes: 3,
        }
    }
}

/// Options of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// `TCP_NODELAY`: sends small messages at once. Default on; off makes a request wait for the
    /// acknowledgement of the one before it.
    pub no_delay: bool,
    /// Keep-alive probes of silent connections; `None` turns them off.
    pub keep_alive: Option<KeepAlive>,
    /// `TCP_USER_TIMEOUT`: time that sent data may stay unacknowledged before the connection is
    /// dead; `None` leaves it to the kernel (about 15 minutes).
    pub user_timeout: Option<Duration>,
    /// `MSG_DONTROUTE`: sends only to hosts on a network that this one is on. Default off.
    pub dont_route: bool,
    /// `SO_SNDBUF` in bytes; `None` lets the kernel tune it.
    pub send_buffer: Option<usize>,
    /// `SO_RCVBUF` in bytes; `None` lets the kernel tune it.
    pub receive_buffer: Option<usize>,
    /// Priority of the connection's packets in the network; `None` leaves it to the kernel (0).
    pub dscp: Option<Dscp>,
    /// Pace and class of the connection's packets, and busy polling.
    pub traffic: Traffic,
}

/// Returns whether the kernel sends on this connection at an estimated pace instead of as fast as
/// the receiver takes it (BBR); `false` where it does not say.
#[must_use]
pub fn is_paced(socket: impl AsFd) -> bool {
    sockopt::tcp_congestion(socket).is_ok_and(|name| name.starts_with("bbr"))
}

impl Default for TcpOptions {
    fn default() -> Self {
        Self {
            no_delay: true,
            keep_alive: Some(KeepAlive::default()),
            user_timeout: Some(Duration::from_secs(60)),
            dont_route: false,
            send_buffer: None,
            receive_buffer: None,
            dscp: None,
            traffic: Traffic::default(),
        }
    }
}

impl TcpOptions {
    /// Sets the options on a connected socket.
    ///
    /// # Errors
    /// Errors of `setsockopt(2)`.
    pub fn apply(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = socket.as_fd();
        sockopt::set_tcp_nodelay(socket, self.no_delay)?;
        sockopt::set_socket_keepalive(socket, self.keep_alive.is_some())?;
        if let Some(keep_alive) = self.keep_alive {
            sockopt::set_tcp_keepidle(socket, keep_alive.idle)?;
            sockopt::set_tcp_keepintvl(socket, keep_alive.interval)?;
            sockopt::set_tcp_keepcnt(socket, keep_alive.probes)?;
        }
        if let Some(timeout) = self.user_timeout {
            let milliseconds = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
            sockopt::set_tcp_user_timeout(socket, milliseconds)?;
        }
        if let Some(dscp) = self.dscp {
            dscp.apply(socket)?;
        }
        self.traffic.apply(socket)?;
        crate::stream::set_buffers(socket, self.send_buffer, self.receive_buffer)
    }
}

/// Listens at `address`; port 0 lets the kernel choose.
///
/// `SO_REUSEADDR` is set, so that a server restarts at once on its old port. A listener on the IPv6
/// wildcard serves IPv4 as well.
///
/// # Errors
/// Errors of `socket`, `bind` and `listen`.
pub fn listen(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    listen_steered(address, backlog, None)
}

/// Listens as [`listen`] does, for connections whose packets a processor receives (`SO_INCOMING_CPU`): of several listeners
/// at one address, which share it (`SO_REUSEPORT`), the kernel takes the one with that processor. Any process of
/// the same user may share the address then.
///
/// # Errors
/// Errors of `socket`, `setsockopt`, `bind` and `listen`.
pub fn listen_steered(
    address: SocketAddr,
    backlog: i32,
    processor: Option<u32>,
) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let socket = rustix::net::socket_with(
        family,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        Some(ipproto::TCP),
    )?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if let Some(processor) = processor {
        sockopt::set_socket_reuseport(&socket, true)?;
        sockopt::set_socket_incoming_cpu(&socket, processor)?;
    }
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, !address.ip().is_unspecified())?;
    }
    rustix::net::bind(&socket, &SocketAddrAny::from(address))?;
    rustix::net::listen(&socket, backlog)?;
    Ok(TcpListener::from(socket))
}

/// Returns the processor whose packets a socket is steered by (`SO_INCOMING_CPU`); `None` without one. For a connected
/// socket the kernel sets it anew with each packet.
///
/// # Errors
/// Errors of `getsockopt(2)`.
pub fn incoming_cpu(socket: impl AsFd) -> io::Result<Option<u32>> {
    // -1 where there is none.
    let number = sockopt::socket_incoming_cpu(socket)?;
    Ok((number != u32::MAX).then_some(number))
}

/// Ends every `accept` that waits on `listener`, and any later one.
///
/// # Errors
/// Errors of `shutdown(2)`.
pub fn stop_listening(listener: &TcpListener) -> io::Result<()> {
    Ok(rustix::net::shutdown(listener, Shutdown::Both)?)
}

/// Flushes what [`crate::stream::send_before_more`] has kept back, on a socket without delay.
///
/// # Errors
/// Errors of `setsockopt(2)`.
pub fn push(socket: impl AsFd) -> io::Result<()> {
    // Setting the option again flushes pending data (`tcp(7)`).
    Ok(sockopt::set_tcp_nodelay(socket, true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::pin_to;
    use std::io::Write;
    use std::net::TcpStream;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = listen("127.0.0.1:0".parse().unwrap(), 4).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn default_options_are_accepted_and_read_back() {
        let (client, _server) = pair();
        TcpOptions::default().apply(&client).unwrap();
        assert!(sockopt::tcp_nodelay(&client).unwrap());
        assert!(sockopt::socket_keepalive(&client).unwrap());
        assert_eq!(
            sockopt::tcp_keepidle(&client).unwrap(),
            Duration::from_secs(30)
        );
        assert_eq!(sockopt::tcp_user_timeout(&client).unwrap(), 60_000);
    }

    #[test]
    fn buffer_sizes_are_set_and_may_be_left_to_the_kernel() {
        let (client, server) = pair();
        let options = TcpOptions {
            send_buffer: Some(50_000),
            receive_buffer: Some(60_000),
            keep_alive: None,
            no_delay: false,
            ..TcpOptions::default()
        };
        options.apply(&client).unwrap();
        // The kernel doubles what it is given, to account for its own bookkeeping (`socket(7)`).
        assert_eq!(
            sockopt::socket_send_buffer_size(&client).unwrap(),
            2 * 50_000
        );
        assert_eq!(
            sockopt::socket_recv_buffer_size(&client).unwrap(),
            2 * 60_000
        );
        assert!(!sockopt::socket_keepalive(&client).unwrap());
        assert!(!sockopt::tcp_nodelay(&client).unwrap());
        let untouched = sockopt::socket_send_buffer_size(&server).unwrap();
        TcpOptions::default().apply(&server).unwrap();
        assert_eq!(
            sockopt::socket_send_buffer_size(&server).unwrap(),
            untouched
        );
    }

    #[test]
    fn pending_tells_quiet_from_data_from_the_end() {
        let (mut client, server) = pair();
        assert_eq!(pending(&server), Pending::Nothing);
        client.write_all(b"x").unwrap();
        set_timeout(&server, Direction::Receive, Some(Duration::from_secs(5))).unwrap();
        server.peek(&mut [0]).unwrap();
        assert_eq!(pending(&server), Pending::Data);
        let mut buffer = Vec::with_capacity(8);
        assert_eq!(receive(&server, &mut buffer).unwrap(), 1);
        drop(client);
        server.peek(&mut [0]).unwrap();
        assert_eq!(pending(&server), Pending::End);
    }

    #[test]
    fn stop_listening_ends_an_accept_that_waits() {
        let listener = std::sync::Arc::new(listen("127.0.0.1:0".parse().unwrap(), 4).unwrap());
        let waiting = listener.clone();
        let thread = std::thread::spawn(move || waiting.accept().map(|_| ()));
        stop_listening(&listener).unwrap();
        assert!(thread.join().unwrap().is_err());
    }

    #[test]
    fn of_listeners_at_one_address_the_one_whose_processor_receives_the_packets_accepts() {
        let pinned = |number: usize| std::thread::spawn(move || pin_to(number).is_ok());
        if !(0..2).all(|number| pinned(number).join().unwrap()) {
            println!("skipped: this process cannot be on the processors 0 and 1");
            return;
        }
        let first = listen_steered("127.0.0.1:0".parse().unwrap(), 64, Some(0)).unwrap();
        let address = first.local_addr().unwrap();
        let second = listen_steered(address, 64, Some(1)).unwrap();
        let number = |listener: &TcpListener| sockopt::socket_incoming_cpu(listener).unwrap();
        assert_eq!((number(&first), number(&second)), (0, 1));
        // Packets over loopback are received on the processor that has sent them.
        for (processor, listener) in [(1, &second), (0, &first)] {
            let connected = std::thread::spawn(move || {
                pin_to(processor).unwrap();
                TcpStream::connect(address).unwrap().local_addr().unwrap()
            });
            let (_, peer) = listener.accept().unwrap();
            assert_eq!(peer, connected.join().unwrap());
        }
    }
}
