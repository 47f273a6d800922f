//! Operations of an adapter for its POA manager.

use super::types::Adapter;
use crate::manager::Managed;
use std::sync::atomic::Ordering;

impl Managed for Adapter {
    fn has_objects(&self) -> bool {
        self.map().is_some_and(|map| !map.is_empty())
            || self.servants.manager.load().is_some()
            || self.servants.default.load().is_some()
    }

    fn etherealize_all(&self) {
        if self.servant_manager().is_some() {
            // The flag is set first: servants that are incarnated meanwhile are found here, or
            // their threads see the flag.
            self.servants.all_given_back.store(true, Ordering::SeqCst);
            if let Some(map) = self.map() {
                map.deactivate_all();
            }
        }
    }

    fn wait_until_idle_or(&self, useless: &dyn Fn() -> bool) {
        self.outstanding.wait_until_empty_or(useless);
        if let Some(map) = &self.dispatch.map {
            map.wait_until_unpinned(useless);
        }
    }

    fn activated(&self) {
        self.register();
    }

    fn wake_waiting(&self) {
        self.outstanding.wake();
        if let Some(map) = &self.dispatch.map {
            map.wake_waiting();
        }
    }
}
