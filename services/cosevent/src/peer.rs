//! Calls to the objects behind proxies: at the end of a connection, and their outcome.

use punctual::{Any, Interface, SystemException};

use crate::cos_event_comm::{
    PullConsumer, PullSupplier, PullSupplierTryPullError, PushConsumer, PushSupplier,
};

/// Outcome of a call of `try_pull`, or of `pull`, which has an event.
pub(crate) type TryPulled = Result<(Any, bool), PullSupplierTryPullError>;

/// Interface of suppliers or consumers, which are told when their connection ends.
pub(crate) trait Peer: Interface + Clone + Send + Sync + 'static {
    /// Calls the operation that ends the connection; does not wait for its reply.
    fn say_disconnected(&self);
}

macro_rules! peers {
    ($($interface:ident $disconnect:ident;)*) => {
        $(
            impl Peer for $interface {
                fn say_disconnected(&self) {
                    self.$disconnect(|outcome: Result<(), SystemException>| {
                        if let Err(exception) = outcome {
                            tracing::debug!("a peer could not be told that it is disconnected: {exception}");
                        }
                    });
                }
            }
        )*
    };
}

peers! {
    PushConsumer sendc_disconnect_push_consumer;
    PushSupplier sendc_disconnect_push_supplier;
    PullConsumer sendc_disconnect_pull_consumer;
    PullSupplier sendc_disconnect_pull_supplier;
}
