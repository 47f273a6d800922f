//! Release of a deactivated object's servant once the object's last call has ended (CORBA 3.3 part
//! 1, §15.3.9.17).

use super::threads::Threads;
use super::types::{Adapter, ServantManager};
use crate::current::EndingObject;
use crate::object_id::ObjectId;
use crate::object_map::{Deactivated, OnDeactivated};
use crate::servant::Servant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};

/// Listener for deactivated objects, which informs their adapter and gives servants back to its
/// servant activator.
#[derive(Clone, Default)]
pub(super) struct Etherealizer {
    /// Adapter; set after the construction, as the map is made before the adapter.
    adapter: Arc<OnceLock<Weak<Adapter>>>,
}

impl Etherealizer {
    pub(super) fn set_adapter(&self, adapter: &Arc<Adapter>) {
        // The adapter's constructor sets it exactly once.
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
    /// Gives a servant back to the servant activator that incarnated it, or drops it if there is
    /// none.
    pub(super) fn release_servant(&self, id: &ObjectId, servant: Arc<dyn Servant>, remains: bool) {
        let _engaged = EndingObject::with_end_of(self.id(), id.as_bytes());
        // A call of another object may be running this; a panic must not affect it.
        let given = catch_unwind(AssertUnwindSafe(|| {
            self.by_allowed_thread(|| self.etherealize(id, servant, remains));
        }));
        if given.is_err() {
            let poa = self.name();
            tracing::error!(poa, %id, "dropping a servant, or `etherealize` of its activator, panicked");
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

    /// Runs application code on a thread that the adapter's thread policy allows.
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
                // Without a main thread, this thread may run it as well.
                if orb.on_main_thread(&mut once).is_err() {
                    once();
                }
            }
            _ => act(),
        }
    }
}
