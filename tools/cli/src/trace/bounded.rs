//! Table of limited size: old entries are removed to make room for new ones, as a log may be
//! endless.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    most: usize,
    entries: HashMap<K, (u64, V)>,
    /// Keys in the order in which they were written.
    order: BTreeMap<u64, K>,
    written: u64,
}

impl<K: Clone + Eq + Hash, V> Bounded<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            entries: HashMap::new(),
            order: BTreeMap::new(),
            written: 0,
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Inserts a value, replacing the previous one.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        if self.entries.len() >= self.most {
            self.remove_oldest();
        }
        self.written += 1;
        self.order.insert(self.written, key.clone());
        self.entries.insert(key, (self.written, value));
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let (written, value) = self.entries.remove(key)?;
        self.order.remove(&written);
        Some(value)
    }

    pub(super) fn remove_oldest(&mut self) {
        if let Some((_, key)) = self.order.pop_first() {
            self.entries.remove(&key);
        }
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_make_room() {
        let mut table = Bounded::new(2);
        for (key, value) in [(1, 'a'), (2, 'b'), (1, 'c'), (3, 'd')] {
            table.insert(key, value);
        }
        assert_eq!(table.get(&1), Some(&'c'));
        assert_eq!(table.get(&2), None);
        assert_eq!(table.remove(&3), Some('d'));
        assert_eq!(table.values().collect::<Vec<_>>(), [&'c']);
        assert_eq!(table.order.len(), 1);
    }
}
