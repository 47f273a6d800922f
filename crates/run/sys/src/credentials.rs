//! Who is at the other end of a Unix socket, as the kernel knows it.

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::io;
use std::os::fd::AsFd;

/// A peer's effective user, at the moment it connected or began to listen (`SO_PEERCRED`).
///
/// The peer's process number is left alone: seen from another PID namespace it is 0, which says
/// nothing, and numbers are used again anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    user: u32,
}

impl Credentials {
    /// Those of the process at the other end of a connected Unix socket.
    ///
    /// # Errors
    /// What `getsockopt(2)` says.
    pub fn of_peer(socket: impl AsFd) -> io::Result<Self> {
        let peer = socket_peercred(socket)?;
        Ok(Self {
            user: peer.uid.as_raw(),
        })
    }

    /// The user, by number.
    #[must_use]
    pub fn user(&self) -> u32 {
        self.user
    }

    /// Proof that it is this process's own effective user, if it is.
    #[must_use]
    pub fn same_user(&self) -> Option<SameUser> {
        (self.user == geteuid().as_raw()).then_some(SameUser(()))
    }
}

/// Proof that a peer runs as the same effective user as this process; made by
/// [`Credentials::same_user`] alone.
#[derive(Clone, Copy, Debug)]
pub struct SameUser(());

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_peer_in_the_same_process_is_the_same_user() {
        let (one, _other) = UnixStream::pair().unwrap();
        let peer = Credentials::of_peer(&one).unwrap();
        assert_eq!(peer.user(), geteuid().as_raw());
        assert!(peer.same_user().is_some());
    }

    #[test]
    fn another_user_is_not_the_same() {
        let other = Credentials {
            user: geteuid().as_raw().wrapping_add(1),
        };
        assert!(other.same_user().is_none());
    }
}
