//! Proxies of suppliers: events that are pushed to them, or that they pull, go into the channel.
//!
//! ```text
//! core         the proxy
//! received     structured events of requests, which stay encoded
//! supply       events on their way into the channel
//! asking       questions to foreign filters
//! pull         state of pulling
//! pulling      calls to suppliers that are pulled from
//! interface    operations that all have; interfaces, those of each kind
//! ```

mod asking;
mod core;
mod interface;
mod interfaces;
mod pull;
mod pulling;
mod received;
mod supply;

pub(crate) use self::core::Inlet;
pub(crate) use received::servant;
