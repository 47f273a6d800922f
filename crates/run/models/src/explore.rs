//! Running a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Explores a model with up to two preemptions (or `LOOM_MAX_PREEMPTIONS`), and prints how many executions there were.
///
/// # Panics
/// If the model fails in one of them, or there is only one.
pub fn explore(name: &str, model: impl Fn() + Sync + Send + 'static) {
    explore_up_to(2, name, model);
}

/// Explores a model with up to that many preemptions.
///
/// # Panics
/// As [`explore`].
pub fn explore_up_to(preemptions: usize, name: &str, model: impl Fn() + Sync + Send + 'static) {
    let explored = Arc::new(AtomicUsize::new(0));
    let count = explored.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let explored = explored.load(Ordering::Relaxed);
    println!("{name}: {explored} executions explored");
    assert!(explored > 1, "a model with one order explores nothing");
}
