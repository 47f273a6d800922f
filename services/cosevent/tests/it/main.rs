//! Tests of the Event Service: each operation, events from every kind of supplier to every kind of consumer, the ends of
//! connections, limits, and restarts.
#![allow(missing_docs, clippy::unwrap_used)]

mod access;
mod crossing;
mod disconnects;
mod embedded;
mod factory;
mod hostile;
mod interface;
mod isolation;
mod names;
mod omniorb;
mod peers;
mod pulling;
mod restarts;
mod settings;
mod support;
mod typed;
mod typed_events;
mod typed_interfaces;
mod typed_peers;
mod typed_pulling;
mod typed_sources;
mod wells;

/// Interfaces of typed events, as generated from their IDL.
#[allow(missing_docs, clippy::module_inception)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/plant.rs"));
}

use generated::plant;
