//! A million events and 50 kills of nodes: takes minutes. `cargo test -p punctual-jetstream --test slow`, or
//! `cargo xtask test --slow`. `PUNCTUAL_KILLS=10` makes it a fifth of each.
#![allow(missing_docs, clippy::unwrap_used)]

mod cluster;
mod nats;

use cluster::{Plan, run};

#[test]
fn a_million_events_survive_fifty_kills_of_nodes() {
    let kills = std::env::var("PUNCTUAL_KILLS").map_or(50, |kills| kills.parse().unwrap());
    run(Plan {
        kills,
        events: u64::from(kills) * 20_000,
        most_life: 2_000,
    });
}
