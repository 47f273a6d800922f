//! Unix stream sockets: listening at a path that only its owner may connect to, and connecting to
//! one.

use crate::stream::{self, Direction};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect as dial,
    getsockname, listen as start_listening, socket_with,
};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

/// Length of the longest socket path, in bytes: `sun_path` less its closing NUL (`unix(7)`).
pub const LONGEST_PATH: usize = 107;

/// Listens at `path`, whose file has mode 0600 from the moment it is made.
///
/// An existing file makes it fail with `AddrInUse`; nothing is removed.
///
/// # Errors
/// Errors of `socket`, `fchmod`, `bind` and `listen`.
pub fn listen(path: &Path, backlog: i32) -> io::Result<OwnedFd> {
    // Linux makes the file with the mode of the socket's own inode, so that is set before the file
    // exists; the umask, which all threads share, is left alone.
    let socket = File::from(socket()?);
    socket.set_permissions(Permissions::from_mode(0o600))?;
    let socket = OwnedFd::from(socket);
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    // No client can connect before it listens: even a kernel that ignored the mode leaves no gap.
    let begun = std::fs::set_permissions(path, Permissions::from_mode(0o600))
        .and_then(|()| Ok(start_listening(&socket, backlog)?));
    if let Err(error) = begun {
        // The file is this call's own, and useless now.
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    Ok(socket)
}

/// Accepts a connection; returns it with the name that the other side is bound to, if any.
///
/// # Errors
/// Errors of `accept(2)`.
pub fn accept(listener: impl AsFd) -> io::Result<(OwnedFd, Option<String>)> {
    let socket = accept_with(&listener, SocketFlags::CLOEXEC)?;
    let peer = rustix::net::getpeername(&socket).ok();
    let name = peer.and_then(|peer| SocketAddrUnix::try_from(peer?).ok());
    Ok((socket, name.as_ref().and_then(abstract_name)))
}

/// Refuses further connections, wakes threads in `accept`, and ends the connections not yet
/// accepted, which would otherwise wait while any process has the listener open.
///
/// # Errors
/// Errors of `shutdown(2)`.
pub fn stop_listening(listener: impl AsFd) -> io::Result<()> {
    stream::shut(&listener)?;
    // Never waits on a socket that is shut down.
    while accept(&listener).is_ok() {}
    Ok(())
}

/// Connects to the socket at `path`; returns it with the name that the kernel gave this end, by
/// which the other end can tell it from others. Waits up to `timeout` for room in the listener's
/// queue.
///
/// # Errors
/// Errors of `connect(2)`; `WouldBlock` when the time-out has passed.
pub fn connect(path: &Path, timeout: Option<Duration>) -> io::Result<(OwnedFd, Option<String>)> {
    let socket = socket()?;
    let address = SocketAddrUnix::new(path)?;
    stream::set_timeout(&socket, Direction::Send, timeout)?;
    // An unnamed address asks the kernel for a fresh name in the abstract space (`unix(7)`,
    // autobind). Where there is none to be had, this end stays unnamed.
    let named = bind(&socket, &SocketAddrUnix::new_unnamed()).is_ok();
    while let Err(error) = dial(&socket, &address) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    let own = if named {
        getsockname(&socket).ok()
    } else {
        None
    };
    let name = own.and_then(|own| SocketAddrUnix::try_from(own).ok());
    Ok((socket, name.as_ref().and_then(abstract_name)))
}

fn socket() -> io::Result<OwnedFd> {
    Ok(socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?)
}

/// Returns the effective user id of this process.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns a name in the abstract space, if it is plain text.
fn abstract_name(address: &SocketAddrUnix) -> Option<String> {
    let name = std::str::from_utf8(address.abstract_name()?).ok()?;
    let plain = !name.is_empty() && !name.chars().any(char::is_control);
    plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("punctual-sys-{}-{name}", std::process::id());
            Self(std::env::temp_dir().join(name))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_socket_file_is_its_owners_alone() {
        let path = Scratch::new("mode");
        let _listener = listen(&path.0, 4).unwrap();
        let mode = std::fs::symlink_metadata(&path.0)
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn who_waits_to_be_accepted_is_told_that_nobody_listens_any_more() {
        let path = Scratch::new("stop");
        let listener = listen(&path.0, 4).unwrap();
        let clients = [(); 3].map(|()| connect(&path.0, None).unwrap().0);
        stop_listening(&listener).unwrap();
        for client in clients {
            let mut client = std::os::unix::net::UnixStream::from(client);
            let limit = Some(Duration::from_secs(10));
            client.set_read_timeout(limit).unwrap();
            assert_eq!(std::io::Read::read(&mut client, &mut [0]).unwrap(), 0);
        }
        assert!(connect(&path.0, None).is_err());
        accept(&listener).unwrap_err();
    }

    #[test]
    fn both_ends_know_the_name_that_the_kernel_gave() {
        let path = Scratch::new("name");
        let listener = listen(&path.0, 4).unwrap();
        let (_client, own) = connect(&path.0, None).unwrap();
        let (_server, seen) = accept(&listener).unwrap();
        assert!(own.is_some());
        assert_eq!(own, seen);
    }

    #[test]
    fn a_full_queue_makes_connecting_time_out() {
        let path = Scratch::new("full");
        let _listener = listen(&path.0, 0).unwrap();
        let mut held = Vec::new();
        let error = loop {
            match connect(&path.0, Some(Duration::from_millis(5))) {
                Ok(connected) => held.push(connected),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
