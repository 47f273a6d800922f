//! Peers that break the protocol, by every link and in every messaging protocol: answered as the
//! protocol says or closed, with one line in the log, while all others are served, and without
//! growth.
#![cfg(all(feature = "reliable", feature = "tls"))]
#![allow(clippy::unwrap_used)]

mod budgets;
mod datagrams;
mod descriptors;
mod door;
mod endpoints;
mod frames;
mod giop;
mod killed;
mod links;
mod lite;
mod log;
mod never_reads;
mod peer;
mod process;
mod scribble;
mod server;
mod slow;
mod tls;
mod unsent;

use std::time::Duration;

/// Time limit of the watchdog.
const LIMIT: Duration = Duration::from_secs(120);
