//! Tests of the reactor and the threads that share it.
#![allow(missing_docs, clippy::unwrap_used)]

mod pool;
mod registrations;
mod support;
mod timers;
mod waiting;
