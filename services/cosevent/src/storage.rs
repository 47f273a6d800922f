//! Channels and connections in a file: a service that is started again has the same ones.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | number | channel that a client has created |
//! | `connections` | number of the proxy | connected proxy |
//! | `runs` | 0 | number of times that the service was served |
//!
//! Events are not kept.

use punctual_host::store::{Batch, Cdr, ChangeStore, Records, StoreError, StoreFile, StoreKind};

use crate::kept::{Channel, Connection};

const CHANNELS: Records<u64, Cdr<Channel>> = Records::named("channels");
const CONNECTIONS: Records<u64, Cdr<Connection>> = Records::named("connections");

/// Name and format of the store.
pub(crate) const KIND: StoreKind = StoreKind::new("cosevent", 1);

/// Store file of an event service.
pub(crate) type Storage = ChangeStore<Change>;

/// Change of one record; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Channel(u64, Option<Channel>),
    Connection(u64, Option<Connection>),
}

impl punctual_host::store::Change for Change {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        let mut channels = batch.records(CHANNELS)?;
        let mut connections = batch.records(CONNECTIONS)?;
        changes.try_for_each(|change| match change {
            Self::Channel(number, record) => channels.set(*number, record.as_ref()),
            Self::Connection(number, record) => connections.set(*number, record.as_ref()),
        })
    }
}

/// All records of a store.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<(u64, Channel)>,
    pub(crate) connections: Vec<(u64, Connection)>,
}

impl Kept {
    /// Reads all records.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: &StoreFile) -> Result<Self, StoreError> {
        file.read(|transaction| {
            Ok(Self {
                channels: CHANNELS.entries(transaction)?,
                connections: CONNECTIONS.entries(transaction)?,
            })
        })
    }
}
