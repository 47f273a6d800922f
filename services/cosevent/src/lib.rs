//! The Event Service of the OMG, version 1.2: channels that take events of suppliers and give them to consumers, by
//! push and by pull in any combination.
//!
//! ```text
//! event, limits, metrics, refusal    data of events; bounds; counts; exceptions
//! peer                               calls to the object behind a proxy
//! gone                               answers of proxies that are gone
//! restoring                          what a store has kept is made again
//! channel                            a channel: two channels of `punctual-rtevent`, and its proxies
//! push_consumer, pull_supplier, pull_consumer, push_supplier    the proxies, by their interfaces
//! admin, factory                     channels and their administrators; the factory of omniEvents
//! typed                              typed channels: events are calls of an interface
//! gate, embedded                     channels within another service
//! ```
//!
//! An [`EventService`] has a default channel, and those that clients create.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admin;
mod channel;
mod channels;
mod common;
mod criteria;
mod embedded;
mod event;
mod factory;
mod gate;
mod gone;
mod hosted;
mod limits;
mod metrics;
mod obtain;
mod peer;
mod proxy;
mod pull_consumer;
mod pull_queue;
mod pull_supplier;
mod push_consumer;
mod push_supplier;
mod refusal;
mod restoring;
mod service;
mod settings;
mod storage;
mod typed;
mod until_end;

pub use embedded::EmbeddedChannel;
pub use gate::Gate;
pub use limits::{Discard, Limits, Pulling};
pub use punctual_events::names::NamesToBind;
pub use refusal::Refusal;
pub use service::{EventService, OpenError, Root};
pub use settings::{LISTEN, open, settings};
pub use typed::EventInterfaces;

/// Records of the store, as generated from the IDL.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

/// Factories, as generated from the IDL of omniEvents.
mod factories {
    include!(concat!(env!("OUT_DIR"), "/omniEvents.rs"));
}

/// Typed channels, as generated from the standard's IDL.
mod typed_channels {
    include!(concat!(env!("OUT_DIR"), "/typed.rs"));
}

pub use factories::{cos_life_cycle, event as openorb_event, event_channel_admin, ft, omni_events};
pub use punctual_events::{cos_event_channel_admin, cos_event_comm};
use stored::kept;
pub use typed_channels::{cos_typed_event_channel_admin, cos_typed_event_comm};
