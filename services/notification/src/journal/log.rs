//! The log of one channel.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual_durable::{DurableError, EventLog, InvalidName, Name, Reader};

use super::encoding::encoded;
use super::fence::Fence;
use crate::event::Event;
use crate::qos::Terms;
use crate::refusal::Refusal;

/// Log of a channel, until the channel ends.
#[derive(Debug)]
pub(crate) struct ChannelLog {
    log: Mutex<Option<Arc<dyn EventLog>>>,
    fence: Fence,
}

impl ChannelLog {
    pub(super) fn new(log: Arc<dyn EventLog>, fence: Fence) -> Self {
        Self {
            log: Mutex::new(Some(log)),
            fence,
        }
    }

    fn open(&self) -> Result<Arc<dyn EventLog>, Refusal> {
        self.log.lock().clone().ok_or(Refusal::Destroyed("channel"))
    }

    /// Appends events, and returns when they are durable. Blocks; other requests of the same connection go on.
    ///
    /// # Errors
    /// The log is full, or the store fails. JetStream may have stored the first events.
    pub(crate) fn append(&self, events: &[&Event], terms: &Terms) -> Result<(), Refusal> {
        let encoded = events.iter().map(|event| encoded(event, terms));
        let encoded = encoded.collect::<Result<Vec<_>, _>>();
        let encoded = encoded.map_err(DurableError::Store)?;
        let log = self.open()?;
        punctual::about_to_block();
        log.append(encoded)?;
        Ok(())
    }

    /// Opens the reader of the proxy with a number. Blocks.
    ///
    /// # Errors
    /// The store fails; the channel has ended.
    pub(crate) fn open_reader(&self, proxy: u64) -> Result<Arc<dyn Reader>, Refusal> {
        punctual::about_to_block();
        Ok(self.open()?.open_reader(&reader(proxy)?)?)
    }

    /// Removes the reader of the proxy with a number, unless the channel has ended, with whose log it goes. Blocks. One that
    /// cannot be removed is removed at the next start; until then the log keeps events for it.
    pub(crate) fn remove_reader(&self, proxy: u64) {
        let Ok(log) = self.open() else {
            return;
        };
        let removed = self.fence.check().and_then(|()| reader(proxy));
        let removed = removed.map(|name| log.remove_reader(&name));
        match removed {
            Ok(Ok(_) | Err(DurableError::Removed(_))) => {}
            Ok(Err(error)) => tracing::warn!("reader {proxy} of a log is not removed: {error}"),
            Err(refusal) => tracing::warn!("reader {proxy} of a log is not removed: {refusal}"),
        }
    }

    /// Removes all readers but those of the proxies with these numbers. Blocks.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) fn keep_readers(&self, proxies: &HashSet<u64>) -> Result<(), Refusal> {
        let log = self.open()?;
        let is_kept = |name: &Name| {
            name.as_str()
                .parse()
                .is_ok_and(|one| proxies.contains(&one))
        };
        for lone in log.reader_names()?.iter().filter(|name| !is_kept(name)) {
            self.fence.check()?;
            log.remove_reader(lone)?;
        }
        Ok(())
    }

    /// Closes the log: nothing is appended any more.
    pub(crate) fn close(&self) {
        let log = self.log.lock().take();
        drop(log);
    }
}

fn reader(proxy: u64) -> Result<Name, Refusal> {
    name(&proxy.to_string())
}

/// Returns a text as the name of a log or a reader.
pub(super) fn name(text: &str) -> Result<Name, Refusal> {
    text.parse()
        .map_err(|error: InvalidName| Refusal::NoResources(error.to_string()))
}
