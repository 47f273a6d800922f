//! A million persistent events, and a server that is killed 50 times: takes many minutes.
//! `cargo test -p punctual-notification --test slow`, or `cargo xtask test --slow`. `PUNCTUAL_KILLS=10` makes it a fifth of
//! each.
#![allow(missing_docs, dead_code, clippy::unwrap_used)]

#[path = "it/clients.rs"]
mod clients;
mod crash;
#[path = "it/support.rs"]
mod support;

use crash::{Plan, child, run};

#[test]
fn a_million_persistent_events_survive_fifty_kills_of_the_server() {
    let kills = std::env::var("PUNCTUAL_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let plan = Plan {
        kills,
        events: i32::try_from(kills).unwrap() * 20_000,
        most_life: 10_000,
        host: "127.79.3.2",
    };
    run(plan, "process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
