//! Nodes that are killed; `tests/slow.rs` has a longer run.

use crate::cluster::{Plan, run};

#[test]
fn what_is_acknowledged_is_delivered_in_order_while_nodes_are_killed() {
    run(Plan {
        kills: 4,
        events: 40_000,
        most_life: 1_000,
    });
}
