//! Parts that event services share: the interfaces of suppliers and consumers, and what it takes to call objects that
//! may not answer.
//!
//! ```text
//! cos_event_comm, cos_event_channel_admin    interfaces of the Event Service 1.2
//! workers, timetable                         threads that call peers; calls that are due later
//! connection, watch                          connections of proxies; proxies whose peers are gone
//! peer                                       bounded calls; the question whether a peer exists
//! objects                                    references, and the servants that they lead to
//! keeper                                     the store of a service while it is served
//! names                                      names that stay bound in a Naming Service
//! size                                       bytes of Anys
//! count                                      counters of metrics
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod connection;
mod count;
mod keeper;
pub mod names;
mod objects;
pub mod peer;
mod size;
mod timetable;
pub mod watch;
mod workers;

pub use connection::{Connection, ConnectionError, Patience};
pub use count::Count;
pub use keeper::Keeper;
pub use objects::{Gone, NotMade, Objects};
pub use size::bytes_of;
pub use timetable::Timetable;
pub use workers::Workers;

/// Suppliers and consumers, as generated from the standard's IDL.
mod comm {
    include!(concat!(env!("OUT_DIR"), "/CosEventComm.rs"));
}

/// Channels and proxies, as generated from the standard's IDL.
mod admins {
    include!(concat!(env!("OUT_DIR"), "/CosEventChannelAdmin.rs"));
}

pub use admins::cos_event_channel_admin;
pub use comm::cos_event_comm;
