//! Groups of mutexes that may be held together.

use std::collections::BTreeMap;

/// Mutexes in groups: those of one group are connected by jobs that may hold two of them at a time.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Another mutex of the same group, or the mutex itself, which then stands for the group.
    parents: BTreeMap<usize, usize>,
}

impl Groups {
    /// Adds that the mutexes of one task may be held together.
    pub(super) fn add(&mut self, mutexes: impl Iterator<Item = usize>) {
        let mut before = None;
        for mutex in mutexes {
            if let Some(before) = before {
                self.join(before, mutex);
            }
            before = Some(mutex);
        }
    }

    /// Returns the mutex that stands for the group of a mutex.
    pub(super) fn root(&mut self, mutex: usize) -> usize {
        let mut at = mutex;
        while let Some(&parent) = self.parents.get(&at).filter(|&&parent| parent != at) {
            // Halves the path, so that later searches are short.
            let next = self.parents.get(&parent).copied().unwrap_or(parent);
            self.parents.insert(at, next);
            at = next;
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents.insert(one, other);
    }
}
