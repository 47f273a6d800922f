//! Listening sockets that whoever started this process has opened for it (systemd's socket activation, `sd_listen_fds(3)`):
//! descriptors from 3 on, as many as `LISTEN_FDS` says, for the process that `LISTEN_PID` names.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io::{Error, ErrorKind, Result};
use std::net::TcpListener;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first of them.
const FIRST: RawFd = 3;

/// Those that were handed out, a bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// The TCP listener of this number, counted from 0 to 63. Each is handed out once.
///
/// # Errors
/// `NotFound` if this process was not given so many sockets; `AlreadyExists` if it was handed out before; `InvalidInput` if it
/// is none that listens at a TCP port; what `fcntl(2)` says.
pub fn tcp_listener(number: u8) -> Result<TcpListener> {
    let variable = |name| std::env::var(name).ok()?.parse::<u32>().ok();
    let is_for_us = variable("LISTEN_PID") == Some(std::process::id());
    let given = variable("LISTEN_FDS").filter(|_| is_for_us).unwrap_or(0);
    let given = given.min(u64::BITS);
    if u32::from(number) >= given {
        let why = format!(
            "socket {number} is wanted, and {given} were opened for this process (LISTEN_FDS)"
        );
        return Err(Error::new(ErrorKind::NotFound, why));
    }
    let bit = 1 << number;
    // Relaxed: one of all that ask for the same one finds the bit unset, and nothing else is told by it.
    if TAKEN.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
        let why = format!("socket {number} is in use already");
        return Err(Error::new(ErrorKind::AlreadyExists, why));
    }
    // SAFETY: whoever set the two variables has opened this descriptor for this process and left it to it, and it is
    // taken here once. Nothing of the standard library's has that number: it was open when the process began.
    let socket = unsafe { OwnedFd::from_raw_fd(FIRST + RawFd::from(number)) };
    check(&socket)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    Ok(TcpListener::from(socket))
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
        let refused = tcp_listener(0).unwrap_err();
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
}
