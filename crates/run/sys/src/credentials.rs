//! Credentials of the peer of a Unix socket, as the kernel knows it.
//!
//! All users that a user namespace does not know share one number there, the *overflow user*
//! (`/proc/sys/kernel/overflowuid`, 65534 as a rule, often also the number of the user `nobody`).
//! Two processes that have it may belong to two users, so it never counts as the same user.

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use std::fs::read_to_string;
use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;

/// Effective user of a peer, at the moment it connected or began to listen (`SO_PEERCRED`).
///
/// The peer's process number is ignored: seen from another PID namespace it is 0, which says
/// nothing, and numbers are reused anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    user: u32,
}

impl Credentials {
    /// Returns the credentials of the process at the other end of a connected Unix socket.
    ///
    /// # Errors
    /// Errors of `getsockopt(2)`.
    pub fn of_peer(socket: impl AsFd) -> io::Result<Self> {
        let peer = socket_peercred(socket)?;
        Ok(Self {
            user: peer.uid.as_raw(),
        })
    }

    /// Returns the user id of the peer's process.
    #[must_use]
    pub fn user(&self) -> u32 {
        self.user
    }

    /// Returns whether the peer runs as this process's effective user or as root, which may do whatever that user may.
    #[must_use]
    pub fn may_act_as_this_user(self) -> bool {
        let is_root = self.user == 0 && overflow_user() != 0;
        is_root || self.same_user().is_some()
    }

    /// Returns a proof that the peer runs as this process's effective user, if it does. The first
    /// call in a process reads a file.
    #[must_use]
    pub fn same_user(&self) -> Option<SameUser> {
        let own = geteuid().as_raw();
        is_same_user(self.user, own, overflow_user()).then_some(SameUser(()))
    }
}

/// Returns whether two processes with these user numbers certainly have the same user.
fn is_same_user(peer: u32, own: u32, overflow: u32) -> bool {
    peer == own && own != overflow
}

/// Returns the number that stands for all users unknown to this process's user namespace.
fn overflow_user() -> u32 {
    const DEFAULT: u32 = 65534;
    static USER: OnceLock<u32> = OnceLock::new();
    *USER.get_or_init(|| {
        let said = read_to_string("/proc/sys/kernel/overflowuid").ok();
        said.and_then(|text| text.trim().parse().ok())
            .unwrap_or(DEFAULT)
    })
}

/// Proof that a peer runs as the same effective user as this process; made only by
/// [`Credentials::same_user`].
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
        assert!(peer.may_act_as_this_user());
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
        assert!(!other.may_act_as_this_user());
        assert!(Credentials { user: 0 }.may_act_as_this_user());
    }
}
