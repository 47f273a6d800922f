//! Channels: what suppliers put in reaches the consumers whose types and filters it matches.
//!
//! ```text
//! members      administrators of a channel, and numbers of its clients
//! core         the channel
//! embedding    a channel that is a part of another service
//! admins       administrators that clients add; proxies of all
//! hub          the channel as its proxies see it: events and types
//! keeping      changes of a channel, and its record
//! restoring    administrators that a store has kept
//! interface    EventChannel
//! counting     what the channel has counted
//! describing   names, and all that clients have stated
//! ```

mod admins;
mod core;
mod counting;
mod describing;
mod embedding;
mod hub;
mod interface;
mod keeping;
mod members;
mod restoring;

pub(crate) use self::core::Channel;
pub use self::core::{Properties, Unsupported};
pub(crate) use restoring::Admin;
