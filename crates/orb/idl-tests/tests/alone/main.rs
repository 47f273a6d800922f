//! Integration tests that each need a process of their own, as they observe its threads, its
//! memory, its log or its panic hook: each runs this program again ([`alone`]).
#![allow(clippy::unwrap_used)]

mod asynchronous_lanes;
mod later_threads;
mod measured;
mod opentelemetry;
mod panics;
#[path = "../../../punctual/tests/it/support/mod.rs"]
mod support;
