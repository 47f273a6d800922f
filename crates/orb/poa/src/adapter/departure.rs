//! The end of an object: its last call has left after it was deactivated (CORBA 3.3 part 1, §15.3.9.17).

use super::Adapter;
use crate::object_id::ObjectId;
use crate::object_map::{Departed, Leave};
use crate::servant_manager::ServantManager;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};

/// Tells an adapter, and its servant activator.
#[derive(Clone, Default)]
pub(super) struct Departure {
    /// The adapter is made after its map.
    adapter: Arc<OnceLock<Weak<Adapter>>>,
}

impl Departure {
    pub(super) fn tell(&self, adapter: &Arc<Adapter>) {
        // Told once, by who makes the adapter.
        let _told = self.adapter.set(Arc::downgrade(adapter));
    }

    fn adapter(&self) -> Option<Arc<Adapter>> {
        self.adapter.get()?.upgrade()
    }
}

impl Leave for Departure {
    fn left(&self, departed: Departed) {
        let Some(adapter) = self.adapter() else {
            return;
        };
        if let Some(ServantManager::Activator(activator)) = adapter.servant_manager()
            && adapter.life.etherealizes()
            && let Some(poa) = adapter.poa()
        {
            let id = ObjectId::from(departed.id());
            let servant = departed.entry.servant;
            // It may be another object's call that brings the news; that one must not suffer.
            let told = catch_unwind(AssertUnwindSafe(|| {
                let goes = adapter.is_going();
                activator.etherealize(&id, &poa, servant, goes, departed.remains);
            }));
            if told.is_err() {
                let poa = &adapter.name;
                tracing::error!(poa, %id, "the servant activator panicked in `etherealize`");
            }
        }
    }

    fn freed(&self) {
        if let Some(adapter) = self.adapter() {
            adapter.end_if_empty();
        }
    }
}
