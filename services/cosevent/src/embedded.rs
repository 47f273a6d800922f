//! Channels within another service, which looks at their events. They end with the process.

use std::sync::Arc;

use punctual::Any;

use crate::channel::Channel;
use crate::channels::Channels;
use crate::cos_event_channel_admin::{
    ConsumerAdmin, ProxyPullSupplier, ProxyPushSupplier, SupplierAdmin,
};
use crate::event::EventData;
use crate::gate::Gate;
use crate::obtain;
use crate::refusal::Refusal;

/// Channel of another service. It ends when this is dropped.
#[derive(Debug)]
pub struct EmbeddedChannel {
    channels: Arc<Channels>,
    number: u64,
    consumers: ConsumerAdmin,
    suppliers: SupplierAdmin,
}

impl EmbeddedChannel {
    pub(crate) fn new(channels: &Arc<Channels>, gate: Arc<dyn Gate>) -> Result<Self, Refusal> {
        let number = channels.make_gated(gate)?;
        let administrators = channels.administrators(number);
        let (consumers, suppliers) = administrators.inspect_err(|_| channels.remove(number))?;
        Ok(Self {
            channels: channels.clone(),
            number,
            consumers,
            suppliers,
        })
    }

    /// Returns the administrator of the channel's consumers.
    #[must_use]
    pub fn for_consumers(&self) -> ConsumerAdmin {
        self.consumers.clone()
    }

    /// Returns the administrator of the channel's suppliers.
    #[must_use]
    pub fn for_suppliers(&self) -> SupplierAdmin {
        self.suppliers.clone()
    }

    /// Makes a proxy for a consumer that is pushed to.
    ///
    /// # Errors
    /// The channel has as many proxies as it may have.
    pub fn obtain_push_supplier(&self) -> Result<ProxyPushSupplier, Refusal> {
        obtain::push_supplier(&self.channel()?)
    }

    /// Makes a proxy for a consumer that pulls.
    ///
    /// # Errors
    /// The channel has as many proxies as it may have.
    pub fn obtain_pull_supplier(&self) -> Result<ProxyPullSupplier, Refusal> {
        obtain::pull_supplier(&self.channel()?)
    }

    fn channel(&self) -> Result<Arc<Channel>, Refusal> {
        self.channels.get(self.number).ok_or(Refusal::Destroyed)
    }

    /// Passes an event on to all consumers, without asking the gate. Does not wait for any of them.
    pub fn deliver(&self, event: Any) {
        if let Ok(channel) = self.channel() {
            // Fails only if the channel ends meanwhile.
            let _ = channel.deliver(EventData::new(event));
        }
    }
}

impl Drop for EmbeddedChannel {
    fn drop(&mut self) {
        self.channels.remove(self.number);
    }
}
