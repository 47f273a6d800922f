//! Destruction of an adapter, stage by stage.

use super::types::Adapter;
use crate::manager::ManagerState;
use punctual_orb::AdapterState;
use std::sync::Arc;

impl Adapter {
    /// Returns whether the adapter is being destroyed, or its manager has been deactivated.
    pub(crate) fn cleanup_in_progress(&self) -> bool {
        self.destruction.has_begun() || self.manager.state() == ManagerState::Inactive
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destruction.has_begun()
    }

    /// Begins the destruction of the adapter and its children. Does not wait.
    pub(crate) fn destroy(&self, etherealize: bool) {
        // No thread makes another child from now on.
        let first = self.destruction.begin(etherealize);
        for child in self.children() {
            child.destroy(etherealize);
        }
        if first {
            if let Some(orb) = self.common.orb.upgrade() {
                orb.adapters_have_changed(&[self.full_name()], AdapterState::NonExistent);
            }
            if let Some(registry) = self.common.registry.upgrade() {
                registry.forget(self);
            }
            if let Some(repository) = self.repository() {
                repository.end(self.name());
            }
            if let Some(map) = self.map() {
                map.close_for_good();
            }
            let _dropped_without_the_lock = self.tree.activator.lock().take();
        }
        self.finish_if_empty();
    }

    /// Waits until the adapter, and with it all its descendants, have been destroyed.
    pub(crate) fn wait_until_destroyed(&self) {
        self.destruction.wait_until_destroyed();
    }

    /// Finishes the destruction if no request, object or child is left. Called after the last
    /// request has ended or an object or a child has been removed.
    pub(super) fn finish_if_empty(&self) {
        let is_empty = self.destruction.has_begun()
            && self.outstanding.is_empty()
            && self.map().is_none_or(|map| map.is_empty())
            && self.tree.children.lock().is_empty();
        if !is_empty || !self.destruction.begin_last_step() {
            return;
        }
        self.drop_servants();
        // The name is free before waiters learn that the adapter is gone.
        if let Some(parent) = &self.tree.parent {
            parent.leave(self);
        }
        self.destruction.end();
        if let Some(parent) = &self.tree.parent {
            parent.finish_if_empty();
        }
    }

    /// Removes a destroyed child POA from the children of this adapter.
    fn leave(&self, child: &Self) {
        let mut children = self.tree.children.lock();
        let is_it = |one: &Arc<Self>| std::ptr::eq(Arc::as_ptr(one), child);
        if children.get(child.name()).is_some_and(is_it) {
            children.remove(child.name());
        }
    }
}
