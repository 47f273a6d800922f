//! Who is at the other end of a Unix socket, as the kernel knows it.
//!
//! Users that a user namespace does not know all have one number there, the *overflow user*
//! (`/proc/sys/kernel/overflowuid`, 65534 as a rule, often also the number of `nobody`). Two processes
//! that have it may be two users, so that it is never the same user's.

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::fs::read_to_string;
use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;

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

    /// Proof that it is this process's own effective user, if it is. The first call in a process reads a file.
    #[must_use]
    pub fn same_user(&self) -> Option<SameUser> {
        let own = geteuid().as_raw();
        is_same_user(self.user, own, overflow_user()).then_some(SameUser(()))
    }
}

/// Whether two processes of these users have the same one for certain.
fn is_same_user(peer: u32, own: u32, overflow: u32) -> bool {
    peer == own && own != overflow
}

/// The number that stands for every user whom this process's user namespace does not know.
fn overflow_user() -> u32 {
    const DEFAULT: u32 = 65534;
    static USER: OnceLock<u32> = OnceLock::new();
    *USER.get_or_init(|| {
        let said = read_to_string("/proc/sys/kernel/overflowuid").ok();
        said.and_then(|text| text.trim().parse().ok())
            .unwrap_or(DEFAULT)
    })
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
    fn users_that_a_namespace_does_not_know_are_not_the_same() {
        assert!(is_same_user(1000, 1000, 65534));
        assert!(is_same_user(0, 0, 65534));
        assert!(!is_same_user(1000, 1001, 65534));
        assert!(!is_same_user(65534, 1000, 65534));
        assert!(!is_same_user(65534, 65534, 65534));
        assert!(is_same_user(65534, 65534, 99));
    }

    #[test]
    fn another_user_is_not_the_same() {
        let other = Credentials {
            user: geteuid().as_raw().wrapping_add(1),
        };
        assert!(other.same_user().is_none());
    }
}
