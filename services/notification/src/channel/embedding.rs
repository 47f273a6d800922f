//! A channel that is a part of another service, which sees the events of suppliers first.

use std::sync::Arc;

use punctual::Any;

use super::core::Channel;
use crate::admin::ConsumerAdmin;
use crate::cos_notify_channel_admin::EventChannel;
use crate::event::Event;
use crate::gate::{Embedding, Incoming};
use crate::group::DEFAULT;
use crate::hub::Hub;
use crate::refusal::Refusal;

impl Channel {
    /// Opens the channel to events of suppliers.
    ///
    /// # Errors
    /// It is open already; its own object, which it has without another, cannot be added.
    pub(crate) fn open(self: &Arc<Self>, embedding: Embedding) -> Result<(), Refusal> {
        if embedding.reference.is_none() {
            self.serve()?;
        }
        let twice = |_| Refusal::NoResources("the channel is open already".to_owned());
        self.embedding.set(embedding).map_err(twice)
    }

    /// Returns the object of another service that is the channel for clients.
    pub(super) fn embedded_as(&self) -> Option<EventChannel> {
        self.embedding.get()?.reference.clone()
    }

    /// Returns the default administrator of consumers.
    ///
    /// # Errors
    /// The channel has been destroyed.
    pub(crate) fn default_consumer_operations(&self) -> Result<Arc<ConsumerAdmin>, Refusal> {
        self.members
            .consumer_admin(DEFAULT)
            .ok_or(Refusal::Destroyed("channel"))
    }

    /// Shows events to the gate.
    ///
    /// # Errors
    /// The gate refuses them. It is not there yet, while connections of the run before supply events already.
    pub(super) fn passes_gate(&self, events: &[Event]) -> Result<bool, Refusal> {
        match self.embedding.get() {
            Some(embedding) => {
                let incoming: Vec<_> = events.iter().map(Incoming::new).collect();
                embedding.gate.pass(&incoming).map_err(Refusal::Gate)
            }
            None if self.common.is_embedded => {
                Err(Refusal::LogAway("the channel is not open yet".to_owned()))
            }
            None => Ok(true),
        }
    }

    /// Passes an event on to all consumers that it is for, without asking the gate. Does not wait for any of them.
    ///
    /// # Errors
    /// The event is too large; the channel is full, or has been destroyed.
    pub(crate) fn deliver(&self, event: &Any) -> Result<(), Refusal> {
        let event = Event::of_any(event);
        self.check_room(&event)?;
        self.publish(Arc::new(event));
        Ok(())
    }
}
