#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Operating system services: sockets with their options, this host's addresses, processors,
//! scheduling of threads, locks that inherit priorities.
//!
//! This is the only crate that talks to the kernel beyond the standard library, through `rustix`
//! and, where that lacks a call, `libc`, so that everything above it is plain safe
//! Rust. It knows nothing of connections, messages or threads' purposes.

pub mod access;
pub mod activity;
#[allow(unsafe_code)]
pub mod allocator;
pub mod clock;
#[allow(unsafe_code)]
pub mod cpu_clock;
pub mod credentials;
#[allow(unsafe_code)]
pub mod cycles;
pub mod descriptors;
#[allow(unsafe_code)]
pub mod discipline;
pub mod dscp;
pub mod epoll;
pub mod event;
pub mod futex;
pub mod host;
#[allow(unsafe_code)]
pub mod inherited;
pub mod lifeline;
#[allow(unsafe_code)]
pub mod memory;
pub mod memory_lock;
pub mod multicast;
pub mod passing;
pub mod pi_mutex;
pub mod processor;
pub mod quota;
pub mod scheduling;
#[allow(unsafe_code)]
pub mod stack;
pub mod stream;
pub mod tcp;
pub mod time_of_day;
#[allow(unsafe_code)]
pub mod traffic;
pub mod udp;
pub mod unix;
#[allow(unsafe_code)]
pub mod vsock;
