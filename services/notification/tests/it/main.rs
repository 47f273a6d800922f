//! Tests of the Notification Service: each operation, events between clients of every kind, filters, quality of service,
//! limits, clients that fail, and restarts.
#![allow(missing_docs, clippy::unwrap_used)]

mod clients;
mod clusters;
mod connections;
mod counting;
#[path = "../crash/mod.rs"]
mod crash;
mod crossing;
mod embedded;
mod failing;
mod filters;
mod foreign;
mod foreign_failing;
mod foreign_kept;
mod hostile;
mod jetstream;
mod judges;
mod kills;
mod logs;
mod mapping;
#[path = "../../../jetstream/tests/nats/mod.rs"]
mod nats;
mod omniorb;
mod persistent;
mod pulling;
mod quality;
mod reconnecting;
mod restarts;
mod settings;
mod storing;
mod support;
mod topology;
mod types;
