#![cfg_attr(test, allow(clippy::unwrap_used))]
//! What the operating system gives: sockets with their options, this host's addresses, processors.
//!
//! The one crate that talks to the kernel beyond the standard library, through `rustix`, so that
//! everything above it is plain safe Rust. Nothing here knows of connections, messages or threads'
//! purposes.

pub mod clock;
pub mod credentials;
#[allow(unsafe_code)]
pub mod cycles;
pub mod epoll;
pub mod event;
pub mod futex;
pub mod host;
#[allow(unsafe_code)]
pub mod memory;
pub mod passing;
pub mod processor;
pub mod stream;
pub mod tcp;
pub mod udp;
pub mod unix;
