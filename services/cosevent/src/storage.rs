//! Channels and connections in a file: a service that is started again has the same ones.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | number | channel that a client has created |
//! | `typed_channels` | number | typed channel that a client has created |
//! | `connections` | number of the proxy | connected proxy |
//! | `interfaces` | number of the proxy | interface of a connected proxy that is typed |
//! | `runs` | 0 | number of times that the service was served |
//!
//! Events are not kept.

use std::collections::HashMap;

use punctual_host::store::{Batch, Cdr, ChangeStore, Records, StoreError, StoreFile, StoreKind};

use crate::kept::{Channel, Connection, EventInterface};

const CHANNELS: Records<u64, Cdr<Channel>> = Records::named("channels");
const TYPED_CHANNELS: Records<u64, Cdr<Channel>> = Records::named("typed_channels");
const CONNECTIONS: Records<u64, Cdr<Connection>> = Records::named("connections");
const INTERFACES: Records<u64, Cdr<EventInterface>> = Records::named("interfaces");

/// Name and format of the store.
pub(crate) const KIND: StoreKind = StoreKind::new("cosevent", 1);

/// Store file of an event service.
pub(crate) type Storage = ChangeStore<Change>;

/// Change of one record; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Channel, and whether it is typed.
    Channel(u64, Option<(Channel, bool)>),
    /// Connected proxy, and its interface if it is typed.
    Connection(u64, Option<(Connection, Option<EventInterface>)>),
}

impl punctual_host::store::Change for Change {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        let mut channels = batch.records(CHANNELS)?;
        let mut typed_channels = batch.records(TYPED_CHANNELS)?;
        let mut connections = batch.records(CONNECTIONS)?;
        let mut interfaces = batch.records(INTERFACES)?;
        changes.try_for_each(|change| match change {
            Self::Channel(number, record) => {
                let record = |of_typed| {
                    let record = record
                        .as_ref()
                        .filter(|(_, is_typed)| *is_typed == of_typed);
                    record.map(|(channel, _)| channel)
                };
                channels.set(*number, record(false))?;
                typed_channels.set(*number, record(true))
            }
            Self::Connection(number, record) => {
                let record = record.as_ref();
                connections.set(*number, record.map(|(connection, _)| connection))?;
                interfaces.set(
                    *number,
                    record.and_then(|(_, interface)| interface.as_ref()),
                )
            }
        })
    }
}

/// All records of a store.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<(u64, Channel)>,
    pub(crate) typed_channels: Vec<(u64, Channel)>,
    pub(crate) connections: Vec<(u64, Connection)>,
    /// Interfaces of typed proxies, by the proxies' numbers.
    pub(crate) interfaces: HashMap<u64, EventInterface>,
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
                typed_channels: TYPED_CHANNELS.entries(transaction)?,
                connections: CONNECTIONS.entries(transaction)?,
                interfaces: INTERFACES.entries(transaction)?.into_iter().collect(),
            })
        })
    }
}
