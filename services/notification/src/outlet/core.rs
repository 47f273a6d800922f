//! A consumer's proxy: which events it takes, and when its connection begins and ends.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use punctual_events::watch::Watched;

use super::delivery::Delivery;
use crate::client::Client;
use crate::cos_notification::{EventType, Property, UnsupportedQoS};
use crate::cos_notify_filter::MappingFilter;
use crate::event::Event;
use crate::filter::{Mapping, Mappings};
use crate::group::Group;
use crate::hub::{Owner, Subscriber, Verdicts};
use crate::proxy::Proxy;
use crate::queue::Entry;
use crate::refusal::Refusal;
use crate::types::{BadTypes, Types};

/// Proxy of a consumer.
pub(crate) struct Outlet {
    pub(crate) base: Proxy,
    pub(super) group: Arc<Group>,
    owner: Weak<dyn Owner>,
    pub(super) delivery: Mutex<Delivery>,
    pub(super) mappings: RwLock<Mappings>,
    /// Types under which the channel's index and census have the outlet, while it is connected.
    indexed: Mutex<Option<Types>>,
    pub(super) own: Weak<Self>,
}

impl Outlet {
    pub(crate) fn new(base: Proxy, group: Arc<Group>, owner: Weak<dyn Owner>) -> Arc<Self> {
        let delivery = Delivery::new(&base.common.limits, &base.quality.terms());
        Arc::new_cyclic(|own| Self {
            base,
            group,
            owner,
            delivery: Mutex::new(delivery),
            mappings: RwLock::default(),
            indexed: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Connects the consumer: events are for it from now on.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(super) fn connect(&self, client: Option<Client>) -> Result<(), Refusal> {
        self.base.connection.connect(client)?;
        self.retype();
        Ok(())
    }

    /// Takes an event for the consumer. Does not block.
    fn offer(&self, event: &Arc<Event>) {
        let start_in = event.terms().start_in.filter(|time| !time.is_zero());
        let terms = self.delivery.lock().terms;
        match start_in.filter(|_| terms.has_start_times) {
            Some(time) => self.offer_after(time, event.clone()),
            None => self.offer_now(event),
        }
    }

    fn offer_after(&self, time: Duration, event: Arc<Event>) {
        if !self.delivery.lock().hold() {
            return self.base.common.metrics.discarded.add(1);
        }
        let own = self.own.clone();
        self.base.common.timetable.after(time, move || {
            if let Some(own) = own.upgrade() {
                own.delivery.lock().release();
                own.offer_now(&event);
            }
        });
    }

    fn offer_now(&self, event: &Arc<Event>) {
        let entry = self.entry(event);
        let lost = self.delivery.lock().push(entry);
        match lost {
            Some(lost) => self.count(lost),
            None => return self.base.common.metrics.undelivered.add(1),
        }
        self.proceed();
    }

    pub(super) fn count(&self, lost: crate::queue::Lost) {
        let metrics = &self.base.common.metrics;
        if lost.discarded > 0 {
            metrics.discarded.add(lost.discarded);
        }
        if lost.expired > 0 {
            metrics.expired.add(lost.expired);
        }
    }

    /// Returns the event with its priority and the end of its life: as mapping filters say, or else the event, or else
    /// the proxy.
    fn entry(&self, event: &Arc<Event>) -> Entry<Arc<Event>> {
        let terms = self.delivery.lock().terms;
        let (mapped_priority, mapped_life) = self.mapped(event);
        let stated = event.terms();
        let priority = mapped_priority
            .or(stated.priority)
            .unwrap_or(terms.priority);
        let life = mapped_life.or(stated.timeout).unwrap_or(terms.timeout);
        let end_of_life = Some(life).filter(|life| !life.is_zero());
        let stop = stated.stop_in.filter(|_| terms.has_stop_times);
        let ends = end_of_life.into_iter().chain(stop).min();
        Entry {
            event: event.clone(),
            priority,
            ends: ends.and_then(|time| event.received().checked_add(time)),
            bytes: event.bytes(),
        }
    }

    /// Returns priority and life as the mapping filters of the proxy, or else of its administrator say.
    fn mapped(&self, event: &Event) -> (Option<i16>, Option<Duration>) {
        let (own, of_admin) = (self.mappings.read(), self.group.mappings.read());
        let priority = own.priority.as_ref().or(of_admin.priority.as_ref());
        let lifetime = own.lifetime.as_ref().or(of_admin.lifetime.as_ref());
        let value = |attached: Option<&(MappingFilter, Arc<Mapping>)>| {
            attached.map(|(_, mapping)| mapping.value_for(event))
        };
        let priority = value(priority).and_then(|any| any.extract().ok());
        let lifetime = value(lifetime).and_then(|any| any.extract().ok());
        (priority, lifetime.map(crate::qos::length))
    }

    /// Goes on with the delivery of events, if there are any.
    fn proceed(&self) {
        match self.base.style {
            crate::client::Style::Push => self.push_soon(),
            crate::client::Style::Pull => self.answer_calls(),
        }
    }

    /// Changes the types that the consumer subscribes to.
    ///
    /// # Errors
    /// They are wrong, or too many.
    pub(super) fn subscribe(
        &self,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), BadTypes> {
        self.base.change_types(added, removed)?;
        self.retype();
        Ok(())
    }

    /// Applies the types of the proxy, or else of its administrator.
    pub(crate) fn retype(&self) {
        let mut indexed = self.indexed.lock();
        let types = match self.base.types() {
            Types::All => self.group.types(),
            only => only,
        };
        let types = Some(types).filter(|_| self.base.connection.is_connected());
        if *indexed == types {
            return;
        }
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let old = std::mem::replace(&mut *indexed, types.clone());
        let own: Arc<dyn Subscriber> = own;
        self.group.hub.subscribe(&own, old.as_ref(), types.as_ref());
    }

    pub(super) fn set_quality(&self, properties: &[Property]) -> Result<(), UnsupportedQoS> {
        self.base.quality.set(properties)?;
        let terms = self.base.quality.terms();
        let lost = self
            .delivery
            .lock()
            .change(&self.base.common.limits, &terms);
        self.count(lost);
        self.proceed();
        Ok(())
    }

    /// Applies the channel's MaxQueueLength.
    pub(crate) fn bound(&self, queue_length: usize) {
        let limits = &self.base.common.limits;
        let mut delivery = self.delivery.lock();
        delivery.queue_length = queue_length;
        let terms = delivery.terms;
        let lost = delivery.change(limits, &terms);
        drop(delivery);
        self.count(lost);
    }

    /// Returns the number of events in the queue.
    pub(crate) fn queued(&self) -> usize {
        self.delivery.lock().queue.len()
    }

    /// Ends the connection, and removes the proxy; returns whether this call did so.
    pub(crate) fn finish(&self, tells_consumer: bool) -> bool {
        let Some(client) = self.base.connection.end() else {
            return false;
        };
        self.retype();
        let owner = self.owner.upgrade();
        if owner.is_some_and(|owner| owner.remove(self.base.id)) {
            self.group.hub.consumer_left();
        }
        self.base.remove_object();
        let (calls, events) = self.delivery.lock().close();
        self.base.common.metrics.undelivered.add(events);
        for call in calls {
            call.raise_disconnected();
        }
        if let Some(client) = client.filter(|_| tells_consumer) {
            let client = client.bounded(self.base.common.limits.call_timeout);
            let tell = move || client.say_consumer_disconnected();
            self.base.common.checks.run(tell);
        }
        true
    }

    /// Answers the calls that wait, as the service is being shut down.
    pub(crate) fn release_calls(&self) {
        let calls = self.delivery.lock().take_calls();
        for call in calls {
            call.fail(Refusal::Ending);
        }
    }
}

impl Subscriber for Outlet {
    fn number(&self) -> u64 {
        self.base.number
    }

    fn take(&self, event: &Arc<Event>, verdicts: &mut Verdicts) {
        let group = &self.group;
        let of_group = verdicts.of(group.number, || group.filters.verdict(event));
        if group.passes(of_group, self.base.filters.verdict(event)) {
            self.offer(event);
        }
    }
}

impl Watched for Outlet {
    fn is_abandoned(&self, now: Instant) -> bool {
        self.base.is_abandoned(now)
    }

    fn is_lost(&self) -> bool {
        self.base.is_lost()
    }

    fn end(&self) {
        self.finish(true);
    }
}
