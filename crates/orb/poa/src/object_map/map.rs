//! Active object map, and activation.
//!
//! All changes are made under one mutex. Under it an open entry stays open, and no foreign code
//! runs except [`Servant::identity`], and comparisons of policies.

use super::by_servant::{ByServant, Servants};
use super::entry::{Entry, EntryId, Ids, OnDeactivated, Refused};
use super::index::{Comparison, DuplicateId, HashIndex, Strategy};
use super::link::Link;
use super::name::Name;
use super::slot::{Slot, State};
use super::slots::Slots;
use super::sync::{self, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::own_policies::{ConflictingPolicy, OwnPolicies};
use crate::servant::{Identity, Servant};
use punctual_orb::ObjectRef;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Active object map of one object adapter.
pub(crate) struct ActiveMap {
    pub(super) slots: Slots<Entry>,
    pub(super) index: Box<HashIndex>,
    /// Strategy for comparison by which requests find objects, in a map that has one.
    pub(super) comparison: Option<Comparison>,
    /// Set if the id of an object that is activated without one is its entry.
    pub(super) ids_are_entries: bool,
    ids: Ids,
    servants: Servants,
    pub(super) active: AtomicUsize,
    /// Number of active objects, and of deactivated ones that still have calls.
    pub(super) occupied: AtomicUsize,
    /// Number of object ids in `Inner::closing`.
    pub(super) closing: AtomicUsize,
    inner: Mutex<Inner>,
    /// Signals that an object was removed, or that an entry with waiters has lost its last pin.
    pub(super) changed: Condvar,
    pub(super) listener: Box<dyn OnDeactivated>,
}

/// Activation state of an object id.
#[derive(Debug)]
pub(crate) enum Active {
    /// No object is active under this id.
    Not,
    /// An object is active, with its own policies in place of its adapter's if it has any.
    With(Option<Arc<OwnPolicies>>),
}

pub(super) struct Inner {
    /// First element of the chain of free slots.
    free: Link,
    pub(super) by_servant: ByServant,
    /// Ids of the objects that are being deactivated, except ids that are entries.
    pub(super) closing: HashSet<Box<[u8]>>,
    /// Targets to which calls of objects are forwarded, by the index of the object's entry.
    pub(super) forwards: HashMap<u32, ObjectRef>,
    pub(super) waiting: usize,
    /// Set once no object can be activated any more.
    pub(super) closed: bool,
}

impl ActiveMap {
    /// Makes an empty map.
    ///
    /// # Errors
    /// [`DuplicateId`] if an id occurs twice in the set of a perfect hash.
    pub(crate) fn new(
        strategy: &Strategy,
        ids: Ids,
        servants: Servants,
        listener: Box<dyn OnDeactivated>,
    ) -> Result<Self, DuplicateId> {
        let comparison = Comparison::new(strategy)?;
        Ok(Self {
            slots: Slots::new(),
            index: Box::new(HashIndex::new()),
            ids_are_entries: comparison.is_none() && ids == Ids::System,
            comparison,
            ids,
            servants,
            active: AtomicUsize::new(0),
            occupied: AtomicUsize::new(0),
            closing: AtomicUsize::new(0),
            inner: Mutex::new(Inner {
                free: Link::End,
                by_servant: ByServant::new(servants),
                closing: HashSet::new(),
                forwards: HashMap::new(),
                waiting: 0,
                closed: false,
            }),
            changed: Condvar::new(),
            listener,
        })
    }

    /// Activates an object that has no policies of its own.
    #[cfg(test)]
    pub(crate) fn activate(
        &self,
        id: Option<&[u8]>,
        servant: Arc<dyn Servant>,
    ) -> Result<EntryId, Refused> {
        self.activate_under(id, servant, || Ok(None))
    }

    /// Activates an object, with the policies in place of its adapter's that `own` returns; `own`
    /// is called last, when nothing else prevents the activation. Without an id (only with
    /// [`Ids::System`]) the object's entry is its id, stored as octets where objects are not found
    /// by entries. Allocates, and takes the map's mutex.
    ///
    /// # Errors
    /// See [`Refused`].
    pub(crate) fn activate_under(
        &self,
        id: Option<&[u8]>,
        servant: Arc<dyn Servant>,
        own: impl FnOnce() -> Result<Option<Arc<OwnPolicies>>, ConflictingPolicy>,
    ) -> Result<EntryId, Refused> {
        let identity = servant.identity();
        let mut inner = self.lock();
        if self.servants == Servants::Unique
            && let Some(entry_id) = self.noted(&inner, identity)
        {
            return Err(Refused::ServantAlreadyActive(entry_id));
        }
        self.open(&mut inner, id, (servant, own), identity)
    }

    /// Returns the entry of an active servant, or activates the servant (implicit activation), and
    /// whether it was activated here. An active servant is found only where [`Servants::Unique`]
    /// are indexed.
    ///
    /// # Errors
    /// See [`Refused`].
    pub(crate) fn find_or_activate(
        &self,
        servant: &Arc<dyn Servant>,
    ) -> Result<(EntryId, bool), Refused> {
        let identity = servant.identity();
        let mut inner = self.lock();
        if let Some(entry_id) = self.noted(&inner, identity) {
            return Ok((entry_id, false));
        }
        let entry_id = self.open(&mut inner, None, (servant.clone(), || Ok(None)), identity)?;
        Ok((entry_id, true))
    }

    /// Calls `act` with whether an object is active under an id, and with its own policies. No
    /// object is activated meanwhile: an activation with other policies than those that `act` has
    /// seen either happened before, or sees the effect of `act`. Takes the map's mutex.
    pub(crate) fn while_nothing_is_activated<R>(
        &self,
        id: &[u8],
        act: impl FnOnce(Active) -> R,
    ) -> R {
        let inner = self.lock();
        let own = |index| self.peek(&inner, index, |entry| entry.own.clone());
        act(match self.active_at(&inner, id).and_then(own) {
            Some(own) => Active::With(own),
            None => Active::Not,
        })
    }

    /// Returns an entry that no object has had and none will have: its octets are the id for a
    /// reference to an object that is not active.
    pub(crate) fn fresh_entry_id(&self) -> Option<EntryId> {
        let mut inner = self.lock();
        loop {
            let index = self.take_slot(&mut inner)?;
            let slot = self.slots.slot(index)?;
            if let Some(generation) = slot.skip() {
                self.give_slot(&mut inner, index);
                return Some(EntryId { index, generation });
            }
        }
    }

    /// Forwards calls of the object at an entry to another object from now on. Its servant is kept
    /// until the object is deactivated, but can be activated again meanwhile. Returns `false` if no
    /// object is active at the entry.
    pub(crate) fn forward(&self, entry_id: EntryId, to: ObjectRef) -> bool {
        let Some(pinned) = self.pin(entry_id) else {
            return false;
        };
        let identity = pinned.servant.identity();
        let mut inner = self.lock();
        let open = pinned.pin().is_open();
        if open {
            let first = inner.forwards.insert(entry_id.index, to).is_none();
            if first {
                inner.by_servant.forget(identity, entry_id);
            }
            pinned.pin().forward();
        }
        drop(inner);
        open
    }

    /// Returns whether this map entry was ever used for an object.
    pub(crate) fn has_been(&self, entry_id: EntryId) -> bool {
        let known = self.slots.slot(entry_id.index).map(Slot::state);
        known.is_some_and(|(state, generation)| match state {
            // A fresh entry is one that was skipped.
            State::Free => entry_id.generation < generation,
            State::Open | State::Closing => entry_id.generation <= generation,
        })
    }

    /// Returns whether no object is active, and all deactivated ones have been removed.
    pub(crate) fn is_empty(&self) -> bool {
        self.occupied.load(Ordering::SeqCst) == 0
    }

    /// Returns the number of active objects in the map.
    pub(crate) fn len(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        sync::lock(&self.inner)
    }

    /// Stores an object in a free slot, and opens its entry. The caller holds the lock.
    fn open(
        &self,
        inner: &mut Inner,
        id: Option<&[u8]>,
        (servant, own): (
            Arc<dyn Servant>,
            impl FnOnce() -> Result<Option<Arc<OwnPolicies>>, ConflictingPolicy>,
        ),
        identity: Identity,
    ) -> Result<EntryId, Refused> {
        debug_assert!(id.is_some() || self.ids == Ids::System);
        if inner.closed {
            return Err(Refused::Gone);
        }
        match id {
            Some(id) => self.check_id(inner, id)?,
            None if self.knows_its_ids() => return Err(Refused::NotInTheSet),
            None => {}
        }
        let own = own()?;
        let index = self.take_slot(inner).ok_or(Refused::Full)?;
        let slot = self.slots.slot(index).ok_or(Refused::Full)?;
        let (_, generation) = slot.state();
        let entry_id = EntryId { index, generation };
        let octets = entry_id.octets();
        let id = id.or((!self.ids_are_entries).then_some(&octets[..]));
        let entry = Entry {
            id: Name::new(id),
            servant,
            own,
        };
        slot.fill(entry).map_err(|_| Refused::Full)?;
        if let Some(id) = id {
            self.index.insert(&self.slots, id, index);
        }
        inner.by_servant.note(identity, entry_id);
        self.occupied.fetch_add(1, Ordering::SeqCst);
        let before = self.active.fetch_add(1, Ordering::Relaxed);
        if let (Some(comparison), Some(id)) = (&self.comparison, id) {
            comparison.insert(id, index, before + 1);
        }
        Ok(entry_id)
    }

    fn check_id(&self, inner: &Inner, id: &[u8]) -> Result<(), Refused> {
        let comparison = self.comparison.as_ref();
        if comparison.is_some_and(|one| !one.may_have(id)) {
            return Err(Refused::NotInTheSet);
        }
        if self.closes(inner, id) {
            return Err(Refused::Closing);
        }
        match self.active_at(inner, id) {
            Some(_) => Err(Refused::ObjectAlreadyActive),
            None => Ok(()),
        }
    }

    /// Returns the entry of the object that is active under an id. The caller holds the lock.
    fn active_at(&self, inner: &Inner, id: &[u8]) -> Option<u32> {
        let named = |index| {
            let own = |entry: &Entry| entry.id.as_deref() == Some(id);
            self.peek(inner, index, own)?.then_some(index)
        };
        let open_entry = |entry_id: EntryId| {
            let unnamed = |entry: &Entry| entry.id.as_deref().is_none();
            let state = self.slots.slot(entry_id.index).map(Slot::state);
            let is_open = state == Some((State::Open, entry_id.generation))
                && self.peek(inner, entry_id.index, unnamed) == Some(true);
            is_open.then_some(entry_id.index)
        };
        let entry_of_id = || {
            let entry_id = self.ids_are_entries.then(|| EntryId::of(id));
            entry_id.flatten().and_then(open_entry)
        };
        let indexed = self.index.find(&self.slots, id, named);
        indexed.or_else(entry_of_id)
    }

    /// Returns whether only the ids given at construction can be activated.
    fn knows_its_ids(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(Comparison::is_complete)
    }

    pub(super) fn forward_of(&self, index: u32) -> Option<ObjectRef> {
        self.lock().forwards.get(&index).cloned()
    }

    /// Takes a slot from the chain of free ones, or makes a new one.
    fn take_slot(&self, inner: &mut Inner) -> Option<u32> {
        let Link::Free(index) = inner.free else {
            return self.slots.add();
        };
        inner.free = Link::unpack(self.slots.slot(index)?.link() as u32);
        Some(index)
    }

    pub(super) fn give_slot(&self, inner: &mut Inner, index: u32) {
        if let Some(slot) = self.slots.slot(index) {
            slot.set_link(u64::from(inner.free.pack()));
            inner.free = Link::Free(index);
        }
    }
}

impl fmt::Debug for ActiveMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveMap")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
