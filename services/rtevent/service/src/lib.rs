//! The real-time event service: `RtecEventChannelAdmin::EventChannel` with the interface of TAO 2.2.1, over the
//! channel of `punctual-rtevent`.
//!
//! Suppliers and consumers connect to proxies, push events, and receive those that their filters accept. An
//! [`EventService`] serves one channel; programs of the same process use [`EventService::channel`] without an ORB
//! between.
//!
//! ```text
//! wire        events and subscriptions as octets, in the forms that builds of TAO have
//! service     the channel, its proxies, and rules of access
//! received    events from elsewhere, whose memory is reused
//! proxy       the channel as suppliers and consumers see it
//! peer        suppliers, consumers and observers as the channel sees them
//! typed       events of IDL types
//! adapters    policies of the objects' adapters
//! servant     the channel's object and its factories of proxies
//! client      programs that use channels of other servers
//! levels      priorities of deliveries, from a plan
//! inspect     what passes, and what the channel has counted
//! federation  events from one channel to another
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod adapters;
pub mod client;
mod clock;
mod data;
pub mod federation;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod hosted;
pub mod inspect;
pub mod levels;
mod metrics;
mod options;
mod peer;
mod proxy;
mod received;
mod refusal;
mod reports;
mod servant;
mod service;
mod settings;
pub mod typed;
mod wire;

pub use adapters::AdapterPolicies;
pub use clock::EventClock;
pub use data::{Data, Event, EventData};
pub use options::{Convention, ServiceOptions};
pub use service::{EventService, OpenError};
pub use settings::{LISTEN, open, settings};
pub use wire::{Form, FormError};

include!(concat!(env!("OUT_DIR"), "/PunctualEvents.rs"));
