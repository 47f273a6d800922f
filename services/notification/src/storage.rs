//! Channels, administrators, proxies and filters in a file: a service that is started again has the same ones.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | number | channel whose connections are persistent |
//! | `administrators` | number | administrator whose connections are persistent, or default one of such a channel |
//! | `proxies` | number | connected proxy whose connection is persistent |
//! | `filters` | number | filter or mapping filter |
//! | `names` | number | name of a channel or administrator |
//! | `runs` | 0 | number of times that the service was served |
//!
//! A record whose channel or administrator has none counts for nothing, and is removed at the next start.

use std::path::Path;

use punctual_host::commit::Commits;
use punctual_host::metrics::Timed;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{Cdr, Record, Records, StoreError, StoreFile, StoreKind, Table};

use crate::kept::{Admin, Channel, Filter, Proxy};
use crate::refusal::Refusal;

const CHANNELS: Records<u64, Cdr<Channel>> = Records::named("channels");
const ADMINS: Records<u64, Cdr<Admin>> = Records::named("administrators");
const PROXIES: Records<u64, Cdr<Proxy>> = Records::named("proxies");
const FILTERS: Records<u64, Cdr<Filter>> = Records::named("filters");
const NAMES: Records<u64, Cdr<String>> = Records::named("names");
const RUNS: Records<u64, Cdr<u64>> = Records::named("runs");

/// Bits of the numbers that one run gives to objects.
const OF_ONE_RUN: u32 = 32;

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("notification", 1);

/// Store file of a notification service.
#[derive(Debug)]
pub(crate) struct Storage {
    file: StoreFile,
    commits: Commits<Vec<Change>, Result<(), Refusal>>,
    times: Timed,
}

/// Change of the record with a number; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Channel(u64, Option<Channel>),
    Admin(u64, Option<Admin>),
    Proxy(u64, Option<Proxy>),
    Filter(u64, Option<Filter>),
    Name(u64, Option<String>),
}

/// All records of a store, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<(u64, Channel)>,
    pub(crate) admins: Vec<(u64, Admin)>,
    pub(crate) proxies: Vec<(u64, Proxy)>,
    pub(crate) filters: Vec<(u64, Filter)>,
    pub(crate) names: Vec<(u64, String)>,
}

impl Storage {
    /// Opens a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::of(StoreFile::open(path, KIND)?))
    }

    /// Opens a file on a disk with injected faults.
    #[cfg(feature = "faults")]
    pub(crate) fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, StoreError> {
        Ok(Self::of(StoreFile::open_with_faults(path, KIND, faults)?))
    }

    fn of(file: StoreFile) -> Self {
        Self {
            file,
            commits: Commits::new(),
            times: Timed::default(),
        }
    }

    pub(crate) fn identity(&self) -> u64 {
        self.file.identity()
    }

    /// Returns the number of bytes of the file.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.file.bytes()
    }

    /// Returns the durations of commits.
    pub(crate) fn times(&self) -> &Timed {
        &self.times
    }

    /// Returns unused pages of the file to the file system.
    pub(crate) fn compact(&self) -> Result<bool, StoreError> {
        self.file.compact()
    }

    /// Reads all records.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(&self) -> Result<Kept, StoreError> {
        self.file.read(|transaction| {
            let mut kept = Kept::default();
            CHANNELS.read(transaction, into(&mut kept.channels))?;
            ADMINS.read(transaction, into(&mut kept.admins))?;
            PROXIES.read(transaction, into(&mut kept.proxies))?;
            FILTERS.read(transaction, into(&mut kept.filters))?;
            NAMES.read(transaction, into(&mut kept.names))?;
            Ok(kept)
        })
    }

    /// Begins a run; returns the first of its numbers, which no run before has given.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn first_number(&self) -> Result<u64, StoreError> {
        let runs = self.file.read(|transaction| RUNS.values(transaction))?;
        let run = runs.first().map_or(1, |Cdr(run)| run.saturating_add(1));
        self.file.commit(|batch| batch.put(RUNS, 0, &Cdr(run)))?;
        Ok(run << OF_ONE_RUN)
    }

    /// Makes changes, all or none, together with those of other callers, and returns when they are durable.
    ///
    /// # Errors
    /// The changes cannot be written; then nothing has changed.
    pub(crate) fn change(&self, changes: Vec<Change>) -> Result<(), Refusal> {
        let lost = || Err(Refusal::Storage("the commit has failed".to_owned()));
        let commit = |all: Vec<Vec<Change>>| self.commit(&all);
        self.commits.submit(changes, commit, lost)
    }

    fn commit(&self, all: &[Vec<Change>]) -> Vec<Result<(), Refusal>> {
        let changes = all.iter().flatten();
        let written = self.times.count(|| self.write(changes));
        let outcome = written.map_err(|error| {
            tracing::error!("changes of the notification service are refused: {error}");
            Refusal::Storage(error.to_string())
        });
        vec![outcome; all.len()]
    }

    fn write<'c>(&self, mut changes: impl Iterator<Item = &'c Change>) -> Result<(), StoreError> {
        self.file.commit(|batch| {
            let mut channels = batch.records(CHANNELS)?;
            let mut admins = batch.records(ADMINS)?;
            let mut proxies = batch.records(PROXIES)?;
            let mut filters = batch.records(FILTERS)?;
            let mut names = batch.records(NAMES)?;
            changes.try_for_each(|change| match change {
                Change::Channel(number, record) => set(&mut channels, *number, record),
                Change::Admin(number, record) => set(&mut admins, *number, record),
                Change::Proxy(number, record) => set(&mut proxies, *number, record),
                Change::Filter(number, record) => set(&mut filters, *number, record),
                Change::Name(number, name) => set(&mut names, *number, name),
            })
        })
    }
}

/// Returns a function that appends records to a list.
fn into<R>(list: &mut Vec<(u64, R)>) -> impl FnMut(u64, Cdr<R>) -> Result<(), StoreError> + '_ {
    |number, Cdr(record)| {
        list.push((number, record));
        Ok(())
    }
}

/// Writes the record of a number, or removes it.
fn set<R: Clone>(
    table: &mut Table<'_, u64, &'static [u8]>,
    number: u64,
    record: &Option<R>,
) -> Result<(), StoreError>
where
    Cdr<R>: Record,
{
    match record {
        Some(record) => table.put(number, &Cdr(record.clone())),
        None => table.remove(number),
    }
}
