//! Deactivation of objects, their removal when their last call has ended, and waiting for that.

use super::entry::{Deactivated, Entry, EntryId};
use super::map::{ActiveMap, Inner};
use super::pinned::Pinned;
use super::slot::{LastPin, Pin, Slot, Unpinned};
use super::sync::{self, Ordering};
use crate::servant::Identity;

impl ActiveMap {
    /// Deactivates the object at an entry: new calls no longer find it, and it is removed with its
    /// last pin, or at once if it has none. Returns `false` if no object is active at the entry.
    /// Does not wait.
    pub(crate) fn deactivate(&self, entry_id: EntryId) -> bool {
        self.pin(entry_id).is_some_and(|pinned| self.close(&pinned))
    }

    /// Deactivates all objects of the map, and prevents any further activation.
    pub(crate) fn close_for_good(&self) {
        self.lock().closed = true;
        self.deactivate_all();
    }

    /// Deactivates all objects that were active when this was called.
    pub(crate) fn deactivate_all(&self) {
        self.each(|pinned| {
            self.close(pinned);
        });
    }

    /// Waits until each pin that existed when this was called is dropped, and all objects that were
    /// being deactivated are removed. Later pins of other threads may prolong the wait for an entry
    /// that always has a pin. Callers must not hold a pin. The wait also ends when `useless`
    /// returns `true`: a thread that changes its result calls [`ActiveMap::wake_waiting`].
    pub(crate) fn wait_until_unpinned(&self, useless: &dyn Fn() -> bool) {
        // Under the lock: objects activated before are among them, and later activations see the
        // state that was stored before.
        let count = {
            let _inner = self.lock();
            self.slots.count()
        };
        for index in 0..count {
            if let Some(slot) = self.slots.slot(index)
                && !slot.is_unpinned()
            {
                self.wait(|_| useless() || !slot.watch());
            }
        }
    }

    /// Wakes the threads that wait for deactivations, so that they re-check their condition.
    pub(crate) fn wake_waiting(&self) {
        self.wake(&self.lock());
    }

    /// Waits until no object with this id is being deactivated. Callers must not hold a pin of such
    /// an object.
    pub(crate) fn wait_while_closing(&self, id: &[u8]) {
        self.wait(|inner| !self.closes(inner, id));
    }

    fn wait(&self, done: impl Fn(&Inner) -> bool) {
        let mut inner = self.lock();
        inner.waiting += 1;
        while !done(&inner) {
            inner = sync::wait(&self.changed, inner);
        }
        inner.waiting -= 1;
    }

    /// Wakes the threads that wait for changes of the map, so that they re-check their condition.
    pub(super) fn wake(&self, inner: &Inner) {
        if inner.waiting > 0 {
            self.changed.notify_all();
        }
    }

    /// Closes an object's entry, so that new calls no longer find it; returns `false` if it was
    /// closed before.
    fn close(&self, pinned: &Pinned<'_>) -> bool {
        let identity = pinned.servant.identity();
        let entry_id = pinned.entry_id();
        let mut inner = self.lock();
        if !pinned.pin().is_open() {
            return false;
        }
        if let Some(id) = pinned.id.as_deref() {
            inner.closing.insert(id.into());
            // The Release is that of the index, which removes the id, and of the word, which
            // closes.
            self.closing.fetch_add(1, Ordering::Relaxed);
            self.index.remove(&self.slots, id, entry_id.index);
            if let Some(comparison) = &self.comparison {
                comparison.remove(id);
            }
        }
        let forwarded = inner.forwards.remove(&entry_id.index).is_some();
        if !forwarded {
            inner.by_servant.forget(identity, entry_id);
        }
        self.active.fetch_sub(1, Ordering::Relaxed);
        pinned.pin().close()
    }

    /// Releases a pin; the last one of a closed entry removes the object.
    #[inline]
    pub(super) fn unpin(&self, pin: Pin<'_, Entry>, entry_id: EntryId) {
        let slot = pin.slot();
        match pin.unpin() {
            Unpinned::NoWork => {}
            Unpinned::Watched => self.wake_watchers(slot),
            Unpinned::Last(last) => self.remove(last, entry_id),
        }
    }

    #[cold]
    fn wake_watchers(&self, slot: &Slot<Entry>) {
        let inner = self.lock();
        slot.unwatch();
        self.wake(&inner);
    }

    /// Returns whether the servant still incarnates another active object.
    fn has_elsewhere(&self, identity: Identity) -> bool {
        let inner = self.lock();
        let is = |index| self.is_there(&inner, index, identity);
        inner.by_servant.has(identity, is)
    }

    /// Removes a deactivated object after its last call has ended.
    #[cold]
    fn remove(&self, mut last: LastPin<'_, Entry>, entry_id: EntryId) {
        let Some(entry) = last.take() else {
            return;
        };
        let removal = Removal {
            map: self,
            last: Some(last),
            index: entry_id.index,
            id: entry.id.as_deref().map(Box::from),
        };
        let remains = self.has_elsewhere(entry.servant.identity());
        self.listener.deactivated(Deactivated {
            entry_id,
            entry,
            remains,
        });
        drop(removal);
    }
}

/// Guard that frees the entry of a removed object, even if the listener panics.
struct Removal<'m> {
    map: &'m ActiveMap,
    last: Option<LastPin<'m, Entry>>,
    index: u32,
    id: Option<Box<[u8]>>,
}

impl Drop for Removal<'_> {
    fn drop(&mut self) {
        let mut inner = self.map.lock();
        if let Some(id) = &self.id
            && inner.closing.remove(id)
        {
            self.map.closing.fetch_sub(1, Ordering::Release);
        }
        if let Some(last) = self.last.take()
            && last.free()
        {
            self.map.give_slot(&mut inner, self.index);
        }
        self.map.wake(&inner);
        drop(inner);
        // SeqCst, as the adapter's own count is: of the last two decrements, one sees the other.
        self.map.occupied.fetch_sub(1, Ordering::SeqCst);
        self.map.listener.freed();
    }
}
