//! The reactor, and those who share it.
#![allow(missing_docs, clippy::unwrap_used)]

mod pool;
mod registrations;
mod support;
mod timers;
mod waiting;
