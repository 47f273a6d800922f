//! Objects of the proxies.

use crate::refusal::Refusal;
use parking_lot::Mutex;
use punctual::poa::{IdAssignmentPolicy, PoaPolicy};
use punctual::{Implements, Interface, ObjectId, Poa};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Maximum number of proxies that wait for their peers at a time.
const MOST_UNCONNECTED: usize = 4_096;

/// Objects of the proxies.
#[derive(Default)]
pub(crate) struct Proxies {
    poa: OnceLock<Poa>,
    next: AtomicU64,
    /// Proxies that wait for their peers, and the times at which they were obtained.
    unconnected: Mutex<HashMap<ObjectId, Instant>>,
}

impl Proxies {
    /// Makes the adapter of proxies below `parent`.
    ///
    /// # Errors
    /// Its name is taken.
    pub(crate) fn serve(&self, parent: &Poa) -> Result<(), String> {
        let policies = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
        let poa = parent.create_poa("Proxies", Some(parent.manager()), &policies);
        let poa = poa.map_err(|error| error.to_string())?;
        let taken = |_| "its proxies are served already".to_owned();
        self.poa.set(poa).map_err(taken)
    }

    /// Activates a proxy, made with its id, which waits for its peer `patience` long.
    ///
    /// # Errors
    /// There are too many that wait, or the service ends.
    pub(crate) fn add<I, S>(
        &self,
        make: impl FnOnce(ObjectId) -> S,
        patience: Duration,
    ) -> Result<I, Refusal>
    where
        I: Interface + Implements<S>,
    {
        let inactive = || Refusal::Inactive("it has not been served yet".to_owned());
        let poa = self.poa.get().ok_or_else(inactive)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = ObjectId::from(&number.to_be_bytes()[..]);
        self.give_up_those_older_than(patience);
        {
            let mut unconnected = self.unconnected.lock();
            if unconnected.len() >= MOST_UNCONNECTED {
                return Err(Refusal::Full {
                    what: "proxies without a peer",
                    setting: "unconnected",
                    limit: MOST_UNCONNECTED,
                });
            }
            unconnected.insert(id.clone(), Instant::now());
        }
        let object = poa.activate_with_id(&id, make(id.clone()));
        object.map_err(|error| {
            self.unconnected.lock().remove(&id);
            Refusal::Inactive(error.to_string())
        })
    }

    /// Notes that a proxy has its peer.
    pub(crate) fn connected(&self, id: &ObjectId) {
        self.unconnected.lock().remove(id);
    }

    /// Deactivates a proxy. Calls in progress go on.
    pub(crate) fn remove(&self, id: &ObjectId) {
        self.unconnected.lock().remove(id);
        if let Some(poa) = self.poa.get() {
            // It fails for a proxy that is gone already.
            let _ = poa.deactivate_object(id);
        }
    }

    fn give_up_those_older_than(&self, patience: Duration) {
        let old: Vec<_> = {
            let unconnected = self.unconnected.lock();
            let old = unconnected
                .iter()
                .filter(|(_, since)| since.elapsed() >= patience);
            old.map(|(id, _)| id.clone()).collect()
        };
        for id in old {
            tracing::debug!("a proxy is given up: nothing has been connected to it");
            self.remove(&id);
        }
    }
}
