//! Model-checking tests (loom) of callers that wait for their replies on one connection. They explore every
//! interleaving of a few threads, and every value that a weakly ordered load may return, up to a number of
//! preemptions (`LOOM_MAX_PREEMPTIONS`, default 2).
//!
//! The tests run the actual code (`lane/outgoing/calls/slot.rs`, `lane/outgoing/calls/reply_table.rs`,
//! `lane/outgoing/calls/callers.rs`), with loom's atomics in place of its own (`sync`); only the socket is
//! simulated (`wire`). Each test prints the number of executions explored: `cargo test -p punctual-orb
//! --features punctual-models/loom --test models --release -- --nocapture`.
//!
//! The connection cache (`lane/outgoing/pool/cache.rs`) has no model: all its state is under mutexes, and a
//! thread that holds one never waits for another (`try_lock` there), except that of one endpoint's
//! connections, under which those of `endpoints` and `reaped` are each taken briefly. The state of a
//! connection that is read without these mutexes (its retirement and the number of its calls) is in
//! `callers.rs`, and is covered by these tests.
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
