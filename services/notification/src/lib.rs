//! The Notification Service of the OMG, version 1.1.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod qos;
mod queue;

/// Events, clients and filters, as generated from the standard's IDL.
mod interfaces {
    include!(concat!(env!("OUT_DIR"), "/notification.rs"));
}

/// Channels, administrators and proxies, as generated from the standard's IDL.
mod admins {
    include!(concat!(env!("OUT_DIR"), "/CosNotifyChannelAdmin.rs"));
}

pub use admins::cos_notify_channel_admin;
pub use interfaces::{cos_notification, cos_notify_comm, cos_notify_filter, time_base};
pub use punctual_events::{cos_event_channel_admin, cos_event_comm};
