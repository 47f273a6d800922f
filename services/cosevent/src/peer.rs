//! Calls to the objects behind proxies: the end of a connection, and the question whether they exist.

use std::time::Duration;

use punctual::{Interface, SystemException, SystemExceptionKind as Kind};

use crate::cos_event_comm::{PullConsumer, PullSupplier, PushConsumer, PushSupplier};

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

/// Returns a reference to the same peer, whose calls take no longer than the time.
pub(crate) fn bounded<P: Peer>(peer: &P, time: Duration) -> P {
    P::from_object(peer.as_object().with_timeout(time))
}

/// Answer to the question whether a peer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existence {
    Exists,
    /// The peer did not answer in time, or could not be reached.
    Unknown,
    Gone,
}

/// Asks a peer whether it exists. Blocks for the time limit of its reference.
pub(crate) fn existence(peer: &impl Peer) -> Existence {
    match peer.as_object().non_existent() {
        Ok(false) => Existence::Exists,
        Ok(true) => Existence::Gone,
        Err(exception) => match exception.kind() {
            // It answers, and knows nothing of this operation or refuses it to us.
            Kind::BadOperation | Kind::NoImplement | Kind::NoPermission => Existence::Exists,
            _ => Existence::Unknown,
        },
    }
}

/// Returns whether an exception of a call says that the peer does not exist any more.
pub(crate) fn is_gone(exception: &SystemException) -> bool {
    matches!(exception.kind(), Kind::ObjectNotExist | Kind::InvObjref)
}
