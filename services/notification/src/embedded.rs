//! Channels within another service, whose gates see the events of suppliers first.
//!
//! A store keeps such a channel and its properties, whatever its reliability is: the other service finds it by its id after
//! a restart. EventReliability Persistent is not supported, as the gate may make events durable.

use std::sync::Arc;

use punctual::Any;

use crate::channel::{Channel, Properties, Unsupported};
use crate::cos_notification::Property;
use crate::cos_notify_channel_admin::{
    ChannelId, ConsumerAdminServant, EventChannel, EventChannelServant,
};
use crate::cos_notify_filter::Filter;
use crate::factory::Channels;
use crate::filter::EventFilter;
use crate::gate::{Embedding, Gate};
use crate::refusal::Refusal;

/// Channels of another service. Clones are the same channels.
#[derive(Clone, Debug)]
pub struct EmbeddedChannels(Arc<Channels>);

/// Channel of another service. It does not end when this is dropped.
#[derive(Clone)]
pub struct EmbeddedChannel(Arc<Channel>);

impl std::fmt::Debug for EmbeddedChannel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedChannel")
            .field("id", &self.0.id)
            .finish_non_exhaustive()
    }
}

impl EmbeddedChannels {
    pub(crate) fn new(channels: Arc<Channels>) -> Self {
        Self(channels)
    }

    /// Reads the properties that a client asks for.
    ///
    /// # Errors
    /// Those that are wrong.
    pub fn properties(
        &self,
        quality: &[Property],
        administration: &[Property],
    ) -> Result<Properties, Unsupported> {
        Properties::of(&self.0.common, quality, administration)
    }

    /// Makes a channel, durably, and returns its id. It takes no events before it is open. Blocks.
    ///
    /// # Errors
    /// There are as many as may be; it cannot be stored.
    pub fn make(&self, properties: Properties) -> Result<ChannelId, Refusal> {
        Ok(self.0.add(properties, |_| Ok(()))?.1)
    }

    /// Opens a channel, once. `reference` is the object that is the channel for clients; without one, the channel gets an
    /// object of its own, which clients cannot destroy.
    ///
    /// # Errors
    /// There is no such channel; it is open already; a reference cannot be made.
    pub fn open(
        &self,
        id: ChannelId,
        gate: Arc<dyn Gate>,
        reference: Option<EventChannel>,
    ) -> Result<EmbeddedChannel, Refusal> {
        let channel = self.0.channel(id).ok_or(Refusal::Destroyed("channel"))?;
        channel.open(Embedding { gate, reference })?;
        Ok(EmbeddedChannel(channel))
    }

    /// Ends a channel and its connections, durably. Blocks.
    ///
    /// # Errors
    /// There is no such channel. Its end cannot be stored: it has ended, and stays in the store up to the next start.
    pub fn remove(&self, id: ChannelId) -> Result<(), Refusal> {
        let channel = self.0.channel(id).ok_or(Refusal::Destroyed("channel"))?;
        let stored = channel.prepare_end();
        channel.leave();
        stored
    }

    /// Returns the filter that a reference leads to.
    ///
    /// # Errors
    /// It is not of this service, or has been destroyed.
    pub fn filter(&self, reference: &Filter) -> Result<EventFilter, Refusal> {
        self.0.filters().external(reference)
    }
}

impl EmbeddedChannel {
    /// Returns the id of the channel.
    #[must_use]
    pub fn id(&self) -> ChannelId {
        self.0.id
    }

    /// Returns the properties of the channel.
    #[must_use]
    pub fn properties(&self) -> Properties {
        self.0.properties()
    }

    /// Returns the operations of the channel.
    #[must_use]
    pub fn operations(&self) -> &dyn EventChannelServant {
        &*self.0
    }

    /// Returns the operations of the default administrator of consumers.
    ///
    /// # Errors
    /// The channel has been destroyed.
    pub fn consumers(&self) -> Result<Arc<dyn ConsumerAdminServant>, Refusal> {
        Ok(self.0.default_consumer_operations()?)
    }

    /// Passes an event on to all consumers that it is for, without asking the gate. Does not wait for any of them.
    ///
    /// # Errors
    /// The event is too large; the channel is full, or has been destroyed.
    pub fn deliver(&self, event: &Any) -> Result<(), Refusal> {
        self.0.deliver(event)
    }
}
