//! Sets of ancestors: the definitions that an interface or value inherits from or supports, directly
//! or not.
//!
//! A set is made by the first question about its definition, and kept, so that further answers take a
//! binary search and not a walk over all bases. Invariants: a set that is kept agrees with the
//! definitions; all together are no longer than [`MOST`].

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::store::Number;

/// Maximum length of all sets together, in numbers: 16 MiB. A set for which no room is left replaces
/// all others.
const MOST: usize = 4 << 20;
/// Length by which a set counts beside its numbers: its place in the table.
const PLACE: usize = 16;

/// Cache of the ancestors of definitions, as one set for each definition.
#[derive(Debug, Default)]
pub(super) struct Ancestry(Mutex<Sets>);

#[derive(Debug, Default)]
struct Sets {
    /// Sets of ancestors, each in ascending order, by their definition.
    of: HashMap<Number, Box<[Number]>>,
    length: usize,
}

impl Ancestry {
    /// Returns `true` if `ancestor` is one of the definition's; `ancestors` returns all of them, and is
    /// called if they are not kept. Locks, but not while `ancestors` runs.
    pub(super) fn has(
        &self,
        definition: Number,
        ancestor: Number,
        ancestors: impl FnOnce() -> Vec<Number>,
    ) -> bool {
        if let Some(set) = self.0.lock().of.get(&definition) {
            return set.binary_search(&ancestor).is_ok();
        }
        let mut set = ancestors();
        set.sort_unstable();
        let is_there = set.binary_search(&ancestor).is_ok();
        self.0.lock().keep(definition, set.into());
        is_there
    }

    /// Forgets the set of a definition that is gone.
    pub(super) fn forget(&mut self, definition: Number) {
        self.0.get_mut().forget(definition);
    }

    /// Forgets all sets, as a definition has other ancestors now.
    pub(super) fn forget_all(&mut self) {
        *self.0.get_mut() = Sets::default();
    }
}

/// Creates an empty cache instead of copying the cached sets.
impl Clone for Ancestry {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Sets {
    fn keep(&mut self, definition: Number, set: Box<[Number]>) {
        // Another thread may have kept it meanwhile.
        self.forget(definition);
        let length = PLACE + set.len();
        if length > MOST {
            return;
        }
        if self.length + length > MOST {
            *self = Self::default();
        }
        self.length += length;
        self.of.insert(definition, set);
    }

    fn forget(&mut self, definition: Number) {
        if let Some(set) = self.of.remove(&definition) {
            self.length -= PLACE + set.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the length of the sets that are kept, counted.
    fn counted(ancestry: &Ancestry) -> usize {
        let sets = ancestry.0.lock();
        let counted = sets.of.values().map(|set| PLACE + set.len()).sum();
        assert_eq!(sets.length, counted);
        counted
    }

    #[test]
    fn a_set_is_made_once_until_it_is_forgotten() {
        let mut ancestry = Ancestry::default();
        assert!(ancestry.has(9, 3, || vec![7, 3]));
        assert!(ancestry.has(9, 7, || unreachable!()));
        assert!(!ancestry.has(9, 4, || unreachable!()));
        assert!(!ancestry.clone().has(9, 3, Vec::new));
        ancestry.forget(9);
        assert_eq!(counted(&ancestry), 0);
        assert!(!ancestry.has(9, 3, Vec::new));
        ancestry.forget_all();
        assert!(ancestry.has(9, 3, || vec![3]));
    }

    #[test]
    fn sets_take_bounded_memory() {
        let mut ancestry = Ancestry::default();
        let quarter = u32::try_from(MOST / 4).unwrap();
        for definition in 0..10 {
            assert!(ancestry.has(definition, 1, || (0..quarter).collect()));
            assert!(counted(&ancestry) <= MOST);
            assert!(
                ancestry.has(definition, 2, || unreachable!()),
                "the last one is kept"
            );
        }
        let before = counted(&ancestry);
        let all = 0..u32::try_from(MOST).unwrap();
        assert!(ancestry.has(10, 1, || all.collect()), "too long to be kept");
        assert_eq!(counted(&ancestry), before);
        ancestry.forget(9);
        assert!(counted(&ancestry) < before);
    }
}
