//! The lock of a store: a file beside it, `NAME.lock`, that names the server which has the store open.
//!
//! The lock is held as long as the store is open, also while the database itself is closed after a
//! failure, so that no other server can lock the store in between. The lock file is removed with
//! the lock; a file that a killed server has left is not locked, and is reused.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{Holder, StoreError};

/// Maximum number of bytes read from a lock file, which contains a name and a number.
const MOST: u64 = 128;

/// Lock on a store, held until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Open lock file; `None` if no file can be created in the folder.
    file: Option<File>,
}

impl Lock {
    /// Locks the store at a path for a service.
    ///
    /// # Errors
    /// [`StoreError::InUse`] with the holder; [`StoreError::Io`] where the system has no locks.
    pub(super) fn acquire(store: &Path, service: &str) -> Result<Self, StoreError> {
        let path = path(store);
        loop {
            let mut file = match opened(&path) {
                Ok(file) => file,
                // The database's own lock has to do.
                Err(error) if is_forbidden(error.kind()) => return Ok(Self { path, file: None }),
                Err(error) => return Err(StoreError::io(error)),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(read(&mut file))),
                Err(TryLockError::Error(error)) => return Err(StoreError::io(error)),
            }
            // The server before may have removed the file since it was opened here.
            if !is_at(&file, &path) {
                continue;
            }
            // A text that is not written, as on a full disk, costs a later server the holder's name, and nothing else.
            let _ = write(&mut file, service);
            let file = Some(file);
            return Ok(Self { path, file });
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_some() {
            // A file that stays is taken over by the next server.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns true if a path still denotes this open file.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: std::fs::Metadata, other: std::fs::Metadata| {
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    };
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(one), Ok(other)) => same(one, other),
        _ => false,
    }
}

/// Returns an unknown holder, for a database that another server has locked without a lock file.
pub(super) fn unknown_holder() -> Holder {
    Holder {
        service: None,
        process: None,
    }
}

fn path(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn opened(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    // Another user of the folder could place a link here, and have this process write elsewhere.
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(path)
}

fn is_forbidden(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::StorageFull
    )
}

fn write(file: &mut File, service: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{service} {}\n", std::process::id()).as_bytes())
}

/// Reads the holder's name and process id; either is `None` if the text does not have the form that
/// [`write`] writes.
fn read(file: &mut File) -> Holder {
    let mut text = String::new();
    // A text that cannot be read names no holder.
    let _ = file.take(MOST).read_to_string(&mut text);
    let mut words = text.split_whitespace();
    let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    Holder {
        service: words.next().filter(is_name).map(str::to_owned),
        process: words.next().and_then(|word| word.parse().ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_with_the_name_and_process_of_the_holder() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.redb");
        let held = Lock::acquire(&store, "naming").unwrap();
        let refused = Lock::acquire(&store, "ifr").unwrap_err();
        let holder = Holder {
            service: Some("naming".to_owned()),
            process: Some(std::process::id()),
        };
        assert_eq!(refused, StoreError::InUse(holder));
        drop(held);
        drop(Lock::acquire(&store, "ifr").unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_file_that_a_killed_server_has_left_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.redb");
        std::fs::write(path(&store), "naming 1\n").unwrap();
        let _held = Lock::acquire(&store, "ifr").unwrap();
        let text = std::fs::read_to_string(path(&store)).unwrap();
        assert_eq!(text, format!("ifr {}\n", std::process::id()));
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (store, other) = (
            folder.path().join("store.redb"),
            folder.path().join("other"),
        );
        std::fs::write(&other, "precious").unwrap();
        std::os::unix::fs::symlink(&other, path(&store)).unwrap();
        let refused = Lock::acquire(&store, "naming").unwrap_err();
        assert!(matches!(refused, StoreError::Io(_)), "{refused}");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "precious");
    }

    #[test]
    fn a_lock_file_with_other_contents_names_no_holder() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.redb");
        let _held = Lock::acquire(&store, "naming").unwrap();
        std::fs::write(path(&store), "\u{1b}[2J is it").unwrap();
        let refused = Lock::acquire(&store, "naming").unwrap_err();
        assert_eq!(refused, StoreError::InUse(unknown_holder()));
    }
}
