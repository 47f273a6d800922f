//! Channels: what suppliers put in reaches the consumers whose types and filters it matches.
//!
//! ```text
//! members      administrators of a channel, and numbers of its clients
//! core         the channel
//! clients      how clients come and leave; the channel as they see it
//! keeping      changes of a channel, and its record
//! restoring    administrators that a store has kept
//! interface    EventChannel
//! ```

mod clients;
mod core;
mod interface;
mod keeping;
mod members;
mod restoring;

pub(crate) use self::core::{Channel, Properties, Unsupported};
pub(crate) use restoring::Admin;
