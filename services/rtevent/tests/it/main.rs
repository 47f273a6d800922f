//! Tests of the event channel.
#![allow(clippy::unwrap_used)]

mod channel;
mod support;
