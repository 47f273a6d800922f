//! The channel as its proxies and administrators see it: where events pass, and types become known.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use punctual::Any;

use super::core::Channel;
use crate::census::Changes;
use crate::common::Common;
use crate::cos_notification::{EventType, MAX_CONSUMERS, MAX_SUPPLIERS, PERSISTENT};
use crate::cos_notify_channel_admin::{
    AdminId, AdminLimit, AdminLimitExceeded, ChannelId, EventChannel,
};
use crate::event::Event;
use crate::filter::Registry;
use crate::hub::{Hub, Subscriber, Verdicts};
use crate::journal::ChannelLog;
use crate::limited::Limited;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::tally::Counts;
use crate::telling::{self, Listener};
use crate::types::Types;

impl Hub for Channel {
    fn common(&self) -> &Arc<Common> {
        &self.common
    }

    fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    fn quality(&self) -> &Quality {
        &self.quality
    }

    fn id(&self) -> ChannelId {
        self.id
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    fn log(&self) -> Option<&ChannelLog> {
        self.log.as_ref()
    }

    fn is_kept(&self) -> bool {
        self.record.is_there()
    }

    fn reference(&self) -> Result<EventChannel, Refusal> {
        match self.embedded_as() {
            Some(reference) => Ok(reference),
            None => Ok(self.common.objects.reference(&self.object_id())?),
        }
    }

    fn check_room(&self, event: &Event) -> Result<(), Refusal> {
        let (bytes, limit) = (event.bytes(), self.common.limits.event_bytes);
        if bytes > limit {
            return Err(Refusal::EventTooLarge { bytes, limit });
        }
        if self.members.is_destroyed() {
            return Err(Refusal::Destroyed("channel"));
        }
        let most = self.queue_length();
        let rejects = self.administration.read().rejects;
        if rejects && most > 0 && !self.has_room(most) {
            return Err(Refusal::ChannelFull(most));
        }
        Ok(())
    }

    fn may_block(&self) -> bool {
        self.log.is_some() || self.common.is_embedded
    }

    fn ask_gate(&self, events: &[Event]) -> Result<bool, Refusal> {
        self.passes_gate(events)
    }

    fn keep(&self, events: &mut [Event]) -> Result<(), Refusal> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let by_default = self.quality.has_persistent_events();
        let is_persistent = |event: &Event| match event.terms().reliability {
            Some(stated) => stated == PERSISTENT,
            None => by_default,
        };
        let persistent: Vec<&Event> = events.iter().filter(|one| is_persistent(one)).collect();
        if persistent.is_empty() {
            return Ok(());
        }
        log.append(&persistent, &self.quality.terms())?;
        for event in events.iter_mut().filter(|one| is_persistent(one)) {
            event.note_logged();
        }
        Ok(())
    }

    fn publish(&self, event: Arc<Event>) {
        event.count_in(&self.events);
        let subscribers = self
            .selection
            .of(&self.index, &self.common.selections, &event);
        let mut verdicts = Verdicts::default();
        for subscriber in subscribers {
            subscriber.take(&event, &mut verdicts);
        }
    }

    fn subscribe(
        &self,
        subscriber: &Arc<dyn Subscriber>,
        old: Option<&Types>,
        new: Option<&Types>,
    ) {
        {
            let mut index = self.index.write();
            match new {
                Some(types) => index.insert(subscriber.number(), types.clone(), subscriber),
                None => index.remove(subscriber.number()),
            }
        }
        self.common.selections.change();
        // Under the lock, so that all hear of the changes in their order.
        let mut subscribed = self.subscribed.lock();
        let changes = subscribed.replace(old, new);
        if !changes.is_empty() {
            tell_all(self.members.inlets(), &changes);
        }
    }

    fn offer(&self, old: Option<&Types>, new: Option<&Types>) {
        // As above.
        let mut offered = self.offered.lock();
        let changes = offered.replace(old, new);
        if !changes.is_empty() {
            tell_all(self.members.outlets(), &changes);
        }
    }

    fn offered(&self) -> Vec<EventType> {
        self.offered.lock().all()
    }

    fn subscribed(&self) -> Vec<EventType> {
        self.subscribed.lock().all()
    }

    fn queue_length(&self) -> usize {
        usize::try_from(self.administration.read().queue_length).unwrap_or_default()
    }

    fn remove_consumer_admin(&self, id: AdminId) {
        let removed = self.members.0.lock().consumer_admins.remove(&id);
        drop(removed);
    }

    fn remove_supplier_admin(&self, id: AdminId) {
        let removed = self.members.0.lock().supplier_admins.remove(&id);
        drop(removed);
    }

    fn consumer_comes(&self) -> Result<(), Limited> {
        let most = self.administration.read().consumers;
        let mut state = self.members.0.lock();
        check(
            state.consumers,
            (MAX_CONSUMERS, most),
            self.common.limits.proxies,
        )?;
        state.consumers += 1;
        Ok(())
    }

    fn consumer_left(&self) {
        self.members.0.lock().consumers -= 1;
    }

    fn supplier_comes(&self) -> Result<(), Limited> {
        let most = self.administration.read().suppliers;
        let mut state = self.members.0.lock();
        check(
            state.suppliers,
            (MAX_SUPPLIERS, most),
            self.common.limits.proxies,
        )?;
        state.suppliers += 1;
        Ok(())
    }

    fn supplier_left(&self) {
        self.members.0.lock().suppliers -= 1;
    }
}

impl Channel {
    /// Passes events to one who is no client from now on.
    pub(crate) fn listen(&self, listener: &Arc<dyn Subscriber>) {
        let number = listener.number();
        self.index.write().insert(number, Types::All, listener);
        self.common.selections.change();
    }

    pub(crate) fn stop_listening(&self, number: u64) {
        self.index.write().remove(number);
        self.common.selections.change();
    }

    /// Returns whether the channel has fewer events than `most`, once those whose life has ended do not count.
    fn has_room(&self, most: usize) -> bool {
        // Relaxed: a count of its own, which orders no other access.
        let has_room = || self.events.load(Ordering::Relaxed) < most;
        if has_room() {
            return true;
        }
        for outlet in self.members.outlets() {
            outlet.drop_ended();
        }
        has_room()
    }
}

fn tell_all<L: Listener>(listeners: Vec<Arc<L>>, changes: &Changes) {
    for listener in &listeners {
        telling::tell(listener, changes);
    }
}

/// Checks a number of clients against a property, whose 0 is no limit, and the service's limit.
fn check(clients: usize, (name, most): (&str, i32), limit: usize) -> Result<(), Limited> {
    let stated = usize::try_from(most).ok().filter(|most| *most > 0);
    if stated.is_some_and(|most| clients >= most) {
        let admin_property_err = AdminLimit {
            name: name.to_owned(),
            value: Any::new(&most).unwrap_or_default(),
        };
        return Err(Limited::ByProperty(AdminLimitExceeded {
            admin_property_err,
        }));
    }
    if clients >= limit {
        return Err(Limited::Refused(Refusal::Full {
            what: "proxies of the channel",
            option: "most-proxies",
            limit,
        }));
    }
    Ok(())
}
