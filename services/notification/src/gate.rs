//! Gates: another service sees the events of suppliers before consumers get them.

use std::sync::Arc;

use punctual::{Any, SystemException};

use crate::cos_notify_channel_admin::EventChannel;
use crate::event::Event;
use crate::filter::EventFilter;

/// Gate of a channel that is a part of another service.
pub trait Gate: Send + Sync {
    /// Takes events that a supplier supplied together and that the filters of its proxy let in, and returns whether consumers
    /// get them. May block.
    ///
    /// # Errors
    /// The exception that a supplier that pushes gets; then no consumer gets the events. The gate sees events that were pulled
    /// again after PERSIST_STORE and TRANSIENT; after other exceptions they are lost.
    fn pass(&self, events: &[Incoming<'_>]) -> Result<bool, SystemException>;
}

/// Gate of a channel, and the object of another service that it is.
pub(crate) struct Embedding {
    pub(crate) gate: Arc<dyn Gate>,
    /// Object of the other service that is the channel for clients.
    pub(crate) reference: Option<EventChannel>,
}

/// Event of a supplier, as a gate sees it.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'e>(&'e Event);

impl<'e> Incoming<'e> {
    pub(crate) fn new(event: &'e Event) -> Self {
        Self(event)
    }

    /// Returns the event as an Any, with a `CosNotification::StructuredEvent` in it if it is a structured event. Encodes one
    /// each time.
    #[must_use]
    pub fn to_any(&self) -> Any {
        self.0.to_any()
    }

    /// Returns whether a filter lets the event through.
    #[must_use]
    pub fn meets(&self, filter: &EventFilter) -> bool {
        filter.lets_through(self.0)
    }
}
