//! Models of how callers wait for their replies on one connection: every order in which the steps of a few
//! threads may meet, and every value that a weakly ordered load may see, up to a number of preemptions
//! (`LOOM_MAX_PREEMPTIONS`, 2 unless it is set; loom).
//!
//! The code itself is modelled (`lane/outgoing/calls/slot.rs`, `lane/outgoing/calls/reply_table.rs`, `lane/outgoing/calls/callers.rs`), with loom's
//! atomics in place of its own (`sync`); only the socket is a model's (`wire`). Each test prints how many
//! executions were explored: `cargo test -p punctual-orb --test models --release -- --nocapture`.
//!
//! The connection cache (`lane/outgoing/pool/cache.rs`) has no model: all it holds is under mutexes, none of which is
//! waited for by who holds another (`try_lock` there), but for that of one endpoint's connections, behind which those of
//! `endpoints` and `reaped` are taken for a moment each. What of a connection is read outside of those, whether it was
//! retired and whether calls are left, is `callers.rs`, and modelled here.
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
