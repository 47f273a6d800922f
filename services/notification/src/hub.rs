//! A channel as its proxies and administrators see it, and these as the channel sees them.

use std::sync::Arc;

use punctual_constraint::Constraint;

use crate::common::Common;
use crate::cos_notification::EventType;
use crate::cos_notify_channel_admin::{
    AdminId, ChannelId, EventChannel, EventChannelFactory, ProxyId,
};
use crate::cos_notify_filter::FilterFactory;
use crate::event::Event;
use crate::filter::{Questions, Registry};
use crate::journal::ChannelLog;
use crate::limited::Limited;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::tally::Counts;
use crate::types::Types;

/// Channel.
pub(crate) trait Hub: Send + Sync {
    fn common(&self) -> &Arc<Common>;

    fn registry(&self) -> &Arc<Registry>;

    fn quality(&self) -> &Quality;

    /// Returns the channel's id.
    fn id(&self) -> ChannelId;

    /// Returns the number of the channel's object.
    fn number(&self) -> u64;

    /// Returns the counts of the channel's proxies.
    fn counts(&self) -> &Arc<Counts>;

    /// Returns the log of persistent events, if the channel was made with them.
    fn log(&self) -> Option<&ChannelLog>;

    /// Returns whether the store has the channel.
    fn is_kept(&self) -> bool;

    /// Returns the reference to the channel.
    ///
    /// # Errors
    /// It cannot be made.
    fn reference(&self) -> Result<EventChannel, Refusal>;

    /// Checks that the channel takes an event.
    ///
    /// # Errors
    /// The event is too large; the channel is full, and is to reject events then; it has been destroyed.
    fn check_room(&self, event: &Event) -> Result<(), Refusal>;

    /// Returns whether taking events may have to wait for a store.
    fn may_block(&self) -> bool;

    /// Shows events to the gate of the channel, if it has one; returns whether consumers get them. May block.
    ///
    /// # Errors
    /// The gate refuses them, or is not there yet.
    fn ask_gate(&self, events: &[Event]) -> Result<bool, Refusal>;

    /// Makes those of the events durable that are persistent. Blocks if there are any.
    ///
    /// # Errors
    /// The log is full, or its store fails.
    fn keep(&self, events: &mut [Event]) -> Result<(), Refusal>;

    /// Passes an event on to all consumers that it is for. Does not wait for any of them.
    fn publish(&self, event: Arc<Event>);

    /// Notes the types that a consumer subscribes to in place of others; `None` is one that is not connected.
    fn subscribe(&self, subscriber: &Arc<dyn Subscriber>, old: Option<&Types>, new: Option<&Types>);

    /// Notes the types that a supplier offers in place of others; `None` is one that is not connected.
    fn offer(&self, old: Option<&Types>, new: Option<&Types>);

    /// Returns the types that suppliers offer.
    fn offered(&self) -> Vec<EventType>;

    /// Returns the types that consumers subscribe to.
    fn subscribed(&self) -> Vec<EventType>;

    /// Returns MaxQueueLength; 0 is none.
    fn queue_length(&self) -> usize;

    /// Counts a proxy of a consumer.
    ///
    /// # Errors
    /// There are as many as MaxConsumers or the service allows.
    fn consumer_comes(&self) -> Result<(), Limited>;

    fn consumer_left(&self);

    /// Counts a proxy of a supplier.
    ///
    /// # Errors
    /// There are as many as MaxSuppliers or the service allows.
    fn supplier_comes(&self) -> Result<(), Limited>;

    fn supplier_left(&self);

    fn remove_consumer_admin(&self, id: AdminId);

    fn remove_supplier_admin(&self, id: AdminId);
}

/// Proxy of a consumer, as the channel has it in its index.
pub(crate) trait Subscriber: Send + Sync {
    /// Returns the number of the proxy's object.
    fn number(&self) -> u64;

    /// Returns constraints of which one has to be true for an event that the filters let through; `None` if they are not
    /// known.
    fn needs(&self) -> Option<Vec<Constraint>>;

    /// Takes an event, if the filters let it through. `verdicts` are those of administrators, which have many proxies.
    fn take(&self, event: &Arc<Event>, verdicts: &mut Verdicts);
}

/// Verdicts of the filters of administrators on one event, by the number of the administrator, and questions to foreign
/// filters.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    known: Vec<(u64, Option<bool>)>,
    pub(crate) questions: Questions,
}

impl Verdicts {
    /// Returns the verdict of an administrator, which is asked once.
    pub(crate) fn of(&mut self, number: u64, ask: impl FnOnce() -> Option<bool>) -> Option<bool> {
        if let Some((_, verdict)) = self.known.iter().find(|(known, _)| *known == number) {
            return *verdict;
        }
        let verdict = ask();
        self.known.push((number, verdict));
        verdict
    }
}

/// Administrator, as its proxies leave it.
pub(crate) trait Owner: Send + Sync {
    /// Removes a proxy that has ended; returns whether it was there.
    fn remove(&self, id: ProxyId) -> bool;
}

/// Service, as its channels see it.
pub(crate) trait Home: Send + Sync {
    /// Returns the numbers of the objects of all channels.
    fn numbers(&self) -> Vec<u64>;

    /// Removes a channel that is destroyed.
    fn remove(&self, id: ChannelId);

    /// Returns the reference to the factory of channels.
    ///
    /// # Errors
    /// It cannot be made.
    fn factory(&self) -> Result<EventChannelFactory, Refusal>;

    /// Returns the reference to the factory of filters.
    ///
    /// # Errors
    /// It cannot be made.
    fn filter_factory(&self) -> Result<FilterFactory, Refusal>;
}
