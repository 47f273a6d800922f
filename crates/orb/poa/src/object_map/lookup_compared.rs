//! Lookups with the strategies for comparison ([`Comparison`]).

use super::index::Comparison;
use super::map::ActiveMap;
use super::pinned::{Lookup, Pinned};

impl ActiveMap {
    /// Finds the active object with an id by the map's strategy for comparison.
    pub(crate) fn find_by_strategy(&self, id: &[u8]) -> Lookup<'_> {
        let Some(comparison) = &self.comparison else {
            return self.find(id, None);
        };
        let by = (&self.slots, &*self.index);
        let found = comparison.find(by, id, |index| self.pin_named(index, id));
        self.found(found, id)
    }

    /// Finds the active object of an id, and the number of an operation of its servant: with
    /// [`Strategy::DeLayered`](super::index::Strategy) by one hash of both, if they have been
    /// called before. `None` for an operation that has no number in the servant. Does not allocate.
    pub(crate) fn find_de_layered(
        &self,
        id: &[u8],
        operation: &str,
    ) -> (Lookup<'_>, Option<usize>) {
        let comparison = self.comparison.as_ref();
        let Some(shortcuts) = comparison.and_then(Comparison::shortcuts) else {
            let found = self.find_by_strategy(id);
            let number = found.number_of(operation);
            return (found, number);
        };
        let pair = shortcuts.pair(id, operation);
        if let Some((entry_id, number)) = shortcuts.find(pair) {
            match self.pin(entry_id) {
                Some(pinned) if pinned.is_named(id) && pinned.has(operation, number) => {
                    return (Lookup::Pinned(pinned), Some(number));
                }
                _ => shortcuts.drop(pair),
            }
        }
        let found = self.find(id, None);
        let number = found.number_of(operation);
        if let (Lookup::Pinned(pinned), Some(number)) = (&found, number) {
            shortcuts.note(pair, pinned.entry_id(), number);
        }
        (found, number)
    }
}

impl Pinned<'_> {
    /// Returns whether the servant's operation with this number has this name.
    pub(super) fn has(&self, operation: &str, number: usize) -> bool {
        self.operations().get(number) == Some(&operation)
    }

    fn operations(&self) -> &'static [&'static str] {
        self.servant.operations()
    }
}

impl Lookup<'_> {
    /// Returns the number of an operation in the found object's servant.
    pub(super) fn number_of(&self, operation: &str) -> Option<usize> {
        let Self::Pinned(pinned) = self else {
            return None;
        };
        pinned
            .operations()
            .iter()
            .position(|&name| name == operation)
    }
}
