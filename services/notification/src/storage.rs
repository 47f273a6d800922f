//! Channels, administrators, proxies and filters in a file: a service that is started again has the same ones.
//!
//! | table | key | value |
//! |---|---|---|
//! | `channels` | number | channel whose connections are persistent |
//! | `administrators` | number | administrator whose connections are persistent, or default one of such a channel |
//! | `proxies` | number | connected proxy whose connection is persistent |
//! | `filters` | number | filter or mapping filter |
//! | `callbacks` | number | callback of a filter |
//! | `names` | number | name of a channel or administrator |
//! | `reconnections` | id | reference to a callback that is called after a restart |
//! | `runs` | 0 | number of times that the service was served |
//!
//! A record whose channel or administrator has none counts for nothing, and is removed at the next start.

use std::collections::HashSet;

use punctual_host::store::{Batch, Cdr, ChangeStore, Records, StoreError, StoreFile, StoreKind};

use crate::cos_notify_channel_admin::ChannelId;
use crate::kept::{Admin, Callback, Channel, Filter, Proxy};

const CHANNELS: Records<u64, Cdr<Channel>> = Records::named("channels");
const ADMINS: Records<u64, Cdr<Admin>> = Records::named("administrators");
const PROXIES: Records<u64, Cdr<Proxy>> = Records::named("proxies");
const FILTERS: Records<u64, Cdr<Filter>> = Records::named("filters");
const CALLBACKS: Records<u64, Cdr<Callback>> = Records::named("callbacks");
const NAMES: Records<u64, Cdr<String>> = Records::named("names");
const RECONNECTIONS: Records<u64, Cdr<String>> = Records::named("reconnections");

/// Name and format of the store.
pub(crate) const KIND: StoreKind = StoreKind::new("notification", 1);

/// Store file of a notification service.
pub(crate) type Storage = ChangeStore<Change>;

/// Change of the record with a number; `None` removes it.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Channel(u64, Option<Channel>),
    Admin(u64, Option<Admin>),
    Proxy(u64, Option<Proxy>),
    Filter(u64, Option<Filter>),
    Callback(u64, Option<Callback>),
    Name(u64, Option<String>),
    Reconnection(u64, Option<String>),
}

impl punctual_host::store::Change for Change {
    fn write<'c>(
        mut changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError> {
        let mut channels = batch.records(CHANNELS)?;
        let mut admins = batch.records(ADMINS)?;
        let mut proxies = batch.records(PROXIES)?;
        let mut filters = batch.records(FILTERS)?;
        let mut callbacks = batch.records(CALLBACKS)?;
        let mut names = batch.records(NAMES)?;
        let mut reconnections = batch.records(RECONNECTIONS)?;
        changes.try_for_each(|change| match change {
            Self::Channel(number, record) => channels.set(*number, record.as_ref()),
            Self::Admin(number, record) => admins.set(*number, record.as_ref()),
            Self::Proxy(number, record) => proxies.set(*number, record.as_ref()),
            Self::Filter(number, record) => filters.set(*number, record.as_ref()),
            Self::Callback(number, record) => callbacks.set(*number, record.as_ref()),
            Self::Name(number, name) => names.set(*number, name.as_ref()),
            Self::Reconnection(id, text) => reconnections.set(*id, text.as_ref()),
        })
    }
}

/// All records of a store, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<(u64, Channel)>,
    pub(crate) admins: Vec<(u64, Admin)>,
    pub(crate) proxies: Vec<(u64, Proxy)>,
    pub(crate) filters: Vec<(u64, Filter)>,
    pub(crate) callbacks: Vec<(u64, Callback)>,
    pub(crate) names: Vec<(u64, String)>,
    pub(crate) reconnections: Vec<(u64, String)>,
}

impl Kept {
    /// Leaves out all channels but those with some ids; returns the removals of the others.
    pub(crate) fn leave_out_channels_but(&mut self, ids: &[ChannelId]) -> Vec<Change> {
        let ids: HashSet<ChannelId> = ids.iter().copied().collect();
        let channels = std::mem::take(&mut self.channels);
        let (kept, others): (Vec<_>, Vec<_>) = channels
            .into_iter()
            .partition(|(_, channel)| ids.contains(&channel.id));
        self.channels = kept;
        let removals = others.into_iter();
        removals
            .map(|(number, _)| Change::Channel(number, None))
            .collect()
    }

    /// Reads all records.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(file: &StoreFile) -> Result<Self, StoreError> {
        file.read(|transaction| {
            Ok(Self {
                channels: CHANNELS.entries(transaction)?,
                admins: ADMINS.entries(transaction)?,
                proxies: PROXIES.entries(transaction)?,
                filters: FILTERS.entries(transaction)?,
                callbacks: CALLBACKS.entries(transaction)?,
                names: NAMES.entries(transaction)?,
                reconnections: RECONNECTIONS.entries(transaction)?,
            })
        })
    }
}
