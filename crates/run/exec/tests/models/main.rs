//! Models of the hand-over: every order in which the steps of a few threads may meet, and every
//! value that a weakly ordered load may see, up to a number of preemptions (`LOOM_MAX_PREEMPTIONS`,
//! 2 unless it is set; loom).
//!
//! The models run the code itself, with loom's atomics in place of its own (`sync`). Each test
//! prints the number of executions explored: `cargo test -p punctual-exec --features
//! punctual-models/loom --test models --release -- --nocapture`.
#![allow(missing_docs, dead_code, unreachable_pub, clippy::unwrap_used)]

mod giving;
#[path = "../../src/worker_pool/handover.rs"]
mod handover;
#[path = "../../src/leader_followers/leadership.rs"]
mod leadership;
mod leading;
#[path = "../../src/reactor/owner.rs"]
mod owner;
mod ownership;
mod sync;

use punctual_models::explore;
