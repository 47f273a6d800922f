//! Peers that break the protocol, by every link and in every messaging protocol: answered as the
//! protocol says or closed, one line logged, everybody else served, and no growth.
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

use std::time::Duration;

/// What hangs is ended after this long.
const LIMIT: Duration = Duration::from_secs(120);
