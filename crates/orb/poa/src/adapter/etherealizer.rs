//! The end of an object: its last call has left after it was deactivated (CORBA 3.3 part 1, §15.3.9.17).

use super::threads::Threads;
use super::types::{Adapter, ServantManager};
use crate::current::Engaged;
use crate::object_id::ObjectId;
use crate::object_map::{Deactivated, OnDeactivated};
use crate::servant::Servant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};

/// Tells an adapter, and its servant activator.
#[derive(Clone, Default)]
pub(super) struct Etherealizer {
    /// The adapter is made after its map.
    adapter: Arc<OnceLock<Weak<Adapter>>>,
}

impl Etherealizer {
    pub(super) fn set_adapter(&self, adapter: &Arc<Adapter>) {
        // Told once, by who makes the adapter.
        let _told = self.adapter.set(Arc::downgrade(adapter));
    }

    fn adapter(&self) -> Option<Arc<Adapter>> {
        self.adapter.get()?.upgrade()
    }
}

impl OnDeactivated for Etherealizer {
    fn deactivated(&self, object: Deactivated) {
        if let Some(adapter) = self.adapter() {
            let id = ObjectId::from(object.id());
            adapter.release_servant(&id, object.entry.servant, object.remains);
        }
    }

    fn freed(&self) {
        if let Some(adapter) = self.adapter() {
            adapter.finish_if_empty();
        }
    }
}

impl Adapter {
    /// Gives a servant back to the activator that it is from, or lets it go.
    pub(super) fn release_servant(&self, id: &ObjectId, servant: Arc<dyn Servant>, remains: bool) {
        let _engaged = Engaged::with_end_of(self.id(), id.as_bytes());
        // It may be another object's call that brings the news; that one must not suffer.
        let given = catch_unwind(AssertUnwindSafe(|| {
            self.by_allowed_thread(|| self.etherealize(id, servant, remains));
        }));
        if given.is_err() {
            let poa = self.name();
            tracing::error!(poa, %id, "the end of a servant, or `etherealize` of its activator, panicked");
        }
    }

    fn etherealize(&self, id: &ObjectId, servant: Arc<dyn Servant>, remains: bool) {
        if let Some(ServantManager::Activator(activator)) = self.servant_manager()
            && self.destruction.etherealizes()
            && let Some(poa) = self.poa()
        {
            activator.etherealize(id, &poa, servant, self.cleanup_in_progress(), remains);
        }
    }

    /// Runs what is the application's on a thread that policies allow.
    fn by_allowed_thread(&self, act: impl FnOnce() + Send) {
        let orb = self.common.orb.upgrade();
        match (&self.dispatch.threads, orb) {
            (Threads::One(lock), _) => {
                let _locked = lock.lock();
                act();
            }
            (Threads::Main, Some(orb)) => {
                let mut act = Some(act);
                let mut once = || {
                    if let Some(act) = act.take() {
                        act();
                    }
                };
                // Where nobody is the main thread any more, this thread is as good.
                if orb.on_main_thread(&mut once).is_err() {
                    once();
                }
            }
            _ => act(),
        }
    }
}
