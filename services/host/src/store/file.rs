//! A store's open file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use super::batch::{Batch, Images, InDoubt};
#[cfg(feature = "faults")]
use super::faults::{Faults, FaultyFile};
use super::lock::Lock;
use super::opening::{builder, guarded, identified, is_alone, opened};
use super::shared::{self, Contents, Found, Own, Step};
use super::{SharedFrom, SharedRecord, SharedRecords, StoreError, StoreKind};

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
    /// Set when the file notes that it is no copy of shared records.
    is_alone: AtomicBool,
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
        let (identity, is_alone) = guarded(|| {
            let identity = identified(&database, &kind)?;
            let transaction = database.begin_read().map_err(StoreError::io)?;
            Ok((identity, is_alone(&transaction, &kind)?))
        })?;
        Ok(Self {
            path: path.to_owned(),
            kind,
            identity,
            state: Mutex::new(State {
                database: Some(database),
                in_doubt: InDoubt::default(),
            }),
            is_broken: AtomicBool::new(false),
            is_alone: AtomicBool::new(is_alone),
            shared: None,
            #[cfg(feature = "faults")]
            faults: None,
            _lock: lock,
        })
    }

    /// Opens a file as a copy of records that several servers share, of which this process has the right to write. What
    /// the file has is replaced by them; or, if they are to be made of it ([`SharedFrom::File`]) and are empty, they become
    /// those of the file first: all of them, or none that counts. Each commit is written to them first. All tables of the
    /// store have numbers as their keys; others that the file may have, such as logs of events, are dropped.
    ///
    /// # Errors
    /// As of [`open`](Self::open), and of the shared records; [`StoreError::NoCopy`] if the file has records of its own and
    /// the shared ones are not to be made of it, or are others.
    pub fn open_shared(
        path: &Path,
        kind: StoreKind,
        shared: Arc<dyn SharedRecords>,
        from: SharedFrom,
    ) -> Result<Self> {
        let mut store = Self::open(path, kind)?;
        let all = shared.read()?;
        let step = shared::step(Found::of(&all, &kind)?, store.own()?, from);
        let contents = match step.map_err(|reason| store.no_copy(&*shared, reason))? {
            Step::Copy => shared::contents(all, &kind)?,
            Step::Create => {
                shared::create(&*shared, &kind, store.identity)?;
                Contents {
                    identity: store.identity,
                    records: Vec::new(),
                }
            }
            Step::Publish => {
                // Once they are published, the file is a copy of them, also if this process ends before it knows.
                store.transact(|transaction| kind.note_shared(transaction))?;
                let records = store.read(|transaction| shared::records(transaction, &kind))?;
                let contents = Contents {
                    identity: store.identity,
                    records,
                };
                shared::publish(&*shared, &kind, &contents, all)?;
                contents
            }
        };
        store.transact(|transaction| shared::replace(transaction, &kind, &contents))?;
        store.identity = contents.identity;
        store.shared = Some(shared);
        Ok(store)
    }

    /// Checks that a file, which is created if need be, can be opened as [`open_shared`](Self::open_shared) does, as far as
    /// that is known without the right to write the shared records.
    ///
    /// # Errors
    /// As of [`open_shared`](Self::open_shared).
    pub fn check_shared(
        path: &Path,
        kind: StoreKind,
        shared: &dyn SharedRecords,
        from: SharedFrom,
    ) -> Result<()> {
        let store = Self::open(path, kind)?;
        match shared::find(shared, &kind)? {
            // Another server may make them right now.
            Found::Begun => Ok(()),
            found => {
                let step = shared::step(found, store.own()?, from);
                step.map(drop)
                    .map_err(|reason| store.no_copy(shared, reason))
            }
        }
    }

    /// Returns what tells whether the file can be a copy.
    fn own(&self) -> Result<Own> {
        self.read(|transaction| {
            Ok(Own {
                identity: self.identity,
                has_records: shared::has_records(transaction, &self.kind)?,
                is_alone: is_alone(transaction, &self.kind)?,
            })
        })
    }

    fn no_copy(&self, shared: &dyn SharedRecords, reason: &str) -> StoreError {
        StoreError::NoCopy {
            file: self.path.clone(),
            shared: shared.name(),
            reason: reason.to_owned(),
        }
    }

    /// Changes the database before the store is used.
    fn transact(&self, change: impl FnOnce(&WriteTransaction) -> Result<()>) -> Result<()> {
        let state = self.state.lock();
        let database = state.database.as_ref();
        let database = database.ok_or_else(|| StoreError::io("it is closed"))?;
        guarded(|| {
            let transaction = database.begin_write().map_err(StoreError::io)?;
            change(&transaction)?;
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

    /// Returns the number of records that one commit changes whole or not at all, whatever fails: any in a store of its own.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        let shared = self.shared.as_ref();
        shared.map_or(usize::MAX, |shared| shared.most_at_once())
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
        let becomes_alone = self.shared.is_none() && !self.is_alone.load(Ordering::Relaxed);
        if becomes_alone {
            self.kind.note_alone(&transaction)?;
        }
        let batch = Batch::new(&transaction, self.shared.is_some());
        change(&batch)?;
        let (before, changes) = batch.into_parts();
        *images = Some(before);
        if let Some(shared) = &self.shared {
            // A commit that has failed may have been written.
            let mut all: Vec<SharedRecord> = in_doubt.shared().collect();
            let most = shared.most_at_once();
            if all.len().saturating_add(changes.len()) > most && !all.is_empty() {
                shared.write(&all)?;
                all.clear();
            }
            if changes.len() > most {
                let (file, count) = (self.path.display(), changes.len());
                tracing::warn!(
                    "{file}: a change of {count} shared records is written in parts of {most}: a server that fails \
                     meanwhile leaves the first ones"
                );
            }
            all.extend(changes);
            shared.write(&all)?;
        }
        transaction.commit().map_err(StoreError::io)?;
        self.is_alone.fetch_or(becomes_alone, Ordering::Relaxed);
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
