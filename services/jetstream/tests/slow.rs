//! A million events and 50 kills of nodes: takes minutes. `cargo test -p punctual-jetstream --test slow`, or
//! `cargo xtask test --slow`.
#![allow(missing_docs, clippy::unwrap_used)]

mod cluster;
mod nats;

use cluster::{Plan, run};

#[test]
fn a_million_events_survive_fifty_kills_of_nodes() {
    run(Plan {
        kills: 50,
        events: 1_000_000,
        most_life: 2_000,
    });
}
