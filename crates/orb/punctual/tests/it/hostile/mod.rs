//! Peers that break the protocol, by every link and in every messaging protocol: the server answers
//! as the protocol specifies or closes the connection, logs one line, serves all others meanwhile,
//! and does not grow.
#![cfg(all(feature = "reliable", feature = "tls"))]
#![allow(clippy::unwrap_used)]

mod addresses;
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

/// Time limit after which the watchdog ends a test.
const LIMIT: Duration = Duration::from_secs(120);
