//! Counters of metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counter that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to the counter. Does not block.
    pub fn add(&self, number: usize) {
        // Relaxed: a count of its own, which orders no other access.
        self.0.fetch_add(number as u64, Ordering::Relaxed);
    }

    /// Returns the sum of all that was added.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
