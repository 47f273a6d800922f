//! Groups of mutexes that may be held together.

use super::blocking::CriticalSection;
use std::collections::BTreeMap;

/// Mutexes in groups: those of one group are connected by jobs that may hold two of them at a time.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Another mutex of the same group, or the mutex itself, which then stands for the group.
    parents: BTreeMap<usize, usize>,
}

impl Groups {
    /// Makes the groups of tasks, by their sections: the sections of one task may be nested.
    pub(super) fn of<'t>(tasks: impl Iterator<Item = &'t [CriticalSection]>) -> Self {
        let mut groups = Self::default();
        for sections in tasks {
            for pair in sections.windows(2) {
                groups.join(pair[0].mutex, pair[1].mutex);
            }
        }
        groups
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
