//! Objects of the proxies.

use crate::adapters::AdapterPolicies;
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
    poas: OnceLock<Poas>,
    next: AtomicU64,
    /// Proxies that wait for their peers, and the times at which they were obtained.
    unconnected: Mutex<HashMap<ObjectId, Instant>>,
}

/// Adapters of the proxies.
struct Poas {
    of_consumers: Poa,
    of_suppliers: Poa,
}

/// Peer of a proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProxyOf {
    /// Consumer, which subscribes by it.
    Consumer,
    /// Supplier, which pushes events to it.
    Supplier,
}

impl Proxies {
    /// Makes the adapters of proxies below `parent`.
    ///
    /// # Errors
    /// Their names are taken, or a policy is refused.
    pub(crate) fn serve(&self, parent: &Poa, adapters: &AdapterPolicies) -> Result<(), String> {
        let make = |name: &str, more: &[PoaPolicy]| {
            let own = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
            let poa = parent.create_poa(name, Some(parent.manager()), &[&own, more].concat());
            poa.map_err(|error| error.to_string())
        };
        let poas = Poas {
            of_consumers: make("ProxiesOfConsumers", &adapters.administration)?,
            of_suppliers: make("ProxiesOfSuppliers", &adapters.events)?,
        };
        let taken = |_| "its proxies are served already".to_owned();
        self.poas.set(poas).map_err(taken)
    }

    /// Activates a proxy, made with its id, which waits for its peer `patience` long.
    ///
    /// # Errors
    /// There are too many that wait, or the service ends.
    pub(crate) fn add<I, S>(
        &self,
        of: ProxyOf,
        make: impl FnOnce(ObjectId) -> S,
        patience: Duration,
    ) -> Result<I, Refusal>
    where
        I: Interface + Implements<S>,
    {
        let inactive = || Refusal::Inactive("it has not been served yet".to_owned());
        let poas = self.poas.get().ok_or_else(inactive)?;
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
        let poa = match of {
            ProxyOf::Consumer => &poas.of_consumers,
            ProxyOf::Supplier => &poas.of_suppliers,
        };
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
        if let Some(poas) = self.poas.get() {
            // It fails in the adapter of the others, and for a proxy that is gone already.
            let _ = poas.of_consumers.deactivate_object(id);
            let _ = poas.of_suppliers.deactivate_object(id);
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
