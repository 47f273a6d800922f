//! Tests of the event channel.
#![allow(clippy::unwrap_used)]

mod channel;
mod model;
mod support;
