//! A million events, and a process that is killed 50 times: takes minutes.
//! `cargo test -p punctual-durable --test slow`, or `cargo xtask test --slow`. `PUNCTUAL_KILLS=10` makes it a fifth of each.
#![allow(missing_docs, clippy::unwrap_used)]

mod crash;

use crash::{Plan, child, run};

#[test]
fn a_million_events_survive_fifty_kills() {
    let kills = std::env::var("PUNCTUAL_KILLS").map_or(50, |kills| kills.parse().unwrap());
    let plan = Plan {
        kills,
        events: u64::from(kills) * 20_000,
        most_life: 3_000,
    };
    run(plan, "process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
