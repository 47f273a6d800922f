//! A million events, and a process that is killed 50 times: takes minutes.
//! `cargo test -p punctual-durable --test slow`, or `cargo xtask test --slow`.
#![allow(missing_docs, clippy::unwrap_used)]

mod crash;

use crash::{Plan, child, run};

#[test]
fn a_million_events_survive_fifty_kills() {
    let plan = Plan {
        kills: 50,
        events: 1_000_000,
        most_life: 3_000,
    };
    run(plan, "process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
