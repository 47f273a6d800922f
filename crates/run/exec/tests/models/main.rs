//! Models of the hand-over: every order in which the steps of a few threads may meet, and every
//! value that a weakly ordered load may see, up to a number of preemptions (`LOOM_MAX_PREEMPTIONS`,
//! 2 unless it is set; loom).
//!
//! The models run the code itself, with loom's atomics in place of its own (`sync`). Each test
//! prints the number of executions explored: `cargo test -p punctual-exec --test models --release
//! -- --nocapture`.
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

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Explores a model and prints the number of executions.
fn explore(name: &str, model: impl Fn() + Sync + Send + 'static) {
    let explored = Arc::new(AtomicUsize::new(0));
    let count = explored.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let explored = explored.load(Ordering::Relaxed);
    println!("{name}: {explored} executions explored");
    assert!(explored > 1, "a model with one order explores nothing");
}
