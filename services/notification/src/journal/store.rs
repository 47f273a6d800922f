//! The logs of all channels of a service.
//!
//! The name of a log is made of the identity of the service's store and the number of the channel, so that services may
//! share the servers that have their logs.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual_durable::{EventStore, LogSettings, Name, Quota};
use punctual_host::Turn;

use super::fence::Fence;
use super::log::{ChannelLog, name};
use crate::limits::Limits;
use crate::refusal::Refusal;

/// Store of the events of all channels, until the service stops.
#[derive(Debug)]
pub(crate) struct Journal {
    store: Mutex<Option<Arc<dyn EventStore>>>,
    /// First part of the names of this service's logs.
    prefix: String,
    quota: Quota,
    fence: Fence,
}

/// Returns the first part of the names of the logs of a service with an identity.
pub(super) fn prefix(identity: u64) -> String {
    format!("n{identity:016x}-")
}

impl Journal {
    /// Makes the journal of the service with an identity.
    pub(crate) fn new(
        store: Arc<dyn EventStore>,
        identity: u64,
        limits: &Limits,
        turn: Option<Arc<dyn Turn>>,
    ) -> Self {
        Self {
            fence: Fence(turn),
            store: Mutex::new(Some(store)),
            prefix: prefix(identity),
            quota: Quota {
                events: limits.log_events as u64,
                bytes: limits.log_bytes as u64,
                ..Quota::default()
            },
        }
    }

    /// Returns whether several servers have the service.
    pub(crate) fn is_shared(&self) -> bool {
        self.fence.is_there()
    }

    fn store(&self) -> Result<Arc<dyn EventStore>, Refusal> {
        self.store.lock().clone().ok_or(Refusal::Ending)
    }

    fn name(&self, channel: u64) -> Result<Name, Refusal> {
        name(&format!("{}{channel}", self.prefix))
    }

    /// Opens the log of the channel with a number, which is created if need be. Blocks.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) fn open(&self, channel: u64) -> Result<ChannelLog, Refusal> {
        let settings = LogSettings {
            quota: self.quota,
            ..LogSettings::default()
        };
        punctual::about_to_block();
        let log = self.store()?.open_log(&self.name(channel)?, settings)?;
        Ok(ChannelLog::new(log, self.fence.clone()))
    }

    /// Returns whether the channel with a number has a log.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) fn has(&self, channel: u64) -> Result<bool, Refusal> {
        let name = self.name(channel)?;
        Ok(self.store()?.log_names()?.contains(&name))
    }

    /// Removes the log of the channel with a number. Blocks. One that cannot be removed is removed at the next start.
    pub(crate) fn remove(&self, channel: u64) {
        punctual::about_to_block();
        let removed = self.name(channel).and_then(|name| {
            self.fence.check()?;
            let store = self.store()?;
            Ok(store.remove_log(&name)?)
        });
        if let Err(error) = removed {
            tracing::warn!("the log of channel {channel} is not removed: {error}");
        }
    }

    /// Removes the logs of this service but those of the channels with these numbers. Blocks.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) fn keep(&self, channels: &HashSet<u64>) -> Result<(), Refusal> {
        let store = self.store()?;
        for name in store.log_names()? {
            let number = name.as_str().strip_prefix(&self.prefix);
            let Some(number) = number.and_then(|number| number.parse().ok()) else {
                continue;
            };
            if !channels.contains(&number) {
                self.fence.check()?;
                store.remove_log(&name)?;
            }
        }
        Ok(())
    }

    /// Closes the store, once the last acknowledgements are stored.
    pub(crate) fn close(&self) {
        let store = self.store.lock().take();
        drop(store);
    }
}
