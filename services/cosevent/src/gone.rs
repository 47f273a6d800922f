//! Proxies that are gone, or are not there yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use punctual::{Any, Implements, SystemException};
use punctual_events::Gone;

use crate::cos_event_comm::{
    Disconnected, PullSupplier, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumer, PushConsumerPushError, PushConsumerServant,
};
use crate::refusal::Refusal;

/// Returns the servants of proxies that are gone: their `push`, `pull` and `try_pull` raise `Disconnected`, all else
/// OBJECT_NOT_EXIST. While connections that were kept wait to be served, it is not known which proxies are gone, and the three
/// raise TRANSIENT.
pub(crate) fn servants(is_waiting: &Arc<AtomicBool>) -> Gone {
    let servant = || Disconnecting(is_waiting.clone());
    let consumer = <PushConsumer as Implements<_>>::servant(servant());
    let supplier = <PullSupplier as Implements<_>>::servant(servant());
    Box::new(move |operation| match operation {
        "push" => Some(consumer.clone()),
        "pull" | "try_pull" => Some(supplier.clone()),
        _ => None,
    })
}

/// Servant of all proxies that are gone.
#[derive(Debug)]
struct Disconnecting(Arc<AtomicBool>);

impl Disconnecting {
    fn raise<E: From<Disconnected> + From<SystemException>>(&self) -> E {
        // Relaxed: no other access depends on it.
        match self.0.load(Ordering::Relaxed) {
            true => SystemException::from(Refusal::NotServedYet).into(),
            false => Disconnected.into(),
        }
    }
}

impl PushConsumerServant for Disconnecting {
    fn push(&self, _: &Any) -> Result<(), PushConsumerPushError> {
        Err(self.raise())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Err(Refusal::Disconnected.into())
    }
}

impl PullSupplierServant for Disconnecting {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        Err(self.raise())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        Err(self.raise())
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Err(Refusal::Disconnected.into())
    }
}
