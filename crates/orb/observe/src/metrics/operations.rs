//! Counters of operations by name, up to a limit.

use crate::histogram::Histogram;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds of the buckets of durations, in microseconds.
const BOUNDS: [u64; 17] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// Counters for the calls of one operation, on the client's or the server's side.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) calls: AtomicU64,
    pub(super) user_exceptions: AtomicU64,
    pub(super) system_exceptions: AtomicU64,
    pub(super) times: Histogram<{ BOUNDS.len() }>,
}

impl Default for Operation {
    fn default() -> Self {
        Self {
            calls: AtomicU64::new(0),
            user_exceptions: AtomicU64::new(0),
            system_exceptions: AtomicU64::new(0),
            times: Histogram::new(&BOUNDS),
        }
    }
}

/// Outcome of a call, as counted in the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    UserException,
    SystemException,
}

impl Operation {
    // Relaxed: the numbers order nothing else.
    pub(super) fn count(&self, ended: Ended, took: Option<std::time::Duration>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match ended {
            Ended::Well => {}
            Ended::UserException => {
                self.user_exceptions.fetch_add(1, Ordering::Relaxed);
            }
            Ended::SystemException => {
                self.system_exceptions.fetch_add(1, Ordering::Relaxed);
            }
        }
        if let Some(took) = took {
            self.times.add(took);
        }
    }
}

/// Immutable map of operations, which is replaced when an operation is called for the first time.
#[derive(Debug)]
pub(super) struct Operations {
    known: ArcSwap<BTreeMap<Box<str>, Arc<Operation>>>,
    adding: Mutex<()>,
    most: usize,
    /// Counters shared by all operations that are not counted by name.
    others: Arc<Operation>,
}

/// Name under which the operations that are not counted by name appear.
pub(super) const OTHERS: &str = "other";

impl Operations {
    pub(super) fn new(most: usize) -> Self {
        Self {
            known: ArcSwap::default(),
            adding: Mutex::new(()),
            most,
            others: Arc::default(),
        }
    }

    /// Returns the counters of the operation `name`. Adds new ones if the limit allows it and
    /// `exists` is true; otherwise returns the shared counters of `other`.
    pub(super) fn of(&self, name: &str, exists: bool) -> Arc<Operation> {
        if let Some(known) = self.known.load().get(name) {
            return known.clone();
        }
        match exists {
            true => self.add(name),
            false => self.others.clone(),
        }
    }

    #[cold]
    fn add(&self, name: &str) -> Arc<Operation> {
        let _adding = self.adding.lock();
        let known = self.known.load_full();
        if let Some(known) = known.get(name) {
            return known.clone();
        }
        if known.len() >= self.most {
            return self.others.clone();
        }
        let added = Arc::new(Operation::default());
        let mut all = (*known).clone();
        all.insert(name.into(), added.clone());
        self.known.store(Arc::new(all));
        added
    }

    /// Returns all operations with their counters, sorted by name.
    pub(super) fn all(&self) -> Vec<(Box<str>, Arc<Operation>)> {
        let known = self.known.load_full();
        let known = known.iter().map(|(name, one)| (name.clone(), one.clone()));
        let others = (OTHERS.into(), self.others.clone());
        let is_used = |(_, one): &(_, Arc<Operation>)| one.calls.load(Ordering::Relaxed) > 0;
        known.chain([others]).filter(is_used).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_up_to_a_number_and_only_those_that_there_are() {
        let operations = Operations::new(2);
        for name in ["a", "b", "c", "a"] {
            operations.of(name, true).count(Ended::Well, None);
        }
        operations
            .of("d", false)
            .count(Ended::SystemException, None);
        let all = operations.all();
        let all: Vec<_> = all
            .iter()
            .map(|(name, one)| (&**name, one.calls.load(Ordering::Relaxed)))
            .collect();
        assert_eq!(all, [("a", 2), ("b", 1), (OTHERS, 2)]);
    }
}
