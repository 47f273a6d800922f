//! The Notification Service of the OMG, version 1.1: channels that take events of suppliers, and give each consumer those
//! that its types and filters ask for, in the order and for the time that its quality of service says.
//!
//! ```text
//! types, index, event, qos, queue, census    what an event is, who it is for, and when; no calls
//! seen, encoded                              structured events as constraints see them; those that stay encoded
//! limits, refusal, limited                   bounds; exceptions
//! outcome, metrics, tally                    counts
//! storage, record, reference                 the file that channels, connections and filters are kept in; references as text
//! journal                                    logs of persistent events
//! common, client                             threads and objects of the service; calls to consumers and suppliers
//! filter, quality                            filters; quality of service
//! presence, inquiry, line                    events that wait for verdicts of foreign filters
//! draft, stated, administered                what clients state, its changes and its record; operations for that
//! generation, selection                      subscribers by what their filters need
//! tail                                       events of a channel for a page
//! names, naming                              names of channels and administrators
//! hub, group                                 a channel and an administrator, as their proxies see them
//! notices, proxy, telling                    proxies; changes of types that their clients hear of
//! inlet, outlet                              proxies of suppliers, and of consumers
//! admin, channel, factory                    administrators, channels, and all channels of a service
//! gate, embedded                             channels within another service
//! reconnections                              clients that hear when the service has been started again
//! restoring, service, hosted, settings       what was kept is made anew; the service in a process
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admin;
mod administered;
mod census;
mod channel;
mod client;
mod common;
mod draft;
mod embedded;
mod encoded;
mod event;
mod factory;
mod filter;
mod gate;
mod generation;
mod group;
mod hosted;
mod hub;
mod index;
mod inlet;
mod inquiry;
mod journal;
mod limited;
mod limits;
mod line;
mod metrics;
mod names;
mod naming;
mod notices;
mod outcome;
mod outlet;
mod presence;
mod proxy;
mod qos;
mod quality;
mod queue;
mod reconnections;
mod record;
mod reference;
mod refusal;
mod restoring;
mod seen;
mod selection;
mod service;
mod settings;
mod stated;
mod storage;
mod tail;
mod tally;
mod telling;
mod types;

pub use channel::{Properties as ChannelProperties, Unsupported};
pub use embedded::{EmbeddedChannel, EmbeddedChannels};
pub use filter::EventFilter;
pub use gate::{Gate, Incoming};
pub use limits::Limits;
pub use refusal::Refusal;
pub use service::{ChannelLook, NotificationService, OpenError};
pub use settings::{LISTEN, open, settings};
pub use tail::Tail;

/// Events, clients and filters, as generated from the standard's IDL.
mod interfaces {
    include!(concat!(env!("OUT_DIR"), "/notification.rs"));
}

/// Channels, administrators and proxies, as generated from the standard's IDL.
mod admins {
    include!(concat!(env!("OUT_DIR"), "/admins.rs"));
}

/// Records of the store, as generated from the IDL.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

pub use admins::{cos_notify_channel_admin, punctual_notify};
pub use interfaces::{cos_notification, cos_notify_comm, cos_notify_filter, notify_ext, time_base};
pub use punctual_events::{cos_event_channel_admin, cos_event_comm};
use stored::kept;
