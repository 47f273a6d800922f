//! Peers of a channel by their object references, which the channel calls.

mod consumer;
mod lease;
mod observer;
mod supplier;

pub(crate) use consumer::RemoteConsumer;
pub(crate) use lease::Lease;
pub(crate) use observer::RemoteObserver;
pub(crate) use supplier::RemoteSupplier;
