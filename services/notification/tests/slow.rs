//! A million persistent events, and servers that are killed 50 times, in a file and in a cluster: takes many minutes each.
//! `cargo test -p punctual-notification --test slow`, or `cargo xtask test --slow`. `PUNCTUAL_KILLS=10` makes it a fifth of
//! each.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

#[path = "it/clients.rs"]
mod clients;
mod crash;
#[path = "../../jetstream/tests/nats/mod.rs"]
mod nats;
#[path = "it/support.rs"]
mod support;

use crash::{Plan, child, run, run_clustered};
use nats::Nats;

fn plan(host: &'static str) -> Plan {
    let kills = std::env::var("PUNCTUAL_KILLS").map_or(50, |kills| kills.parse().unwrap());
    Plan {
        kills,
        events: i32::try_from(kills).unwrap() * 20_000,
        most_life: 10_000,
        host,
    }
}

#[test]
fn a_million_persistent_events_survive_fifty_kills_of_the_server() {
    run(plan("127.79.3.2"), "process_that_is_killed");
}

#[test]
fn a_million_persistent_events_survive_fifty_kills_of_servers_of_a_cluster() {
    let Some(nats) = Nats::start() else {
        return;
    };
    run_clustered(plan("127.79.3.4"), &nats, "process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
