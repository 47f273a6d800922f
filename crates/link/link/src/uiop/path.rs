//! File of a listening socket: its location, its owner, its removal.

use crate::{Cause, LinkError, Phase};
use punctual_sys::unix;
use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File, Metadata, TryLockError};
use std::hash::BuildHasher;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of attempts to get a directory's lock, and the pause between them, while another process
/// cleans the directory.
const PATIENCE: (u32, Duration) = (100, Duration::from_millis(10));

/// Converts an address's location to a path: absolute, and short enough for a socket.
///
/// # Errors
/// [`Cause::BadAddress`] otherwise.
pub(crate) fn checked(place: &str, phase: Phase) -> Result<&Path, LinkError> {
    let expected = if !place.starts_with('/') || place.chars().any(char::is_control) {
        "the absolute path of a socket, or a name without slashes to listen at"
    } else if place.len() > unix::LONGEST_PATH {
        "a path of at most 107 octets, which is all that a socket's address holds"
    } else {
        return Ok(Path::new(place));
    };
    let cause = Cause::BadAddress(expected);
    Err(LinkError { phase, cause })
}

/// File of a socket that this process listens on.
#[derive(Debug)]
pub(crate) struct SocketFile {
    place: Box<str>,
    identity: Identity,
}

/// Identity of the file that a path leads to, whatever its name: device and inode.
type Identity = (u64, u64);

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

impl SocketFile {
    /// Listens at `place`, an absolute path. A name without slashes stands for a socket in a
    /// directory that only this user may enter, with a path that stays the same when the program is
    /// restarted. If `place` is empty, a path is chosen that no other process ever chooses again;
    /// the chosen files of killed processes are removed.
    ///
    /// A leftover of this user without a listener is replaced. Any other existing file is left
    /// alone.
    ///
    /// # Errors
    /// [`Cause::BadAddress`] for an invalid path; `AddrInUse` when a process listens there;
    /// `AlreadyExists` when the file is not a socket or belongs to another user; errors of
    /// `bind(2)`.
    pub(crate) fn listen(place: &str, backlog: u16) -> Result<(OwnedFd, Self), LinkError> {
        let failed = |error| LinkError::os(Phase::Listen, error);
        let chosen;
        let place = if place.is_empty() {
            chosen = choose().map_err(failed)?;
            &chosen
        } else if is_name(place) {
            chosen = private_path(place).map_err(failed)?;
            &chosen
        } else {
            place
        };
        let path = checked(place, Phase::Listen)?;
        let (listener, identity) = bind(path, i32::from(backlog)).map_err(failed)?;
        let file = Self {
            place: place.into(),
            identity,
        };
        Ok((listener, file))
    }

    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Removes the file, unless another socket has replaced it.
    pub(crate) fn remove(&self) {
        let there = fs::symlink_metadata(&*self.place);
        if there.is_ok_and(|metadata| identity(&metadata) == self.identity) {
            // It may be gone already.
            let _ = fs::remove_file(&*self.place);
        }
    }
}

/// Binds and listens while it holds the directory's lock: of two processes that find the same
/// leftover, the later does not mistake the earlier's new socket, bound and not yet listening, for
/// it.
fn bind(path: &Path, backlog: i32) -> io::Result<(OwnedFd, Identity)> {
    let lock = lock(path.parent().unwrap_or(Path::new("/")));
    let listener = match unix::listen(path, backlog) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            // Without the lock (any user that may read the directory can keep it) nothing is
            // removed.
            let _held = lock?;
            remove_leftover(path)?;
            unix::listen(path, backlog)?
        }
        other => other?,
    };
    let identity = identity(&fs::symlink_metadata(path)?);
    Ok((listener, identity))
}

/// Takes the lock of a directory; it ends when the file is closed.
fn lock(directory: &Path) -> io::Result<File> {
    let directory = File::open(directory)?;
    let (tries, apart) = PATIENCE;
    for _ in 0..tries {
        match directory.try_lock() {
            Ok(()) => return Ok(directory),
            Err(TryLockError::WouldBlock) => std::thread::sleep(apart),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        "in use: there is a file, and another process keeps its directory locked",
    ))
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let taken = |why| Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    if !there.file_type().is_socket() {
        return taken("there is a file that is not a socket");
    }
    if there.uid() != unix::effective_user() {
        return taken("there is a socket of another user's");
    }
    match unix::connect(path, Some(Duration::from_millis(1))) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // It accepts connections, or would if its queue had room.
        _ => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "in use: another socket listens there",
        )),
    }
}

/// Returns a path of this process's alone, in this user's directory. Its random part ensures that a
/// reference never leads to another process that gets the same process id.
fn choose() -> io::Result<String> {
    sweep(&private_directory()?);
    let random = RandomState::new().hash_one(std::process::id());
    private_path(&format!("{}{CHOSEN}{random:016x}", std::process::id()))
}

/// Separator between the process id and the random part of a chosen name.
const CHOSEN: &str = "-";

/// Upper bound of the files checked when sockets of killed processes are removed.
const MOST_SWEPT: usize = 4096;

/// Removes socket files with automatically chosen names whose processes have ended.
fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.take(MOST_SWEPT).flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split_once(CHOSEN));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        let has_ended = |process| !Path::new(&format!("/proc/{process}")).exists();
        if !process.is_some_and(has_ended) {
            continue;
        }
        // The holder of the lock removes them, too.
        let Ok(_held) = lock(directory) else {
            return;
        };
        // A socket with a listener, in another namespace of processes, stays.
        let _ = remove_leftover(&entry.path());
    }
}

/// Returns whether a location is a name in this user's directory: letters, digits, and common
/// signs, beginning with a letter.
fn is_name(place: &str) -> bool {
    let is_common = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    place.starts_with(|c: char| c.is_ascii_alphabetic())
        && place.chars().all(|c| is_common(c) || c == '-')
}

/// Returns the path of a name in this user's directory.
fn private_path(name: &str) -> io::Result<String> {
    private_directory()?
        .join(name)
        .into_os_string()
        .into_string()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
}

/// Returns a directory with mode 0700 under `$XDG_RUNTIME_DIR`, or under the one for temporary
/// files.
fn private_directory() -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let base = runtime
        .filter(|path| path.is_absolute() && path.is_dir())
        .unwrap_or_else(std::env::temp_dir);
    own_directory(&base.join(format!("punctual-{}", unix::effective_user())))
}

/// Returns `path` as a directory that only this user may enter; made if it does not exist.
fn own_directory(path: &Path) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // Not followed if it is a link: another process may have made it first.
    let there = fs::symlink_metadata(path)?;
    let own = there.is_dir() && there.uid() == unix::effective_user() && there.mode() & 0o077 == 0;
    if own {
        return Ok(path.to_owned());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} must be a directory of this user's with mode 0700",
            path.display()
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let name = format!("punctual-uiop-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            DirBuilder::new().mode(0o700).create(&path).unwrap();
            Self(path)
        }

        fn place(&self) -> String {
            self.0.join("socket").to_str().unwrap().to_owned()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn refusal(place: &str) -> String {
        SocketFile::listen(place, 4).unwrap_err().to_string()
    }

    #[test]
    fn a_leftover_is_replaced_and_a_live_socket_is_not() {
        let scratch = Scratch::new("leftover");
        drop(UnixListener::bind(scratch.place()).unwrap());
        let (_listener, file) = SocketFile::listen(&scratch.place(), 4).unwrap();
        assert!(refusal(&scratch.place()).contains("in use"));
        file.remove();
        assert!(!Path::new(&scratch.place()).exists());
    }

    #[test]
    fn a_live_socket_whose_queue_is_full_is_not_taken_for_a_leftover() {
        let scratch = Scratch::new("full");
        let _listener = unix::listen(Path::new(&scratch.place()), 0).unwrap();
        let connect = || unix::connect(Path::new(&scratch.place()), Some(PATIENCE.1));
        let held: Vec<_> = std::iter::from_fn(|| connect().ok()).collect();
        assert!(!held.is_empty());
        assert!(refusal(&scratch.place()).contains("in use"));
    }

    #[test]
    fn what_is_no_socket_is_left_alone() {
        let scratch = Scratch::new("file");
        fs::write(scratch.place(), "precious").unwrap();
        assert!(refusal(&scratch.place()).contains("not a socket"));
        assert_eq!(fs::read_to_string(scratch.place()).unwrap(), "precious");
    }

    #[test]
    fn a_link_to_a_leftover_is_not_followed() {
        let scratch = Scratch::new("link");
        let target = scratch.0.join("target");
        drop(UnixListener::bind(&target).unwrap());
        symlink(&target, scratch.place()).unwrap();
        assert!(refusal(&scratch.place()).contains("not a socket"));
        assert!(target.exists());
    }

    #[test]
    fn another_users_socket_is_left_alone() {
        let scratch = Scratch::new("foreign");
        drop(UnixListener::bind(scratch.place()).unwrap());
        if let Err(error) = std::os::unix::fs::chown(scratch.place(), Some(65534), None) {
            eprintln!("skipped: only root can give a file away: {error}");
            return;
        }
        assert!(refusal(&scratch.place()).contains("another user"));
        assert!(Path::new(&scratch.place()).exists());
    }

    #[test]
    fn a_file_that_took_the_sockets_place_is_not_removed() {
        let scratch = Scratch::new("usurped");
        let (_listener, file) = SocketFile::listen(&scratch.place(), 4).unwrap();
        fs::rename(scratch.place(), scratch.0.join("moved")).unwrap();
        fs::write(scratch.place(), "another's").unwrap();
        file.remove();
        assert!(Path::new(&scratch.place()).exists());
    }

    #[test]
    fn many_that_find_one_leftover_do_not_displace_each_other() {
        let scratch = Scratch::new("race");
        drop(UnixListener::bind(scratch.place()).unwrap());
        let place = scratch.place();
        let listening: Vec<_> = std::thread::scope(|threads| {
            let starts: Vec<_> = (0..8)
                .map(|_| threads.spawn(|| SocketFile::listen(&place, 64)))
                .collect();
            starts
                .into_iter()
                .filter_map(|start| start.join().unwrap().ok())
                .collect()
        });
        assert_eq!(listening.len(), 1);
        assert!(unix::connect(Path::new(&place), Some(PATIENCE.1)).is_ok());
    }

    #[test]
    fn a_path_that_is_too_long_is_refused_with_the_limit() {
        let place = format!("/tmp/{}", "x".repeat(200));
        let text = refusal(&place);
        assert!(text.contains("107 octets"), "{text}");
        assert!(checked("relative", Phase::Connect).is_err());
        assert!(checked("/tmp/a\nb", Phase::Connect).is_err());
    }

    #[test]
    fn a_directory_that_others_may_enter_is_not_used() {
        let scratch = Scratch::new("open");
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(own_directory(&scratch.0).is_err());
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(own_directory(&scratch.0).is_ok());
        let link = scratch.0.join("link");
        symlink(&scratch.0, &link).unwrap();
        assert!(own_directory(&link).is_err());
    }

    #[test]
    fn a_name_is_a_socket_in_this_users_directory_whenever_it_is_listened_at() {
        let name = format!("punctual-test.{}", std::process::id());
        let (listener, file) = SocketFile::listen(&name, 4).unwrap();
        let place = file.place().to_owned();
        assert!(place.ends_with(&format!("/{name}")), "{place}");
        // As after a kill: without a listener.
        drop((listener, file));
        let (_listener, file) = SocketFile::listen(&name, 4).unwrap();
        assert_eq!(file.place(), place);
        file.remove();
        for wrong in ["../up", ".hidden", "-x", "a/b", "7-1", "a b"] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }

    #[test]
    fn what_killed_processes_had_chosen_is_removed_and_nothing_else() {
        let scratch = Scratch::new("sweep");
        let path = |name: &str| scratch.0.join(name);
        // No process has such an id.
        for name in ["4294967295-00ff", "plant", "7-x.txt"] {
            drop(UnixListener::bind(path(name)).unwrap());
        }
        let _listens = UnixListener::bind(path("4294967294-00ff")).unwrap();
        fs::write(path("4294967293-00ff"), "precious").unwrap();
        let own = format!("{}-00ff", std::process::id());
        drop(UnixListener::bind(path(&own)).unwrap());
        sweep(&scratch.0);
        assert!(!path("4294967295-00ff").exists());
        for stays in ["plant", "4294967294-00ff", "4294967293-00ff", &own] {
            assert!(path(stays).exists(), "{stays}");
        }
    }

    #[test]
    fn a_chosen_path_lies_in_a_directory_of_this_users() {
        let place = choose().unwrap();
        let directory = Path::new(&place).parent().unwrap();
        let mode = fs::symlink_metadata(directory).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_ne!(choose().unwrap(), place);
    }
}
