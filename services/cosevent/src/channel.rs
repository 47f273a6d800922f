//! Channel: takes events of suppliers, and has them delivered to all consumers.
//!
//! Underneath are two channels of `punctual-rtevent`. One has a queue for each consumer that is pushed to, and threads that
//! push. The other calls the proxies of consumers that pull on the supplier's thread: they only put the event into their
//! queue, or answer a call that waits.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::Any;
use punctual_rtevent::{
    ChannelOptions, ConnectError, Consumer, ConsumerHandle, ConsumerId, Dispatching, Event, Filter,
    Header, Lost, Overflow, Publications, PushError, QueueOptions, Reports, Subscription,
    SupplierHandle,
};

use crate::common::Common;
use crate::criteria::Properties;
use crate::event::EventData;
use crate::gate::Gate;
use crate::limits::{Discard, Limits};
use crate::metrics::Metrics;
use crate::proxy::{Owner, Proxy};
use crate::refusal::Refusal;
use crate::typed::{Operations, id_of_object};

type Core = punctual_rtevent::Channel<EventData>;

/// Event channel, with its proxies.
pub(crate) struct Channel {
    pub(crate) common: Arc<Common>,
    /// Number of the channel; 0 is the default one.
    number: u64,
    properties: Properties,
    limits: Limits,
    /// Channel with the consumers that are pushed to.
    pushing: Core,
    /// Channel with the consumers that pull.
    pulling: Core,
    entrances: [SupplierHandle<EventData>; 2],
    gate: Option<Arc<dyn Gate>>,
    /// Operations whose calls are events, of a typed channel.
    operations: Operations,
    proxies: Mutex<Proxies>,
}

#[derive(Default)]
struct Proxies {
    by_number: HashMap<u64, Arc<dyn Proxy>>,
    is_destroyed: bool,
}

impl Channel {
    /// Makes a channel.
    ///
    /// # Errors
    /// A thread that the system refuses.
    pub(crate) fn new(
        common: Arc<Common>,
        number: u64,
        properties: Properties,
        gate: Option<Arc<dyn Gate>>,
    ) -> Result<Arc<Self>, Refusal> {
        let limits = properties.within(&common.limits);
        let options = |dispatching| ChannelOptions {
            dispatching,
            reports: Some(Arc::new(Counted(common.metrics.clone()))),
            most_consumers: limits.proxies,
            largest_event: usize::MAX,
            most_failures: limits.failures.max(1),
            ..ChannelOptions::default()
        };
        let made = |options| Core::new(options).map_err(|error| no_resources(&error));
        let pushing = made(options(Dispatching::Queued(common.dispatcher.clone())))?;
        let pulling = made(options(Dispatching::Reactive))?;
        let entrances = [entrance(&pushing)?, entrance(&pulling)?];
        Ok(Arc::new(Self {
            common,
            number,
            properties,
            limits,
            pushing,
            pulling,
            entrances,
            gate,
            operations: Operations::default(),
            proxies: Mutex::default(),
        }))
    }

    /// Returns the operations whose calls are events, of a typed channel.
    pub(crate) fn operations(&self) -> &Operations {
        &self.operations
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.properties
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn pull_interval(&self) -> Duration {
        self.limits.pull_interval
    }

    /// Returns whether another service looks at each event, which may block.
    pub(crate) fn has_gate(&self) -> bool {
        self.gate.is_some()
    }

    /// Passes an event of a supplier on to all consumers, unless the channel's gate keeps it. Does not wait for any of them.
    ///
    /// # Errors
    /// The event is too large; the gate has refused it; the channel has been destroyed.
    pub(crate) fn publish(&self, data: &Any) -> Result<(), Refusal> {
        let event = EventData::new(data.clone());
        let limit = self.limits.event_bytes;
        if event.bytes() > limit {
            let bytes = event.bytes();
            return Err(Refusal::EventTooLarge { bytes, limit });
        }
        self.common.metrics.received.add(1);
        let passes = match &self.gate {
            Some(gate) => gate.pass(data).map_err(Refusal::Gate)?,
            None => self.passes(data),
        };
        if !passes {
            self.common.metrics.filtered.add(1);
            return Ok(());
        }
        self.deliver(event)
    }

    /// Passes an event on to all consumers, without asking the gate.
    ///
    /// # Errors
    /// The channel has been destroyed.
    pub(crate) fn deliver(&self, event: EventData) -> Result<(), Refusal> {
        let code = self.operations.code_of(event.any().type_code());
        let event = [Event::new(Header::new(code, SOURCE), event)];
        for entrance in &self.entrances {
            entrance.push(&event).map_err(|error| match error {
                PushError::Disconnected => Refusal::Destroyed,
                other => no_resources(&other),
            })?;
        }
        Ok(())
    }

    /// Returns whether the channel passes on events of this type.
    fn passes(&self, data: &Any) -> bool {
        match &self.properties.filter_id {
            Some(id) => data.type_code().id().is_ok_and(|held| held == id),
            None => true,
        }
    }

    /// Connects a consumer to which the events that the filter accepts are pushed.
    ///
    /// # Errors
    /// The channel has no room for it, or has been destroyed.
    pub(crate) fn subscribe_push(
        &self,
        filter: Filter,
        consumer: Arc<dyn Consumer<EventData>>,
    ) -> Result<ConsumerHandle<EventData>, Refusal> {
        let queue = QueueOptions {
            events: self.limits.queue_events.max(1),
            bytes: self.limits.queue_bytes,
            // One call of `push` has one event.
            batch: 1,
            overflow: match self.limits.discard {
                Discard::Oldest => Overflow::DropOldest,
                Discard::Newest => Overflow::DropNewest,
            },
        };
        let subscription = Subscription::new(filter).queue(queue);
        let connected = self.pushing.connect_consumer(subscription, consumer);
        connected.map_err(|error| self.refused(&error))
    }

    /// Connects a consumer that pulls the events that the filter accepts: it is called on the threads of suppliers.
    ///
    /// # Errors
    /// The channel has no room for it, or has been destroyed.
    pub(crate) fn subscribe_pull(
        &self,
        filter: Filter,
        consumer: Arc<dyn Consumer<EventData>>,
    ) -> Result<ConsumerHandle<EventData>, Refusal> {
        let subscription = Subscription::new(filter);
        let connected = self.pulling.connect_consumer(subscription, consumer);
        connected.map_err(|error| self.refused(&error))
    }

    /// Adds a proxy.
    ///
    /// # Errors
    /// There are as many as may be; the channel has been destroyed.
    pub(crate) fn add(&self, number: u64, proxy: Arc<dyn Proxy>) -> Result<(), Refusal> {
        let mut proxies = self.proxies.lock();
        if proxies.is_destroyed {
            return Err(Refusal::Destroyed);
        }
        if proxies.by_number.len() >= self.limits.proxies {
            return Err(self.full());
        }
        proxies.by_number.insert(number, proxy);
        Ok(())
    }

    /// Returns all proxies at present.
    pub(crate) fn proxies(&self) -> Vec<Arc<dyn Proxy>> {
        self.proxies.lock().by_number.values().cloned().collect()
    }

    /// Returns the number of proxies.
    pub(crate) fn count(&self) -> usize {
        self.proxies.lock().by_number.len()
    }

    /// Ends all connections.
    pub(crate) fn disconnect_all(&self) {
        for proxy in self.proxies() {
            proxy.end();
        }
    }

    /// Ends all connections, and the channel.
    pub(crate) fn destroy(&self) {
        self.proxies.lock().is_destroyed = true;
        self.disconnect_all();
        self.pushing.destroy();
        self.pulling.destroy();
    }

    /// Drops all proxies without ending their connections, which stay in the store: the process ends.
    pub(crate) fn abandon(&self) {
        let proxies = {
            let mut proxies = self.proxies.lock();
            proxies.is_destroyed = true;
            std::mem::take(&mut proxies.by_number)
        };
        drop(proxies);
        self.pushing.destroy();
        self.pulling.destroy();
    }

    fn full(&self) -> Refusal {
        Refusal::Full {
            what: "proxies of the channel",
            option: "most-proxies",
            limit: self.limits.proxies,
        }
    }

    fn refused(&self, error: &ConnectError) -> Refusal {
        match error {
            ConnectError::Destroyed | ConnectError::Disconnected => Refusal::Destroyed,
            ConnectError::Full { .. } => self.full(),
            other => no_resources(other),
        }
    }
}

impl Owner for Channel {
    fn number(&self) -> u64 {
        self.number
    }

    fn remove(&self, number: u64) {
        let removed = self.proxies.lock().by_number.remove(&number);
        self.common.forget_connection(number);
        let id = self.common.objects.id_of(number);
        self.common.objects.remove(&id_of_object(&id));
        self.common.objects.remove(&id);
        // The proxy is dropped without the lock.
        drop(removed);
    }
}

/// Source of all events.
const SOURCE: i32 = 1;

fn entrance(channel: &Core) -> Result<SupplierHandle<EventData>, Refusal> {
    let supplier = channel.connect_supplier(Publications::default(), Arc::new(Entrance));
    supplier.map_err(|error| no_resources(&error))
}

fn no_resources(error: &dyn std::fmt::Display) -> Refusal {
    Refusal::NoResources(error.to_string())
}

/// Only supplier of the underlying real-time channel.
struct Entrance;

impl punctual_rtevent::Supplier for Entrance {}

/// Counts events that consumers do not receive.
struct Counted(Arc<Metrics>);

impl Reports for Counted {
    fn lost(&self, _: ConsumerId, cause: Lost, events: usize) {
        let count = match cause {
            Lost::Oldest | Lost::Newest => &self.0.discarded,
            _ => &self.0.undelivered,
        };
        count.add(events);
    }
}
