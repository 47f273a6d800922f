//! The channel as suppliers and consumers see it: a proxy for each of them.
//!
//! Skeletons are written by hand, as the fields of events on the wire are an option of the channel.

mod consumer;
mod objects;
mod supplier;

pub(crate) use consumer::ProxyConsumer;
pub(crate) use objects::{Proxies, ProxyOf};
pub(crate) use supplier::ProxySupplier;
