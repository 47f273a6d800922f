//! A channel: events, and the types that its clients state.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use punctual::Implements;

use super::members::Members;
use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::census::{Census, Changes};
use crate::common::Common;
use crate::cos_notification::{EventType, Property, UnsupportedAdmin, UnsupportedQoS};
use crate::cos_notify_channel_admin::{
    ChannelId, EventChannel, InterFilterGroupOperator as Operator,
};
use crate::event::Event;
use crate::filter::Registry;
use crate::group::{DEFAULT, Place};
use crate::hub::{Home, Subscriber, Verdicts};
use crate::index::Index;
use crate::qos::{AdminSettings, Level, Settings};
use crate::quality::Quality;
use crate::record::RecordState;
use crate::refusal::Refusal;
use crate::telling::{self, Listener};
use crate::types::Types;

/// Event channel.
pub(crate) struct Channel {
    pub(crate) common: Arc<Common>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) id: ChannelId,
    pub(super) number: u64,
    pub(crate) quality: Quality,
    pub(super) administration: RwLock<AdminSettings>,
    pub(super) record: RecordState,
    index: RwLock<Index<Arc<dyn Subscriber>>>,
    offered: Mutex<Census>,
    subscribed: Mutex<Census>,
    pub(super) members: Members,
    /// Number of events in the channel, which its queues share.
    events: Arc<AtomicUsize>,
    pub(super) home: Weak<dyn Home>,
    pub(super) own: Weak<Self>,
}

/// Properties of a channel that is made.
#[derive(Clone, Debug)]
pub(crate) struct Properties {
    pub(super) settings: Settings,
    pub(super) administration: AdminSettings,
}

/// Reason for which a channel cannot have properties.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unsupported {
    Quality(UnsupportedQoS),
    Administration(UnsupportedAdmin),
}

impl Properties {
    /// Reads the properties that a client asks for.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn of(
        common: &Common,
        quality: &[Property],
        administration: &[Property],
    ) -> Result<Self, Unsupported> {
        let abilities = common.abilities();
        let settings = Settings::of_channel().changed(quality, Level::Channel, abilities);
        let settings =
            settings.map_err(|qos_err| Unsupported::Quality(UnsupportedQoS { qos_err }))?;
        let administration = AdminSettings::default().changed(administration);
        let administration = administration
            .map_err(|admin_err| Unsupported::Administration(UnsupportedAdmin { admin_err }))?;
        Ok(Self {
            settings,
            administration,
        })
    }
}

impl Channel {
    pub(crate) fn new(
        common: Arc<Common>,
        registry: Arc<Registry>,
        home: Weak<dyn Home>,
        (id, number, properties): (ChannelId, u64, Properties),
    ) -> Arc<Self> {
        let abilities = common.abilities();
        Arc::new_cyclic(|own| Self {
            number,
            record: RecordState::default(),
            registry,
            common,
            id,
            quality: Quality::new(Level::Channel, abilities, properties.settings),
            administration: RwLock::new(properties.administration),
            index: RwLock::default(),
            offered: Mutex::default(),
            subscribed: Mutex::default(),
            members: Members::default(),
            events: Arc::default(),
            home,
            own: own.clone(),
        })
    }

    /// Adds the default administrators that are not there, with their objects: both of a new channel.
    ///
    /// # Errors
    /// A reference cannot be made.
    pub(crate) fn complete(self: &Arc<Self>) -> Result<(), Refusal> {
        let place = |has_consumers| Place {
            id: DEFAULT,
            number: self.common.objects.number(),
            operator: Operator::AndOp,
            has_consumers,
        };
        if self.members.consumer_admin(DEFAULT).is_none() {
            let consumers = ConsumerAdmin::new(self.clone(), place(true));
            consumers.serve()?;
            self.members.add_consumers(consumers);
        }
        if self.members.supplier_admin(DEFAULT).is_none() {
            let suppliers = SupplierAdmin::new(self.clone(), place(false));
            suppliers.serve()?;
            self.members.add_suppliers(suppliers);
        }
        Ok(())
    }

    /// Adds the object of the channel.
    ///
    /// # Errors
    /// The reference cannot be made.
    pub(crate) fn serve(self: &Arc<Self>) -> Result<EventChannel, Refusal> {
        let servant = <EventChannel as Implements<_>>::servant(self.clone());
        Ok(self.common.objects.add(&self.object_id(), servant)?)
    }

    /// Returns the reference to the channel.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn own_reference(&self) -> Result<EventChannel, Refusal> {
        Ok(self.common.objects.reference(&self.object_id())?)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    fn object_id(&self) -> Vec<u8> {
        self.common.objects.id_of(self.number)
    }

    /// Checks that the channel takes an event.
    ///
    /// # Errors
    /// The event is too large; the channel is full, and is to reject events then; it has been destroyed.
    pub(super) fn check_space(&self, event: &Event) -> Result<(), Refusal> {
        let (bytes, limit) = (event.bytes(), self.common.limits.event_bytes);
        if bytes > limit {
            return Err(Refusal::EventTooLarge { bytes, limit });
        }
        if self.members.is_destroyed() {
            return Err(Refusal::Destroyed);
        }
        let administration = *self.administration.read();
        let most = usize::try_from(administration.queue_length).unwrap_or_default();
        if administration.rejects && most > 0 && !self.has_room(most) {
            self.common.metrics.rejected.add(1);
            return Err(Refusal::ChannelFull(most));
        }
        Ok(())
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

    /// Passes an event on to all consumers that it is for. Does not wait for any of them.
    pub(super) fn pass_on(&self, event: &Arc<Event>) {
        event.count_in(&self.events);
        let (domain, name) = event.type_names();
        let subscribers = self.index.read().of(domain, name);
        let mut verdicts = Verdicts::default();
        for subscriber in subscribers {
            subscriber.take(event, &mut verdicts);
        }
    }

    /// Notes the types that a consumer subscribes to in place of others; `None` is one that is not connected.
    pub(super) fn subscribed_to(
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
        // Under the lock, so that all hear of the changes in their order.
        let mut subscribed = self.subscribed.lock();
        let changes = subscribed.replace(old, new);
        if !changes.is_empty() {
            tell_all(self.members.inlets(), &changes);
        }
    }

    /// Notes the types that a supplier offers in place of others; `None` is one that is not connected.
    pub(super) fn offered_types(&self, old: Option<&Types>, new: Option<&Types>) {
        let mut offered = self.offered.lock();
        let changes = offered.replace(old, new);
        if !changes.is_empty() {
            tell_all(self.members.outlets(), &changes);
        }
    }

    /// Returns the types that suppliers offer.
    pub(super) fn all_offered(&self) -> Vec<EventType> {
        self.offered.lock().all()
    }

    /// Returns the types that consumers subscribe to.
    pub(super) fn all_subscribed(&self) -> Vec<EventType> {
        self.subscribed.lock().all()
    }

    /// Returns MaxQueueLength; 0 is none.
    pub(super) fn max_queue_length(&self) -> usize {
        usize::try_from(self.administration.read().queue_length).unwrap_or_default()
    }

    /// Ends all connections, and removes the objects of the channel.
    pub(crate) fn end(&self) {
        for consumers in self.members.destroy_consumers() {
            consumers.end();
        }
        for suppliers in self.members.destroy_suppliers() {
            suppliers.end();
        }
        self.common.objects.remove(&self.object_id());
    }
}

fn tell_all<L: Listener>(listeners: Vec<Arc<L>>, changes: &Changes) {
    for listener in &listeners {
        telling::tell(listener, changes);
    }
}
