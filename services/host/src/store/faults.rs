//! Disk faults injected into a store, for tests of a service with a full disk at each step of a
//! commit.

use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::StoreError;

/// Switch for the faults of one store. Clones control the same one.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Number of further writes that succeed, if the disk is limited.
    left: AtomicU64,
    is_limited: AtomicBool,
    /// True if the disk has refused a write since it was limited.
    has_refused: AtomicBool,
    fails_late: AtomicBool,
}

impl Faults {
    /// Lets the next `writes` writes succeed; each later one fails as on a full disk, until
    /// [`mend`](Self::mend).
    pub fn fill_after(&self, writes: u64) {
        self.0.left.store(writes, Ordering::Relaxed);
        self.0.has_refused.store(false, Ordering::Relaxed);
        self.0.is_limited.store(true, Ordering::Release);
    }

    /// Makes each commit report a failure after it is on the disk, until [`mend`](Self::mend).
    pub fn fail_late(&self) {
        self.0.fails_late.store(true, Ordering::Release);
    }

    /// Ends all faults. Returns true if the disk has refused a write since [`fill_after`](Self::fill_after).
    pub fn mend(&self) -> bool {
        self.0.is_limited.store(false, Ordering::Release);
        self.0.fails_late.store(false, Ordering::Release);
        self.0.has_refused.swap(false, Ordering::Relaxed)
    }

    /// Calls `fails` with a disk that is full after 0, 1, 2, … writes, until a whole change fits.
    /// `fails` makes one change, and returns true if it was refused. Returns the number of calls in
    /// which it was refused.
    ///
    /// The disk is mended after each call, so that `between` can check the contents.
    pub fn at_each_write(
        &self,
        mut fails: impl FnMut(u64) -> bool,
        mut between: impl FnMut(u64, bool),
    ) -> u64 {
        for limit in 0.. {
            self.fill_after(limit);
            let is_refused = fails(limit);
            let has_refused = self.mend();
            between(limit, is_refused);
            if !has_refused {
                return limit;
            }
        }
        u64::MAX
    }

    /// Returns the error of a commit that is set to fail after it is on the disk.
    pub(super) fn late(&self) -> Result<(), StoreError> {
        match self.0.fails_late.load(Ordering::Acquire) {
            true => Err(StoreError::io("the disk fails after the last page")),
            false => Ok(()),
        }
    }

    fn check(&self) -> io::Result<()> {
        if !self.0.is_limited.load(Ordering::Acquire) {
            return Ok(());
        }
        let taken = self
            .0
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        taken.map(drop).map_err(|_| {
            self.0.has_refused.store(true, Ordering::Relaxed);
            ErrorKind::StorageFull.into()
        })
    }
}

/// Store file that fails as its [`Faults`] specify, for tests.
#[derive(Debug)]
pub(super) struct FaultyFile {
    file: FileBackend,
    faults: Faults,
}

impl FaultyFile {
    pub(super) fn open(path: &Path, faults: Faults) -> Result<Self, redb::DatabaseError> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = FileBackend::new(options.open(path)?)?;
        Ok(Self { file, faults })
    }
}

impl StorageBackend for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.faults.check()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.faults.check()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.faults.check()?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(from, to)
    }

    fn try_lock_shared_range(
        &self,
        from: Bound<u64>,
        to: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(from, to)
    }

    fn lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(from, to)
    }

    fn lock_shared_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(from, to)
    }

    fn unlock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(from, to)
    }

    fn query_lock_range(&self, from: Bound<u64>, to: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(from, to)
    }
}
