//! A server with persistent events, killed at random; `tests/slow.rs` has a longer run.

use crate::crash::{Plan, child, run, run_clustered};
use crate::nats::Nats;

#[test]
fn persistent_events_reach_each_consumer_in_order_however_often_the_server_is_killed() {
    let plan = Plan {
        kills: 5,
        events: 3_000,
        most_life: 700,
        host: "127.79.3.1",
    };
    run(plan, "kills::process_that_is_killed");
}

#[test]
fn persistent_events_reach_each_consumer_however_often_servers_of_a_cluster_take_over() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let plan = Plan {
        kills: 4,
        events: 3_000,
        most_life: 700,
        host: "127.79.3.3",
    };
    run_clustered(plan, &nats, "kills::process_that_is_killed");
}

#[test]
fn process_that_is_killed() {
    child();
}
