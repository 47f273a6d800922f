//! The end of an adapter: what is done at which of its stages.

use super::types::Adapter;
use crate::manager::ManagerState;
use punctual_orb::AdapterState;
use std::sync::Arc;

impl Adapter {
    /// Whether the adapter is being destroyed, or its manager has been deactivated.
    pub(crate) fn cleanup_in_progress(&self) -> bool {
        self.destruction.has_begun() || self.manager.state() == ManagerState::Inactive
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.destruction.has_begun()
    }

    /// Ends it and its children. Does not wait.
    pub(crate) fn destroy(&self, etherealize: bool) {
        // From now on nobody makes another child.
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
            if let Some(map) = self.map() {
                map.close_for_good();
            }
            let _dropped_without_the_lock = self.tree.activator.lock().take();
        }
        self.finish_if_empty();
    }

    /// Returns when the adapter, and so its children, are gone.
    pub(crate) fn wait_until_destroyed(&self) {
        self.destruction.wait_until_destroyed();
    }

    /// To be called by whoever has ended the last request, or removed the last object.
    pub(super) fn finish_if_empty(&self) {
        let is_empty = self.destruction.has_begun()
            && self.outstanding.is_empty()
            && self.map().is_none_or(|map| map.is_empty())
            && self.tree.children.lock().is_empty();
        if !is_empty || !self.destruction.begin_last_step() {
            return;
        }
        self.let_go_of_servants();
        // Its name is free before anybody is told that it is gone.
        if let Some(parent) = &self.tree.parent {
            parent.leave(self);
        }
        self.destruction.end();
        if let Some(parent) = &self.tree.parent {
            parent.finish_if_empty();
        }
    }

    /// Its child is gone.
    fn leave(&self, child: &Self) {
        let mut children = self.tree.children.lock();
        let is_it = |one: &Arc<Self>| std::ptr::eq(Arc::as_ptr(one), child);
        if children.get(child.name()).is_some_and(is_it) {
            children.remove(child.name());
        }
    }
}
