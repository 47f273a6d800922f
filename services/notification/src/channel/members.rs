//! Administrators of a channel, and the numbers of its clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use punctual::Any;

use super::Channel;
use crate::admin::{ConsumerAdmin, Limited, SupplierAdmin};
use crate::cos_notification::{MAX_CONSUMERS, MAX_SUPPLIERS};
use crate::cos_notify_channel_admin::{
    self as admin, AdminId, AdminLimit, AdminLimitExceeded, InterFilterGroupOperator as Operator,
};
use crate::inlet::Inlet;
use crate::outlet::Outlet;
use crate::refusal::Refusal;

/// Administrators by id.
#[derive(Default)]
pub(super) struct Members(Mutex<State>);

#[derive(Default)]
struct State {
    consumer_admins: BTreeMap<AdminId, Arc<ConsumerAdmin>>,
    supplier_admins: BTreeMap<AdminId, Arc<SupplierAdmin>>,
    last_id: AdminId,
    consumers: usize,
    suppliers: usize,
    is_destroyed: bool,
}

impl Members {
    /// Adds the default administrators.
    pub(super) fn begin(&self, consumers: Arc<ConsumerAdmin>, suppliers: Arc<SupplierAdmin>) {
        let mut state = self.0.lock();
        state.consumer_admins.insert(consumers.base.id, consumers);
        state.supplier_admins.insert(suppliers.base.id, suppliers);
    }

    pub(super) fn is_destroyed(&self) -> bool {
        self.0.lock().is_destroyed
    }

    pub(super) fn consumer_admin(&self, id: AdminId) -> Option<Arc<ConsumerAdmin>> {
        self.0.lock().consumer_admins.get(&id).cloned()
    }

    pub(super) fn supplier_admin(&self, id: AdminId) -> Option<Arc<SupplierAdmin>> {
        self.0.lock().supplier_admins.get(&id).cloned()
    }

    pub(super) fn consumer_admin_ids(&self) -> Vec<AdminId> {
        self.0.lock().consumer_admins.keys().copied().collect()
    }

    pub(super) fn supplier_admin_ids(&self) -> Vec<AdminId> {
        self.0.lock().supplier_admins.keys().copied().collect()
    }

    /// Returns all proxies of consumers.
    pub(super) fn outlets(&self) -> Vec<Arc<Outlet>> {
        let admins: Vec<_> = self.0.lock().consumer_admins.values().cloned().collect();
        admins.iter().flat_map(|admin| admin.outlets()).collect()
    }

    /// Returns all proxies of suppliers.
    pub(super) fn inlets(&self) -> Vec<Arc<Inlet>> {
        let admins: Vec<_> = self.0.lock().supplier_admins.values().cloned().collect();
        admins.iter().flat_map(|admin| admin.inlets()).collect()
    }

    /// Takes all administrators of consumers out; none comes any more.
    pub(super) fn destroy_consumers(&self) -> Vec<Arc<ConsumerAdmin>> {
        let mut state = self.0.lock();
        state.is_destroyed = true;
        std::mem::take(&mut state.consumer_admins)
            .into_values()
            .collect()
    }

    /// Takes all administrators of suppliers out; none comes any more.
    pub(super) fn destroy_suppliers(&self) -> Vec<Arc<SupplierAdmin>> {
        let mut state = self.0.lock();
        state.is_destroyed = true;
        std::mem::take(&mut state.supplier_admins)
            .into_values()
            .collect()
    }
}

impl State {
    /// Returns an id that no administrator has.
    fn next_id(&mut self) -> AdminId {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        self.last_id
    }

    /// Checks that there may be one more administrator.
    fn check(&self, admins: usize, limit: usize) -> Result<(), Refusal> {
        match (self.is_destroyed, admins > limit) {
            (true, _) => Err(Refusal::Destroyed),
            (_, true) => Err(Refusal::Full {
                what: "administrators of the channel",
                option: "most-admins",
                limit,
            }),
            _ => Ok(()),
        }
    }
}

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

    pub(crate) fn remove_consumer_admin(&self, id: AdminId) {
        let removed = self.members.0.lock().consumer_admins.remove(&id);
        drop(removed);
    }

    pub(crate) fn remove_supplier_admin(&self, id: AdminId) {
        let removed = self.members.0.lock().supplier_admins.remove(&id);
        drop(removed);
    }

    /// Counts a proxy of a consumer.
    ///
    /// # Errors
    /// There are as many as MaxConsumers or the service allows.
    pub(crate) fn consumer_comes(&self) -> Result<(), Limited> {
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

    pub(crate) fn consumer_left(&self) {
        self.members.0.lock().consumers -= 1;
    }

    /// Counts a proxy of a supplier.
    ///
    /// # Errors
    /// There are as many as MaxSuppliers or the service allows.
    pub(crate) fn supplier_comes(&self) -> Result<(), Limited> {
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

    pub(crate) fn supplier_left(&self) {
        self.members.0.lock().suppliers -= 1;
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
