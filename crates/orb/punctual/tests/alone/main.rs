//! Integration tests that each need a process of their own, as they observe its memory, its
//! descriptors or its log: each runs this program again ([`alone`]).
#![allow(clippy::unwrap_used)]

mod adapters;
#[cfg(feature = "tls")]
#[path = "../it/support/authority.rs"]
mod authority;
mod crowd;
mod fuzz;
mod log_that_calls;
mod measured;
mod processors;
#[path = "../it/support/mod.rs"]
mod support;
mod warm;
