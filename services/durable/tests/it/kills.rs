//! A process that appends and reads, killed at random; `tests/slow.rs` has a longer run.

use crate::crash::{Plan, child, run};

#[test]
fn what_is_acknowledged_is_delivered_in_order_however_often_the_process_is_killed() {
    let plan = Plan {
        kills: 8,
        events: 12_000,
        most_life: 400,
    };
    run(plan, "kills::process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
