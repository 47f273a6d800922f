//! Tests of the event channel.
#![allow(clippy::unwrap_used)]

mod channel;
mod dispatch;
mod filter;
mod model;
mod support;
mod timers;
