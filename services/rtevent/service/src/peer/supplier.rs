//! Suppliers elsewhere.

use super::consumer::alive;
use super::lease::Lease;
use crate::proxy::Proxies;
use crate::rtec_event_comm::{PushSupplier, PushSupplierServant};
use punctual::stub::Operation;
use punctual::{Interface, ObjectId, ObjectRef};
use punctual_rtevent::{Alive, Reason, Supplier};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Supplier elsewhere. Without a reference it is not called, and exists as long as its lease holds.
pub(crate) struct RemoteSupplier {
    pub(crate) reference: Option<PushSupplier>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) timeout: Duration,
    pub(crate) proxy: ObjectId,
    pub(crate) proxies: Weak<Proxies>,
}

impl Supplier for RemoteSupplier {
    fn disconnected(&self, _: &Reason) {
        const END: Operation = Operation::one_way("disconnect_push_supplier").of::<PushSupplier>();
        if let Some(proxies) = self.proxies.upgrade() {
            proxies.remove(&self.proxy);
        }
        let Some(reference) = &self.reference else {
            return;
        };
        let told = ObjectRef::call_one_way(
            reference.as_object(),
            &END,
            |servant: &dyn PushSupplierServant| servant.disconnect_push_supplier(),
            |_| Ok(()),
        );
        if let Err(exception) = told {
            tracing::debug!("a supplier does not hear of its disconnection: {exception}");
        }
    }

    fn is_alive(&self) -> Alive {
        match &self.reference {
            Some(reference) => alive(
                reference
                    .as_object()
                    .with_timeout(self.timeout)
                    .non_existent(),
            ),
            None if self.lease.holds() => Alive::Yes,
            None => Alive::No,
        }
    }
}
