//! Clients of a channel: how they come and leave, and the channel as they see it.

use std::sync::Arc;

use punctual::Any;

use super::core::Channel;
use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::common::Common;
use crate::cos_notification::{EventType, MAX_CONSUMERS, MAX_SUPPLIERS};
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, AdminLimit, AdminLimitExceeded, EventChannel,
    InterFilterGroupOperator as Operator,
};
use crate::event::Event;
use crate::filter::Registry;
use crate::hub::{Hub, Subscriber};
use crate::inlet::Inlet;
use crate::limited::Limited;
use crate::outlet::Outlet;
use crate::quality::Quality;
use crate::refusal::Refusal;
use crate::types::Types;

impl Channel {
    /// Makes an administrator of consumers.
    ///
    /// # Errors
    /// There are as many as may be; the channel has been destroyed.
    pub(super) fn add_consumer_admin(
        &self,
        operator: Operator,
    ) -> Result<(admin::ConsumerAdmin, AdminId), Refusal> {
        let own = self.own.upgrade().ok_or(Refusal::Destroyed)?;
        let mut state = self.members.0.lock();
        state.check(state.consumer_admins.len(), self.common.limits.admins)?;
        let id = state.next_id();
        let made = ConsumerAdmin::new(own, id, operator);
        let reference = made.serve()?;
        state.consumer_admins.insert(id, made);
        Ok((reference, id))
    }

    /// Makes an administrator of suppliers.
    ///
    /// # Errors
    /// There are as many as may be; the channel has been destroyed.
    pub(super) fn add_supplier_admin(
        &self,
        operator: Operator,
    ) -> Result<(admin::SupplierAdmin, AdminId), Refusal> {
        let own = self.own.upgrade().ok_or(Refusal::Destroyed)?;
        let mut state = self.members.0.lock();
        state.check(state.supplier_admins.len(), self.common.limits.admins)?;
        let id = state.next_id();
        let made = SupplierAdmin::new(own, id, operator);
        let reference = made.serve()?;
        state.supplier_admins.insert(id, made);
        Ok((reference, id))
    }

    /// Returns all proxies, as they are watched, and the number of events in queues.
    pub(crate) fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.members.outlets()
    }

    pub(crate) fn inlets(&self) -> Vec<Arc<Inlet>> {
        self.members.inlets()
    }

    /// Returns the number of proxies.
    pub(crate) fn count(&self) -> usize {
        let state = self.members.0.lock();
        state.consumers + state.suppliers
    }
}

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

    fn reference(&self) -> Result<EventChannel, Refusal> {
        self.own_reference()
    }

    fn check_room(&self, event: &Event) -> Result<(), Refusal> {
        self.check_space(event)
    }

    fn publish(&self, event: Arc<Event>) {
        self.pass_on(&event);
    }

    fn subscribe(
        &self,
        subscriber: &Arc<dyn Subscriber>,
        old: Option<&Types>,
        new: Option<&Types>,
    ) {
        self.subscribed_to(subscriber, old, new);
    }

    fn offer(&self, old: Option<&Types>, new: Option<&Types>) {
        self.offered_types(old, new);
    }

    fn offered(&self) -> Vec<EventType> {
        self.all_offered()
    }

    fn subscribed(&self) -> Vec<EventType> {
        self.all_subscribed()
    }

    fn queue_length(&self) -> usize {
        self.max_queue_length()
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
