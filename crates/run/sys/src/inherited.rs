//! Listening sockets inherited from the process's starter (systemd's socket activation,
//! `sd_listen_fds(3)`): descriptors from 3 on, as many as `LISTEN_FDS` says, for the process that
//! `LISTEN_PID` names.

use crate::event::EventFd;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the first descriptor that a service manager passes to this process.
const FIRST: RawFd = 3;

/// Bit set of the inherited sockets that have already been handed out.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Inherited socket that listens at a TCP port. The process's starter holds it, too, so it outlives
/// this process and is never shut down: connections not yet accepted wait for the next process.
#[derive(Debug)]
pub struct InheritedListener {
    listener: TcpListener,
    ends: EventFd,
}

impl InheritedListener {
    /// Takes the inherited socket of this number, counted from 0 to 63. Each is handed out once.
    ///
    /// # Errors
    /// `NotFound` if this process was not given that many sockets; `AlreadyExists` if it was handed
    /// out before; `InvalidInput` if it is not a socket that listens at a TCP port; errors of
    /// `fcntl(2)` and `eventfd(2)`.
    pub fn take(number: u8) -> Result<Self> {
        check_given(number)?;
        let descriptor = FIRST + RawFd::from(number);
        // Checked first: dropping an owned descriptor that is not open ends the process.
        let what = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
        if !what.is_ok_and(|what| what.as_os_str().as_encoded_bytes().starts_with(b"socket:")) {
            let why =
                format!("descriptor {descriptor}, which LISTEN_FDS names, is not an open socket");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let bit = 1 << number;
        // Relaxed: of all callers that ask for one number, one finds the bit unset; it publishes
        // nothing else.
        if TAKEN.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            let why = format!("socket {number} is in use already");
            return Err(Error::new(ErrorKind::AlreadyExists, why));
        }
        // SAFETY: it is open. The starter that set the two variables opened it for this process and
        // left it to it, and it is taken here once; no descriptor of the standard library has that
        // number, as it was open when the process began.
        let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
        if let Err(error) = check(&socket) {
            // It is not a listening socket as announced, so other code may own the descriptor.
            let _ = socket.into_raw_fd();
            return Err(error);
        }
        Self::over(TcpListener::from(socket))
    }

    fn over(listener: TcpListener) -> Result<Self> {
        fcntl_setfd(&listener, FdFlags::CLOEXEC)?;
        // It is polled together with the stop event, and `accept` may find nothing: the client may
        // have gone.
        listener.set_nonblocking(true)?;
        let ends = EventFd::new()?;
        Ok(Self { listener, ends })
    }

    /// Returns the address that the socket listens at.
    ///
    /// # Errors
    /// Errors of `getsockname(2)`.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for the next connection.
    ///
    /// # Errors
    /// `ConnectionAborted` once the listener is stopped; errors of `poll(2)` and `accept(2)`.
    pub fn accept(&self) -> Result<(TcpStream, SocketAddr)> {
        loop {
            let mut waits = [
                PollFd::new(&self.ends, PollFlags::IN),
                PollFd::new(&self.listener, PollFlags::IN),
            ];
            match poll(&mut waits, None) {
                Err(Errno::INTR) => continue,
                polled => polled?,
            };
            let [ends, _] = &waits;
            if !ends.revents().is_empty() {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            match self.listener.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                accepted => return accepted,
            }
        }
    }

    /// Ends every [`InheritedListener::accept`] in progress, and any later one.
    pub fn stop(&self) {
        self.ends.notify();
    }
}

fn check_given(number: u8) -> Result<()> {
    let variable = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    let is_for_us = variable("LISTEN_PID") == Some(std::process::id());
    let given = variable("LISTEN_FDS").filter(|_| is_for_us).unwrap_or(0);
    let given = given.min(u64::BITS);
    if u32::from(number) >= given {
        let why =
            format!("socket {number} was not passed to this process: it got {given} (LISTEN_FDS)");
        return Err(Error::new(ErrorKind::NotFound, why));
    }
    Ok(())
}

fn check(socket: impl AsFd) -> Result<()> {
    let family = sockopt::socket_domain(&socket)?;
    let is_tcp = matches!(family, AddressFamily::INET | AddressFamily::INET6)
        && sockopt::socket_type(&socket)? == SocketType::STREAM
        && sockopt::socket_acceptconn(&socket)?;
    match is_tcp {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::InvalidInput,
            "the socket does not listen at a TCP port",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn nothing_is_taken_where_nobody_has_opened_anything() {
        let refused = InheritedListener::take(0).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        assert!(refused.to_string().contains("LISTEN_FDS"), "{refused}");
    }

    #[test]
    fn only_sockets_that_listen_at_a_tcp_port_are_taken() {
        check(TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(
            check(&datagrams).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert!(check(std::fs::File::open("/dev/null").unwrap()).is_err());
    }
    #[test]
    fn who_accepts_is_woken_at_the_end_and_the_socket_goes_on() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let inherited = &InheritedListener::over(socket.try_clone().unwrap()).unwrap();
        std::thread::scope(|scope| {
            let (told, accepted) = std::sync::mpsc::channel();
            let accepting = scope.spawn(move || {
                told.send(inherited.accept().is_ok()).unwrap();
                let ended = inherited.accept().unwrap_err();
                assert_eq!(ended.kind(), ErrorKind::ConnectionAborted);
            });
            let _client = TcpStream::connect(address).unwrap();
            assert!(accepted.recv().unwrap());
            inherited.stop();
            accepting.join().unwrap();
        });
        let _waits = TcpStream::connect(address).unwrap();
        let next = InheritedListener::over(socket).unwrap();
        next.accept().unwrap();
    }
}
