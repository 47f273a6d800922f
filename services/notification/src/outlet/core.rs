//! A consumer's proxy: which events it takes, and when its connection begins and ends.

use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual_constraint::Constraint;
use punctual_events::watch::Watched;

use super::arrival::Arrival;
use super::delivery::Delivery;
use super::source::Source;
use crate::census::Changes;
use crate::client::{Client, Heard};
use crate::draft::Draft;
use crate::event::Event;
use crate::filter::mappings::{in_force, value_for};
use crate::group::Group;
use crate::hub::{Owner, Subscriber, Verdicts};
use crate::line::Line;
use crate::outcome::Outcome;
use crate::proxy::Proxy;
use crate::queue::{Bounds, Entry};
use crate::refusal::Refusal;
use crate::stated::Stating;
use crate::telling::Listener;
use crate::types::Types;

/// Proxy of a consumer.
pub(crate) struct Outlet {
    pub(crate) base: Proxy,
    pub(crate) group: Arc<Group>,
    owner: Weak<dyn Owner>,
    pub(super) delivery: Mutex<Delivery>,
    /// Events that wait for verdicts of foreign filters.
    pub(super) line: Line,
    /// Types under which the channel's index and census have the outlet, while it is connected.
    pub(super) indexed: Mutex<Option<Types>>,
    /// Reader of the channel's log, if events are persistent.
    pub(super) source: OnceLock<Source>,
    pub(super) own: Weak<Self>,
}

impl Outlet {
    pub(crate) fn new(base: Proxy, group: Arc<Group>, owner: Weak<dyn Owner>) -> Arc<Self> {
        let limits = &base.common.limits;
        let delivery = Delivery::new(limits, &base.stated.quality.terms());
        let line = Line::new(Bounds {
            events: limits.queue_events,
            bytes: limits.queue_bytes,
        });
        Arc::new_cyclic(|own| Self {
            base,
            group,
            owner,
            delivery: Mutex::new(delivery),
            line,
            indexed: Mutex::default(),
            source: OnceLock::new(),
            own: own.clone(),
        })
    }

    /// Connects the consumer: events are for it from now on.
    ///
    /// # Errors
    /// The proxy is connected, and its consumer may not be replaced, or has ended; the connection cannot be stored.
    pub(super) fn connect(&self, client: Option<Client>) -> Result<(), Refusal> {
        let connected = self.base.connect(client, || self.open_source());
        if connected.is_err() && self.base.has_ended() {
            self.close_source();
        }
        // Else it may be tried again, and a reader that was opened stays for it.
        connected?;
        self.retype();
        self.settle();
        self.push_to_replaced();
        Ok(())
    }

    /// Connects a consumer whose connection was kept.
    ///
    /// # Errors
    /// The proxy has ended; the store of events fails.
    pub(crate) fn restore(&self, client: Option<Client>, draft: Draft) -> Result<(), Refusal> {
        self.delivery.lock().is_suspended = draft.is_suspended;
        self.base.stated.restore(draft);
        self.requalify();
        self.open_source().inspect_err(|_| {
            // The record stays for the next start, also when the proxy is removed, as its client does not connect it.
            self.base.stated.record.note(false);
        })?;
        self.base.connection.connect(client)?;
        self.retype();
        self.settle();
        Ok(())
    }

    /// Returns a text that names the consumer, for logs.
    pub(super) fn name(&self) -> String {
        self.group.client(self.base.id)
    }

    /// Takes an event for the consumer, which may be one of the log. Does not block.
    pub(super) fn offer(&self, event: &Arc<Event>, arrival: Arrival) {
        let start_in = event.terms().start_in.filter(|time| !time.is_zero());
        let terms = self.delivery.lock().terms;
        match start_in.filter(|_| terms.has_start_times) {
            Some(time) => self.offer_after(time, event, arrival),
            None => self.offer_now(event, arrival),
        }
    }

    pub(super) fn offer_now(&self, event: &Arc<Event>, arrival: Arrival) {
        let entry = self.entry(event, arrival);
        let lost = self.delivery.lock().push(entry);
        match lost {
            Some(lost) => self.count(lost),
            None => return self.base.tally.add(Outcome::Undelivered, 1),
        }
        self.proceed();
    }

    pub(super) fn count(&self, lost: crate::queue::Lost) {
        self.base.tally.add(Outcome::Discarded, lost.discarded);
        self.base.tally.add(Outcome::Expired, lost.expired);
        if lost.expired > 0 {
            self.settle();
        }
    }

    /// Returns the event with its priority and the end of its life: as mapping filters say, or else the event, or else
    /// the proxy.
    fn entry(&self, event: &Arc<Event>, arrival: Arrival) -> Entry<Arc<Event>> {
        let terms = self.delivery.lock().terms;
        let (mapped_priority, mapped_life) = self.mapped(event, arrival);
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
            position: arrival.position,
        }
    }

    /// Returns priority and life as the mapping filters of the proxy, or else of its administrator say.
    fn mapped(&self, event: &Event, arrival: Arrival) -> (Option<i16>, Option<Duration>) {
        let (own, of_admin) = (
            self.base.stated.mappings.read(),
            self.group.stated.mappings.read(),
        );
        let value = |own, of_admin| value_for(in_force(own, of_admin), event);
        let priority = value(&own.priority, &of_admin.priority);
        let lifetime = value(&own.lifetime, &of_admin.lifetime);
        let life = lifetime.and_then(|any| any.extract().ok());
        let mapped = arrival.mapped;
        (
            mapped
                .priority
                .or(priority.and_then(|any| any.extract().ok())),
            mapped.life.or(life.map(crate::qos::length)),
        )
    }

    /// Goes on with the delivery of events, if there are any.
    fn proceed(&self) {
        match self.base.style {
            crate::client::Style::Push => self.push_soon(),
            crate::client::Style::Pull => self.answer_calls(),
        }
    }

    /// Applies the types of the proxy, or else of its administrator.
    pub(crate) fn retype(&self) {
        let mut indexed = self.indexed.lock();
        let types = match self.base.stated.types() {
            Types::All => self.group.stated.types(),
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

    /// Applies the quality of service to the queue.
    pub(super) fn requalify(&self) {
        let terms = self.base.stated.quality.terms();
        let lost = self
            .delivery
            .lock()
            .change(&self.base.common.limits, &terms);
        self.count(lost);
        self.settle();
        self.proceed();
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

    /// Drops the events in the queue whose life has ended.
    pub(crate) fn drop_ended(&self) {
        let expired = self.delivery.lock().queue.drop_ended(Instant::now());
        self.count(crate::queue::Lost {
            expired,
            discarded: 0,
        });
    }

    /// Ends the connection, and removes the proxy; returns whether this call did so.
    pub(crate) fn finish(&self, tells_consumer: bool) -> bool {
        let Some(client) = self.base.connection.end() else {
            return false;
        };
        self.base.forget();
        self.close_source();
        self.retype();
        let owner = self.owner.upgrade();
        if owner.is_some_and(|owner| owner.remove(self.base.id)) {
            self.group.hub.consumer_left();
        }
        self.base.remove_object();
        let (calls, events) = self.delivery.lock().close();
        self.base
            .tally
            .add(Outcome::Undelivered, events + self.line.close().len());
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
        self.base.stated.number
    }

    fn needs(&self) -> Option<Vec<Constraint>> {
        self.group.needs(&self.base.stated.filters)
    }

    fn take(&self, event: &Arc<Event>, verdicts: &mut Verdicts) {
        if event.is_logged() && self.source.get().is_some() {
            // It comes from the log.
            return;
        }
        let has_foreign = self.base.common.foreign.is_any();
        if has_foreign && self.ask_about(event, None, &mut verdicts.questions) {
            return;
        }
        let group = &self.group;
        let of_group = verdicts.of(group.stated.number, || group.stated.filters.verdict(event));
        if group.passes(of_group, self.base.stated.filters.verdict(event)) {
            self.offer(event, Arrival::default());
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

impl Listener for Outlet {
    fn base(&self) -> &Proxy {
        &self.base
    }

    fn tell(client: &Client, changes: &Changes, heard: Heard) {
        client.offer_change(changes, heard);
    }
}
