//! Administrators of a channel, and the numbers of its clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::cos_notify_channel_admin::AdminId;
use crate::group::{DEFAULT, Group};
use crate::inlet::Inlet;
use crate::outlet::Outlet;
use crate::refusal::Refusal;

/// Administrators by id.
#[derive(Default)]
pub(super) struct Members(pub(super) Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) consumer_admins: BTreeMap<AdminId, Arc<ConsumerAdmin>>,
    pub(super) supplier_admins: BTreeMap<AdminId, Arc<SupplierAdmin>>,
    last_id: AdminId,
    pub(super) consumers: usize,
    pub(super) suppliers: usize,
    is_destroyed: bool,
}

impl Members {
    /// Adds an administrator of consumers, whatever the limit.
    pub(super) fn add_consumers(&self, consumers: Arc<ConsumerAdmin>) {
        let mut state = self.0.lock();
        state.last_id = state.last_id.max(consumers.base.id);
        state.consumer_admins.insert(consumers.base.id, consumers);
    }

    /// Adds an administrator of suppliers, whatever the limit.
    pub(super) fn add_suppliers(&self, suppliers: Arc<SupplierAdmin>) {
        let mut state = self.0.lock();
        state.last_id = state.last_id.max(suppliers.base.id);
        state.supplier_admins.insert(suppliers.base.id, suppliers);
    }

    /// Returns the default administrators, as long as the channel exists.
    pub(super) fn defaults(&self) -> Vec<Arc<Group>> {
        let state = self.0.lock();
        let consumers = state.consumer_admins.get(&DEFAULT).map(|one| &one.base);
        let suppliers = state.supplier_admins.get(&DEFAULT).map(|one| &one.base);
        consumers.into_iter().chain(suppliers).cloned().collect()
    }

    /// Returns all administrators.
    pub(super) fn groups(&self) -> Vec<Arc<Group>> {
        let state = self.0.lock();
        let consumers = state.consumer_admins.values().map(|one| &one.base);
        let suppliers = state.supplier_admins.values().map(|one| &one.base);
        consumers.chain(suppliers).cloned().collect()
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

    pub(super) fn consumer_admins(&self) -> Vec<Arc<ConsumerAdmin>> {
        self.0.lock().consumer_admins.values().cloned().collect()
    }

    pub(super) fn supplier_admins(&self) -> Vec<Arc<SupplierAdmin>> {
        self.0.lock().supplier_admins.values().cloned().collect()
    }

    pub(super) fn consumer_admin_ids(&self) -> Vec<AdminId> {
        self.0.lock().consumer_admins.keys().copied().collect()
    }

    pub(super) fn supplier_admin_ids(&self) -> Vec<AdminId> {
        self.0.lock().supplier_admins.keys().copied().collect()
    }

    /// Returns all proxies of consumers.
    pub(super) fn outlets(&self) -> Vec<Arc<Outlet>> {
        let admins = self.consumer_admins();
        admins.iter().flat_map(|admin| admin.outlets()).collect()
    }

    /// Returns all proxies of suppliers.
    pub(super) fn inlets(&self) -> Vec<Arc<Inlet>> {
        let admins = self.supplier_admins();
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
    pub(super) fn next_id(&mut self) -> AdminId {
        self.last_id = self.last_id.wrapping_add(1).max(1);
        self.last_id
    }

    /// Checks that there may be one more administrator.
    pub(super) fn check(&self, admins: usize, limit: usize) -> Result<(), Refusal> {
        match (self.is_destroyed, admins > limit) {
            (true, _) => Err(Refusal::Destroyed("channel")),
            (_, true) => Err(Refusal::Full {
                what: "administrators of the channel",
                option: "most-admins",
                limit,
            }),
            _ => Ok(()),
        }
    }
}
