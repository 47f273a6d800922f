//! The Event Service of the OMG, version 1.2: channels that take events of suppliers and give them to consumers, by
//! push and by pull in any combination.
//!
//! ```text
//! event, limits, metrics, refusal    data of events; bounds; counts; exceptions
//! workers, timetable                 threads that call peers; calls that are due later
//! connection, peer                   a proxy's connection; calls to the object behind it
//! objects                            references, and the servants that they lead to
//! channel                            a channel: two channels of `punctual-rtevent`, and its proxies
//! push_consumer, pull_supplier, pull_consumer, push_supplier    the proxies, by their interfaces
//! admin, factory                     channels and their administrators; the factory of omniEvents
//! ```
//!
//! An [`EventService`] has a default channel, and those that clients create.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admin;
mod channel;
mod channels;
mod common;
mod connection;
mod criteria;
mod event;
mod factory;
mod hosted;
mod limits;
mod metrics;
mod names;
mod objects;
mod obtain;
mod peer;
mod proxy;
mod pull_consumer;
mod pull_queue;
mod pull_supplier;
mod push_consumer;
mod push_supplier;
mod refusal;
mod service;
mod settings;
mod storage;
mod timetable;
mod watch;
mod workers;

pub use hosted::release_at_end;
pub use limits::{Discard, Limits, Pulling};
pub use names::NamesToBind;
pub use refusal::Refusal;
pub use service::{EventService, OpenError, Root};
pub use settings::{LISTEN, open, settings};

/// Suppliers and consumers, as generated from the standard's IDL.
mod comm {
    include!(concat!(env!("OUT_DIR"), "/CosEventComm.rs"));
}

/// Channels and proxies, as generated from the standard's IDL.
mod admins {
    include!(concat!(env!("OUT_DIR"), "/CosEventChannelAdmin.rs"));
}

/// Records of the store, as generated from the IDL.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

/// Factories, as generated from the IDL of omniEvents.
mod factories {
    include!(concat!(env!("OUT_DIR"), "/omniEvents.rs"));
}

pub use admins::cos_event_channel_admin;
pub use comm::cos_event_comm;
pub use factories::{cos_life_cycle, event as openorb_event, event_channel_admin, ft, omni_events};
use stored::kept;
