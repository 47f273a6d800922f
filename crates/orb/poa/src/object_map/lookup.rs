//! Lookups of active objects: by entry, by id, or by servant.

use super::entry::{Entry, EntryId};
use super::map::{ActiveMap, Inner};
use super::pinned::{Lookup, Pinned};
use super::slot::{Slot, State, Unpinned};
use super::sync::Ordering;
use crate::servant::Identity;

impl ActiveMap {
    /// Pins the active object at an entry. Takes no lock, whatever other threads do, and allocates
    /// nothing.
    ///
    /// A thread that pins and then reads a state (`SeqCst`) that another thread stored (`SeqCst`)
    /// before it called [`ActiveMap::wait_until_unpinned`] sees that state, or is waited for.
    #[inline]
    pub(crate) fn pin(&self, entry_id: EntryId) -> Option<Pinned<'_>> {
        let pin = self.slots.slot(entry_id.index)?.pin(entry_id.generation)?;
        Some(Pinned::new(self, pin, entry_id))
    }

    /// Returns the object that is active under an id. `hint` is the entry that the request's key
    /// names, if any; it is checked, never trusted.
    pub(crate) fn find(&self, id: &[u8], hint: Option<EntryId>) -> Lookup<'_> {
        if let Some(entry_id) = hint
            && let Some(pinned) = self.pin(entry_id)
            && pinned.is_named(id)
        {
            return Lookup::Pinned(pinned);
        }
        if self.ids_are_entries
            && let Some(entry_id) = EntryId::of(id)
            && let Some(pinned) = self.pin(entry_id)
            && pinned.is_named(id)
        {
            return Lookup::Pinned(pinned);
        }
        let found = self
            .index
            .find(&self.slots, id, |index| self.pin_named(index, id));
        self.found(found, id)
    }

    pub(super) fn pin_named(&self, index: u32, id: &[u8]) -> Option<Pinned<'_>> {
        let pinned = self.pin_any(index)?;
        pinned.is_named(id).then_some(pinned)
    }

    pub(super) fn found<'m>(&'m self, found: Option<Pinned<'m>>, id: &[u8]) -> Lookup<'m> {
        match found {
            Some(pinned) => Lookup::Pinned(pinned),
            None if self.is_closing(id) => Lookup::Closing,
            None => Lookup::None,
        }
    }

    /// Returns the entry at which a servant is active ([`super::Servants::Unique`]). Takes the
    /// map's mutex.
    pub(crate) fn entry_of(&self, identity: Identity) -> Option<EntryId> {
        self.noted(&self.lock(), identity)
    }

    /// Calls `each` for all active objects, without a lock: objects activated meanwhile may be left
    /// out.
    pub(crate) fn each(&self, mut each: impl FnMut(&Pinned<'_>)) {
        (0..self.slots.count())
            .filter_map(|index| self.pin_any(index))
            .for_each(|pinned| each(&pinned));
    }

    pub(super) fn pin_any(&self, index: u32) -> Option<Pinned<'_>> {
        let (pin, generation) = self.slots.slot(index)?.pin_any()?;
        Some(Pinned::new(self, pin, EntryId { index, generation }))
    }

    /// Returns whether an object with this id is being deactivated. Takes the mutex only if an
    /// object whose id is not its entry is being deactivated.
    fn is_closing(&self, id: &[u8]) -> bool {
        // Acquire: pairs with `close`, which counts before it hides.
        self.entry_closes(id)
            || (self.closing.load(Ordering::Acquire) > 0 && self.lock().closing.contains(id))
    }

    pub(super) fn closes(&self, inner: &Inner, id: &[u8]) -> bool {
        self.entry_closes(id) || inner.closing.contains(id)
    }

    fn entry_closes(&self, id: &[u8]) -> bool {
        let closing = |entry_id: EntryId| {
            let state = self.slots.slot(entry_id.index).map(Slot::state);
            state == Some((State::Closing, entry_id.generation))
        };
        self.ids_are_entries && EntryId::of(id).is_some_and(closing)
    }

    /// Returns the entry at which a servant is active. The caller holds the lock.
    pub(super) fn noted(&self, inner: &Inner, identity: Identity) -> Option<EntryId> {
        let is = |index| self.is_there(inner, index, identity);
        let index = inner.by_servant.index_of(identity, is)?;
        let (_, generation) = self.slots.slot(index)?.state();
        Some(EntryId { index, generation })
    }

    /// Returns whether a servant is active at an entry. The caller holds the lock.
    pub(super) fn is_there(&self, inner: &Inner, index: u32, identity: Identity) -> bool {
        self.peek(inner, index, |entry| entry.servant.identity()) == Some(identity)
    }

    /// Calls `look` for the open entry at an index. The caller holds the lock, so no entry closes
    /// meanwhile, and the release of the pin here removes none.
    pub(super) fn peek<R>(
        &self,
        inner: &Inner,
        index: u32,
        look: impl FnOnce(&Entry) -> R,
    ) -> Option<R> {
        let (pin, _) = self.slots.slot(index)?.pin_any()?;
        let seen = look(&pin);
        let slot = pin.slot();
        if let Unpinned::Watched = pin.unpin() {
            slot.unwatch();
            self.wake(inner);
        }
        Some(seen)
    }
}
