//! Channels and connections in a file: a service that is started again has the same ones.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | number | channel that a client has created |
//! | `connections` | number of the proxy | connected proxy |
//! | `runs` | 0 | number of times that the service was served |
//!
//! Events are not kept.

use std::path::Path;

use punctual_host::commit::Commits;
use punctual_host::metrics::Timed;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::{Cdr, Records, StoreError, StoreFile, StoreKind};

use crate::kept::{Channel, Connection};
use crate::refusal::Refusal;

const CHANNELS: Records<u64, Cdr<Channel>> = Records::named("channels");
const CONNECTIONS: Records<u64, Cdr<Connection>> = Records::named("connections");
const RUNS: Records<u64, Cdr<u64>> = Records::named("runs");

/// Bits of the numbers that one run gives to channels and proxies.
const OF_ONE_RUN: u32 = 32;

/// Name and format of the store.
const KIND: StoreKind = StoreKind::new("cosevent", 1);

/// Store file of an event service.
#[derive(Debug)]
pub(crate) struct Storage {
    file: StoreFile,
    commits: Commits<Change, Result<(), Refusal>>,
    times: Timed,
}

/// Change of one record; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Channel(u64, Option<Channel>),
    Connection(u64, Option<Connection>),
}

/// All records of a store.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<(u64, Channel)>,
    pub(crate) connections: Vec<(u64, Connection)>,
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
        let mut kept = Kept::default();
        self.file.read(|transaction| {
            CHANNELS.read(transaction, |number, Cdr(channel)| {
                kept.channels.push((number, channel));
                Ok(())
            })?;
            CONNECTIONS.read(transaction, |number, Cdr(connection)| {
                kept.connections.push((number, connection));
                Ok(())
            })
        })?;
        Ok(kept)
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

    /// Makes a change, together with those of other callers, and returns when it is durable.
    ///
    /// # Errors
    /// The change cannot be written; then nothing has changed.
    pub(crate) fn change(&self, change: Change) -> Result<(), Refusal> {
        let lost = || Err(Refusal::Storage("the commit has failed".to_owned()));
        let commit = |changes: Vec<Change>| self.commit(&changes);
        self.commits.submit(change, commit, lost)
    }

    fn commit(&self, changes: &[Change]) -> Vec<Result<(), Refusal>> {
        let written = self.times.count(|| self.write(changes));
        let outcome = written.map_err(|error| {
            tracing::error!("changes of the event service are refused: {error}");
            Refusal::Storage(error.to_string())
        });
        vec![outcome; changes.len()]
    }

    fn write(&self, changes: &[Change]) -> Result<(), StoreError> {
        self.file.commit(|batch| {
            let mut channels = batch.records(CHANNELS)?;
            let mut connections = batch.records(CONNECTIONS)?;
            for change in changes {
                match change {
                    Change::Channel(number, Some(one)) => {
                        channels.put(*number, &Cdr(one.clone()))?;
                    }
                    Change::Channel(number, None) => channels.remove(*number)?,
                    Change::Connection(number, Some(one)) => {
                        connections.put(*number, &Cdr(one.clone()))?;
                    }
                    Change::Connection(number, None) => connections.remove(*number)?,
                }
            }
            Ok(())
        })
    }
}
