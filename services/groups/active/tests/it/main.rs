//! Tests of active replication: members in this process on a log in a file, and on JetStream with processes that are killed and stopped.
#![allow(missing_docs, clippy::unwrap_used)]

mod interruptions;
mod jetstream;
#[path = "../../../../jetstream/tests/nats/mod.rs"]
mod nats;
mod order;
mod repeats;
mod state;
mod support;

/// Rust code of the members' interface.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/ledger.rs"));
}
