//! Proxies that are gone.

use punctual::{Any, Implements, SystemException};
use punctual_events::Gone;

use crate::cos_event_comm::{
    Disconnected, PullSupplier, PullSupplierPullError, PullSupplierServant,
    PullSupplierTryPullError, PushConsumer, PushConsumerPushError, PushConsumerServant,
};
use crate::refusal::Refusal;

/// Returns the servants of proxies that are gone: their `push`, `pull` and `try_pull` raise `Disconnected`, all else
/// OBJECT_NOT_EXIST.
pub(crate) fn servants() -> Gone {
    let consumer = <PushConsumer as Implements<_>>::servant(Disconnecting);
    let supplier = <PullSupplier as Implements<_>>::servant(Disconnecting);
    Box::new(move |operation| match operation {
        "push" => Some(consumer.clone()),
        "pull" | "try_pull" => Some(supplier.clone()),
        _ => None,
    })
}

/// Servant of all proxies that are gone.
#[derive(Debug)]
struct Disconnecting;

impl PushConsumerServant for Disconnecting {
    fn push(&self, _: &Any) -> Result<(), PushConsumerPushError> {
        Err(Disconnected.into())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Err(Refusal::Disconnected.into())
    }
}

impl PullSupplierServant for Disconnecting {
    fn pull(&self) -> Result<Any, PullSupplierPullError> {
        Err(Disconnected.into())
    }

    fn try_pull(&self) -> Result<(Any, bool), PullSupplierTryPullError> {
        Err(Disconnected.into())
    }

    fn disconnect_pull_supplier(&self) -> Result<(), SystemException> {
        Err(Refusal::Disconnected.into())
    }
}
