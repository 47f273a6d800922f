//! The map itself, and activation.
//!
//! All that changes is changed under one mutex. Under it an open place stays open, and nobody's code runs but
//! [`Servant::identity`].

use super::by_servant::{ByServant, Servants};
use super::entry::{Entry, Ids, Leave, Place, Refused};
use super::index::{Comparison, DuplicateId, HashIndex, Strategy};
use super::link::Link;
use super::name::Name;
use super::slot::{Slot, State};
use super::slots::Slots;
use super::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::servant::{Identity, Servant};
use punctual_orb::ObjectRef;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// The active object map of one adapter.
pub(crate) struct ActiveMap {
    pub(super) slots: Slots<Entry>,
    pub(super) index: Box<HashIndex>,
    /// What requests are found by instead, in a map for comparison.
    pub(super) comparison: Option<Comparison>,
    /// The place alone is the id of an object that is activated without one.
    pub(super) placed: bool,
    ids: Ids,
    servants: Servants,
    pub(super) active: AtomicUsize,
    /// The active ones, and those that have not departed yet.
    pub(super) occupied: AtomicUsize,
    /// How many ids there are in `Inner::closing`.
    pub(super) closing: AtomicUsize,
    inner: Mutex<Inner>,
    /// Something has departed, or was left that is watched.
    pub(super) left: Condvar,
    pub(super) leave: Box<dyn Leave>,
}

pub(super) struct Inner {
    /// Where the chain of free slots begins.
    free: Link,
    pub(super) by_servant: ByServant,
    /// Ids of their own of objects that are departing.
    pub(super) closing: HashSet<Box<[u8]>>,
    /// Where calls go that are sent elsewhere since their object was activated.
    pub(super) forwards: HashMap<u32, ObjectRef>,
    pub(super) waiting: usize,
    /// Nothing is activated any more.
    pub(super) closed: bool,
}

impl ActiveMap {
    /// An empty map.
    ///
    /// # Errors
    /// An id is twice in the set of a perfect hash.
    pub(crate) fn new(
        strategy: &Strategy,
        ids: Ids,
        servants: Servants,
        leave: Box<dyn Leave>,
    ) -> Result<Self, DuplicateId> {
        let comparison = Comparison::new(strategy)?;
        Ok(Self {
            slots: Slots::new(),
            index: Box::new(HashIndex::new()),
            placed: comparison.is_none() && ids == Ids::System,
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
            left: Condvar::new(),
            leave,
        })
    }

    /// Activates an object. Without an id, which is for [`Ids::System`], its place is its id, in octets where
    /// objects are not found by places. Allocates, and takes the map's mutex.
    ///
    /// # Errors
    /// See [`Refused`].
    pub(crate) fn activate(
        &self,
        id: Option<&[u8]>,
        servant: Arc<dyn Servant>,
    ) -> Result<Place, Refused> {
        let identity = servant.identity();
        let mut inner = self.lock();
        if self.servants == Servants::Unique
            && let Some(place) = self.noted(&inner, identity)
        {
            return Err(Refused::ServantAlreadyActive(place));
        }
        self.open(&mut inner, id, servant, identity)
    }

    /// The place of a servant that is active, or that is activated here: implicit activation, which finds
    /// a servant only where [`Servants::Unique`] are noted. Tells whether it was activated.
    ///
    /// # Errors
    /// See [`Refused`].
    pub(crate) fn find_or_activate(
        &self,
        servant: &Arc<dyn Servant>,
    ) -> Result<(Place, bool), Refused> {
        let identity = servant.identity();
        let mut inner = self.lock();
        if let Some(place) = self.noted(&inner, identity) {
            return Ok((place, false));
        }
        let place = self.open(&mut inner, None, servant.clone(), identity)?;
        Ok((place, true))
    }

    /// A place that no object has had and none will have: an id for a reference without an object.
    pub(crate) fn fresh_place(&self) -> Option<Place> {
        let mut inner = self.lock();
        loop {
            let index = self.take_slot(&mut inner)?;
            let slot = self.slots.slot(index)?;
            if let Some(generation) = slot.skip() {
                self.give_slot(&mut inner, index);
                return Some(Place { index, generation });
            }
        }
    }

    /// Sends calls elsewhere from now on. The servant stays until the object is deactivated, but can be
    /// activated anew. `false` when nothing is active there.
    pub(crate) fn forward(&self, place: Place, to: ObjectRef) -> bool {
        let Some(pinned) = self.pin(place) else {
            return false;
        };
        let identity = pinned.servant.identity();
        let mut inner = self.lock();
        let open = pinned.pin().is_open();
        if open {
            let first = inner.forwards.insert(place.index, to).is_none();
            if first {
                inner.by_servant.forget(identity, place);
            }
            pinned.pin().forward();
        }
        drop(inner);
        open
    }

    /// Whether an object has had this place.
    pub(crate) fn has_been(&self, place: Place) -> bool {
        let known = self.slots.slot(place.index).map(Slot::state);
        known.is_some_and(|(state, generation)| match state {
            // A fresh place is one that was skipped.
            State::Free => place.generation < generation,
            State::Open | State::Closing => place.generation <= generation,
        })
    }

    /// Whether nothing is active, and all that was has departed.
    pub(crate) fn is_empty(&self) -> bool {
        self.occupied.load(Ordering::SeqCst) == 0
    }

    /// How many objects are active.
    pub(crate) fn len(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a place, under the lock.
    fn open(
        &self,
        inner: &mut Inner,
        id: Option<&[u8]>,
        servant: Arc<dyn Servant>,
        identity: Identity,
    ) -> Result<Place, Refused> {
        debug_assert!(id.is_some() || self.ids == Ids::System);
        if inner.closed {
            return Err(Refused::Gone);
        }
        match id {
            Some(id) => self.check_id(inner, id)?,
            None if self.knows_its_ids() => return Err(Refused::NotInTheSet),
            None => {}
        }
        let index = self.take_slot(inner).ok_or(Refused::Full)?;
        let slot = self.slots.slot(index).ok_or(Refused::Full)?;
        let (_, generation) = slot.state();
        let place = Place { index, generation };
        let octets = place.octets();
        let id = id.or((!self.placed).then_some(&octets[..]));
        let entry = Entry {
            id: Name::new(id),
            servant,
        };
        slot.fill(entry).map_err(|_| Refused::Full)?;
        if let Some(id) = id {
            self.index.insert(&self.slots, id, index);
        }
        inner.by_servant.note(identity, place);
        self.occupied.fetch_add(1, Ordering::SeqCst);
        let before = self.active.fetch_add(1, Ordering::Relaxed);
        if let (Some(comparison), Some(id)) = (&self.comparison, id) {
            comparison.insert(id, index, before + 1);
        }
        Ok(place)
    }

    fn check_id(&self, inner: &Inner, id: &[u8]) -> Result<(), Refused> {
        let comparison = self.comparison.as_ref();
        if comparison.is_some_and(|one| !one.may_have(id)) {
            return Err(Refused::NotInTheSet);
        }
        if self.closes(inner, id) {
            return Err(Refused::Closing);
        }
        let named = |index| {
            let own = |entry: &Entry| entry.id.as_deref() == Some(id);
            self.peek(inner, index, own)?.then_some(())
        };
        let place_is_open = |place: Place| {
            let unnamed = |entry: &Entry| entry.id.as_deref().is_none();
            let state = self.slots.slot(place.index).map(Slot::state);
            state == Some((State::Open, place.generation))
                && self.peek(inner, place.index, unnamed) == Some(true)
        };
        let active = self.index.find(&self.slots, id, named).is_some()
            || (self.placed && Place::of(id).is_some_and(place_is_open));
        if active {
            return Err(Refused::ObjectAlreadyActive);
        }
        Ok(())
    }

    /// Whether there can be no other ids than those it was made with.
    fn knows_its_ids(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(Comparison::is_complete)
    }

    pub(super) fn forward_of(&self, index: u32) -> Option<ObjectRef> {
        self.lock().forwards.get(&index).cloned()
    }

    /// A slot from the chain of free ones, or a new one.
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
