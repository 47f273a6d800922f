//! Distribution of the response times of an operation, counted without locks.

use punctual_scheduling::Time;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of classes up to the deadline.
const UP_TO_DEADLINE: u64 = 200;

/// Number of all classes.
const CLASSES: usize = 216;

/// Counts of response times in classes of equal width.
#[derive(Debug)]
pub(super) struct Distribution {
    width: u64,
    counts: Box<[AtomicU64]>,
}

impl Distribution {
    /// Makes the classes for an operation's deadline.
    pub(super) fn up_to(deadline: Time) -> Self {
        Self {
            width: deadline.as_nanos().div_ceil(UP_TO_DEADLINE).max(1),
            counts: (0..CLASSES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    // Relaxed: statistics, read when all jobs have ended.
    pub(super) fn count(&self, response: u64) {
        let class = usize::try_from(response / self.width).unwrap_or(CLASSES);
        if let Some(count) = self.counts.get(class.min(CLASSES - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the width of a class.
    pub(super) fn class(&self) -> Time {
        Time::from_nanos(self.width)
    }

    /// Returns the counts of the classes, without the empty classes at the end.
    pub(super) fn counts(&self) -> Vec<u64> {
        let counts = self.counts.iter();
        let mut counts: Vec<u64> = counts.map(|count| count.load(Ordering::Relaxed)).collect();
        while counts.last() == Some(&0) {
            counts.pop();
        }
        counts
    }
}
