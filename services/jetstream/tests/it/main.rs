//! Tests against a NATS server: conformance, restarts, the bridge, credentials and TLS. They are
//! skipped where there is no `nats-server` (in the path, or named by `PUNCTUAL_NATS_SERVER`).
#![allow(missing_docs, clippy::unwrap_used)]

mod away;
mod bridge;
#[path = "../cluster/mod.rs"]
mod cluster;
mod conformance;
mod losses;
mod lost;
#[path = "../nats/mod.rs"]
mod nats;
mod nodes;
mod records;
mod secured;
mod settings;
mod silent;
mod takeover;
