//! Models of the waiting of callers for their replies on one connection: every interleaving of the
//! steps of a few threads, and every value that a weakly ordered load may see, up to a number of
//! preemptions (`LOOM_MAX_PREEMPTIONS`, 2 unless it is set; loom).
//!
//! The code itself is modelled (`lane/outgoing/calls/slot.rs`,
//! `lane/outgoing/calls/reply_table.rs`, `lane/outgoing/calls/callers.rs`), with loom's atomics in
//! place of its own (`sync`); only the socket is simulated (`wire`). Each test prints the number of
//! executions explored: `cargo test -p punctual-orb --features punctual-models/loom --test models --release
//! -- --nocapture`.
//!
//! The connection cache (`lane/outgoing/pool/cache.rs`) has no model: all its state is under
//! mutexes, and a thread that holds one never waits for another (`try_lock` there), except that of
//! one endpoint's connections, under which those of `endpoints` and `reaped` are taken for a moment
//! each. State of a connection that is read outside of these, its retirement and the number of its
//! calls, is in `callers.rs`, and modelled here.
#![allow(missing_docs, dead_code, unreachable_pub, clippy::unwrap_used)]

#[path = "../../src/lane/outgoing/calls/callers.rs"]
mod callers;
mod ends;
mod hand_over;
mod places;
#[path = "../../src/lane/outgoing/calls/reply_table.rs"]
mod reply_table;
#[path = "../../src/lane/outgoing/calls/slot.rs"]
mod slot;
mod sync;
mod wire;

use punctual_models::{explore, explore_up_to};
