#![cfg_attr(test, allow(clippy::unwrap_used))]
//! What the operating system gives: sockets with their options, this host's addresses, processors.
//!
//! The one crate that talks to the kernel beyond the standard library, through `rustix`, so that
//! everything above it is plain safe Rust. Nothing here knows of connections, messages or threads'
//! purposes.

pub mod host;
pub mod processor;
pub mod tcp;
