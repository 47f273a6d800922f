//! A store's open file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redb::{Database, ReadTransaction, ReadableDatabase};

use super::batch::{Batch, Images, InDoubt};
#[cfg(feature = "faults")]
use super::faults::{Faults, FaultyFile};
use super::lock::Lock;
use super::opening::{builder, guarded, identified, opened};
use super::shared::{self, Contents};
use super::{SharedRecord, SharedRecords, StoreError, StoreKind};

type Result<T> = std::result::Result<T, StoreError>;

/// Store in a file, which is open and locked until this is dropped.
#[derive(Debug)]
pub struct StoreFile {
    path: PathBuf,
    kind: StoreKind,
    identity: u64,
    state: Mutex<State>,
    /// Set when the database has panicked; nothing is read from it or written to it any more.
    is_broken: AtomicBool,
    /// Records of which the file is a copy.
    shared: Option<Arc<dyn SharedRecords>>,
    #[cfg(feature = "faults")]
    faults: Option<Faults>,
    /// Lock of the file. Declared last, so that it is released only when the database has been
    /// closed.
    _lock: Lock,
}

#[derive(Debug)]
struct State {
    /// Database; `None` from a failed commit to the next one, as a database that has failed refuses
    /// everything until it is reopened.
    database: Option<Database>,
    /// Records that failed commits have changed, which are in doubt.
    in_doubt: InDoubt,
}

impl StoreFile {
    /// Opens a file, which is created if need be.
    ///
    /// # Errors
    /// The file is in use, damaged, newer, of another program, or cannot be read or written. It is
    /// then left unchanged.
    pub fn open(path: &Path, kind: StoreKind) -> Result<Self> {
        let lock = lock(path, &kind)?;
        let database = opened(path, &kind, |path| builder().create(path))?;
        let identity = guarded(|| identified(&database, &kind))?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            identity,
            state: Mutex::new(State {
                database: Some(database),
                in_doubt: InDoubt::default(),
            }),
            is_broken: AtomicBool::new(false),
            shared: None,
            #[cfg(feature = "faults")]
            faults: None,
            _lock: lock,
        })
    }

    /// Opens a file as a copy of records that several servers share, of which this process has the right to write. What
    /// the file has is replaced by them. Each commit is written to them first. All tables of the store have numbers as
    /// their keys.
    ///
    /// # Errors
    /// As of [`open`](Self::open), and of the shared records; [`StoreError::Foreign`] if the file has records of another
    /// store.
    pub fn open_shared(
        path: &Path,
        kind: StoreKind,
        shared: Arc<dyn SharedRecords>,
    ) -> Result<Self> {
        let mut store = Self::open(path, kind)?;
        let has_records = store.read(|transaction| shared::has_records(transaction, &kind))?;
        let contents = match shared::read(&*shared, &kind)? {
            Some(contents) if contents.identity != store.identity && has_records => {
                return Err(
                    kind.foreign("it is a store of its own, and no copy of the shared records")
                );
            }
            None if has_records => {
                return Err(kind.foreign("it has records, and the shared ones are empty"));
            }
            Some(contents) => contents,
            None => {
                shared::create(&*shared, &kind, store.identity)?;
                Contents {
                    identity: store.identity,
                    records: Vec::new(),
                }
            }
        };
        store.copy(&contents)?;
        store.identity = contents.identity;
        store.shared = Some(shared);
        Ok(store)
    }

    /// Writes contents in place of all that the file has.
    fn copy(&self, contents: &Contents) -> Result<()> {
        let state = self.state.lock();
        let database = state.database.as_ref();
        let database = database.ok_or_else(|| StoreError::io("it is closed"))?;
        guarded(|| {
            let transaction = database.begin_write().map_err(StoreError::io)?;
            shared::replace(&transaction, &self.kind, contents)?;
            transaction.commit().map_err(StoreError::io)
        })
    }

    /// Opens a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, kind: StoreKind, faults: Faults) -> Result<Self> {
        let mut store = Self::open(path, kind)?;
        if let Some(database) = store.state.get_mut().database.take() {
            close(database);
        }
        store.faults = Some(faults);
        let database = store.reopened()?;
        store.state.get_mut().database = Some(database);
        Ok(store)
    }

    /// Returns the number that distinguishes this store from all others, drawn when it was created.
    #[must_use]
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// Returns the length of the store file in bytes.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let about = std::fs::metadata(&self.path);
        about.ok().map(|about| about.len())
    }

    /// Reads from the store as it is after the last commit. Blocks while another thread commits.
    ///
    /// # Errors
    /// Those of `read`; [`StoreError::Damaged`] if the database panics, [`StoreError::Io`].
    pub fn read<R>(&self, read: impl FnOnce(&ReadTransaction) -> Result<R>) -> Result<R> {
        let state = self.state.lock();
        let database = state.database.as_ref();
        let database = database.ok_or_else(|| StoreError::io("it is closed"))?;
        guarded(|| read(&database.begin_read().map_err(StoreError::io)?))
    }

    /// Commits the changes that `change` makes, all or nothing, and returns when they are durable.
    ///
    /// After an error, none of them is visible after the next commit, to this server or to one that
    /// opens the file later. If the disk was full, a later commit succeeds when there is room
    /// again.
    ///
    /// # Errors
    /// Those of `change`; [`StoreError::Damaged`] if the database panics, now or before; [`StoreError::Io`].
    pub fn commit(&self, change: impl FnOnce(&Batch<'_>) -> Result<()>) -> Result<()> {
        if self.is_broken.load(Ordering::Relaxed) {
            return Err(StoreError::damaged("the database has failed"));
        }
        let mut state = self.state.lock();
        let database = match state.database.take() {
            Some(database) => database,
            // A new file would have none of the records in memory.
            None if !self.path.exists() => return Err(StoreError::io("its file was removed")),
            None => self.reopened()?,
        };
        let mut images = None;
        let written = guarded(|| self.write(&database, &state.in_doubt, change, &mut images));
        match &written {
            Ok(()) => {
                state.in_doubt = InDoubt::default();
                state.database = Some(database);
            }
            Err(error) => {
                state.in_doubt.add(images.unwrap_or_default());
                close(database);
                let is_broken = matches!(error, StoreError::Damaged(_));
                self.is_broken.fetch_or(is_broken, Ordering::Relaxed);
            }
        }
        written
    }

    /// Writes one transaction. `images` is set before the commit, as from then on the disk may have
    /// stored changes.
    fn write(
        &self,
        database: &Database,
        in_doubt: &InDoubt,
        change: impl FnOnce(&Batch<'_>) -> Result<()>,
        images: &mut Option<Images>,
    ) -> Result<()> {
        let transaction = database.begin_write().map_err(StoreError::io)?;
        in_doubt.restore(&transaction)?;
        let batch = Batch::new(&transaction, self.shared.is_some());
        change(&batch)?;
        let (before, changes) = batch.into_parts();
        *images = Some(before);
        if let Some(shared) = &self.shared {
            // A commit that has failed may have been written.
            let all: Vec<SharedRecord> = in_doubt.shared().chain(changes).collect();
            shared.write(&all)?;
        }
        transaction.commit().map_err(StoreError::io)?;
        self.check_late()
    }

    /// Returns unused pages of the file to the file system. Takes time in proportion to the file's
    /// length, and should be called before the service is served. Returns true if the file has
    /// become shorter.
    ///
    /// # Errors
    /// [`StoreError::Io`], after which the store goes on as it was.
    pub fn compact(&self) -> Result<bool> {
        let mut state = self.state.lock();
        let mut database = match state.database.take() {
            Some(database) => database,
            None => self.reopened()?,
        };
        let compacted = guarded(|| database.compact().map_err(StoreError::io));
        match &compacted {
            Ok(_) => state.database = Some(database),
            Err(_) => close(database),
        }
        compacted
    }

    #[cfg(not(feature = "faults"))]
    fn reopened(&self) -> Result<Database> {
        opened(&self.path, &self.kind, |path| builder().create(path))
    }

    #[cfg(feature = "faults")]
    fn reopened(&self) -> Result<Database> {
        opened(&self.path, &self.kind, |path| match &self.faults {
            Some(faults) => builder().create_with_backend(FaultyFile::open(path, faults.clone())?),
            None => builder().create(path),
        })
    }

    #[cfg(not(feature = "faults"))]
    #[allow(clippy::unused_self, reason = "with faults it looks at them")]
    fn check_late(&self) -> Result<()> {
        Ok(())
    }

    #[cfg(feature = "faults")]
    fn check_late(&self) -> Result<()> {
        self.faults.as_ref().map_or(Ok(()), Faults::late)
    }
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if let Some(database) = self.state.get_mut().database.take() {
            close(database);
        }
    }
}

/// Locks a store, so that other processes cannot open it.
fn lock(path: &Path, kind: &StoreKind) -> Result<Lock> {
    if path.is_dir() {
        return Err(StoreError::io("it is a folder"));
    }
    Lock::acquire(path, kind.service)
}

/// Closes a database. Closing writes to its pages, which may be damaged, so a panic is caught.
fn close(database: Database) {
    // All commits are durable already, so that an error here loses nothing.
    let _ = guarded(|| {
        drop(database);
        Ok(())
    });
}
