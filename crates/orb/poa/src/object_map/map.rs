//! Activation, deactivation, lookups and waiting.
//!
//! All that changes is changed under one mutex. Under it an open place stays open, and nobody's code runs but
//! [`Servant::identity`] and what makes a servant for [`ActiveMap::find_or_activate`].

use super::by_servant::{ByServant, Servants};
use super::entry::{Active, Departed, Entry, Ids, Leave, Place, Refused};
use super::index::{DuplicateId, Index, Strategy};
use super::link::Link;
use super::pinned::{Found, Pinned};
use super::slot::{Departing, Left, Pin, Slot, State};
use super::slots::Slots;
use super::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::servant::{Identity, Servant};
use punctual_orb::ObjectRef;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// The active object map of one adapter.
pub(crate) struct ActiveMap {
    slots: Slots<Entry>,
    index: Index,
    /// Places that come with a request are looked at.
    hinted: bool,
    /// The place alone is the id of an object that is activated without one.
    placed: bool,
    ids: Ids,
    servants: Servants,
    active: AtomicUsize,
    /// How many ids there are in `Inner::closing`.
    closing: AtomicUsize,
    inner: Mutex<Inner>,
    /// Something has departed, or was left that is watched.
    left: Condvar,
    leave: Box<dyn Leave>,
}

struct Inner {
    /// Where the chain of free slots begins.
    free: Link,
    by_servant: ByServant,
    /// Ids of their own of objects that are departing.
    closing: HashSet<Box<[u8]>>,
    /// Where calls go that are sent elsewhere since their object was activated.
    forwards: HashMap<u32, ObjectRef>,
    waiting: usize,
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
        let hinted = matches!(strategy, Strategy::Active);
        Ok(Self {
            slots: Slots::new(),
            index: Index::new(strategy)?,
            hinted,
            placed: hinted && ids == Ids::System,
            ids,
            servants,
            active: AtomicUsize::new(0),
            closing: AtomicUsize::new(0),
            inner: Mutex::new(Inner {
                free: Link::End,
                by_servant: ByServant::new(servants),
                closing: HashSet::new(),
                forwards: HashMap::new(),
                waiting: 0,
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
    pub(crate) fn activate(&self, id: Option<&[u8]>, active: Active) -> Result<Place, Refused> {
        let identity = active.identity();
        let mut inner = self.lock();
        if self.servants == Servants::Unique
            && let Some(identity) = identity
            && let Some(place) = self.noted(&inner, identity)
        {
            return Err(Refused::ServantAlreadyActive(place));
        }
        self.open(&mut inner, id, active, identity)
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
        let active = Active::Servant(servant.clone());
        let place = self.open(&mut inner, None, active, Some(identity))?;
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

    /// What is active at a place. Takes no lock, whatever others do, and allocates nothing.
    ///
    /// Who pins and then looks at a state (`SeqCst`) that another thread stored (`SeqCst`) before it
    /// called [`ActiveMap::wait_until_left`] sees that state, or is waited for.
    #[inline]
    pub(crate) fn pin(&self, place: Place) -> Option<Pinned<'_>> {
        let pin = self.slots.slot(place.index)?.pin(place.generation)?;
        Some(Pinned::new(self, pin, place))
    }

    /// What is active under an id. `hint` is the place that it was activated at, if the request says; it is
    /// never trusted, and only [`Strategy::Active`] looks at it.
    pub(crate) fn find(&self, id: &[u8], hint: Option<Place>) -> Found<'_> {
        if self.hinted
            && let Some(place) = hint
            && let Some(pinned) = self.pin(place)
            && pinned.is_named(id)
        {
            return Found::Pinned(pinned);
        }
        if self.placed
            && let Some(place) = Place::of(id)
            && let Some(pinned) = self.pin(place)
            && pinned.is_named(id)
        {
            return Found::Pinned(pinned);
        }
        let found = self.index.find(&self.slots, id, |index| {
            let pinned = self.pin_any(index)?;
            pinned.is_named(id).then_some(pinned)
        });
        match found {
            Some(pinned) => Found::Pinned(pinned),
            None if self.is_closing(id) => Found::Closing,
            None => Found::None,
        }
    }

    /// Where a servant is active ([`Servants::Unique`]). Takes the map's mutex.
    pub(crate) fn place_of(&self, identity: Identity) -> Option<Place> {
        self.noted(&self.lock(), identity)
    }

    /// Deactivates what is active at a place: no new call finds it, and it departs with its last pin, at once
    /// if there is none. `false` when nothing is active there. Does not wait.
    pub(crate) fn deactivate(&self, place: Place) -> bool {
        self.pin(place).is_some_and(|pinned| self.close(&pinned))
    }

    /// Deactivates everything that was active when this was called.
    pub(crate) fn deactivate_all(&self) {
        self.each(|pinned| {
            self.close(pinned);
        });
    }

    /// Sends calls elsewhere from now on. The servant stays until the object is deactivated, but can be
    /// activated anew. `false` when nothing is active there.
    pub(crate) fn forward(&self, place: Place, to: ObjectRef) -> bool {
        let Some(pinned) = self.pin(place) else {
            return false;
        };
        let identity = pinned.active.identity();
        let mut inner = self.lock();
        let open = pinned.pin().is_open();
        if open {
            let first = inner.forwards.insert(place.index, to).is_none();
            if let (true, Some(identity)) = (first, identity) {
                inner.by_servant.forget(identity, place);
            }
            pinned.pin().forward();
        }
        drop(inner);
        open
    }

    /// How many objects are active.
    pub(crate) fn len(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// Calls `each` for all that is active, without a lock: what is activated meanwhile may be left out.
    pub(crate) fn each(&self, mut each: impl FnMut(&Pinned<'_>)) {
        (0..self.slots.count())
            .filter_map(|index| self.pin_any(index))
            .for_each(|pinned| each(&pinned));
    }

    /// Waits until each pin that there was when this was called is dropped, and all that was departing has
    /// departed. Pins that others take meanwhile may prolong it where they never leave a place alone. Not
    /// to be called by who holds a pin.
    pub(crate) fn wait_until_left(&self) {
        for index in 0..self.slots.count() {
            if let Some(slot) = self.slots.slot(index)
                && !slot.is_left()
            {
                self.wait(|_| !slot.watch());
            }
        }
    }

    /// Waits until no object with this id is departing. Not to be called by who holds a pin of one.
    pub(crate) fn wait_while_closing(&self, id: &[u8]) {
        self.wait(|inner| !self.closes(inner, id));
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, done: impl Fn(&Inner) -> bool) {
        let mut inner = self.lock();
        inner.waiting += 1;
        while !done(&inner) {
            inner = self
                .left
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
        }
        inner.waiting -= 1;
    }

    fn wake(&self, inner: &Inner) {
        if inner.waiting > 0 {
            self.left.notify_all();
        }
    }

    fn pin_any(&self, index: u32) -> Option<Pinned<'_>> {
        let (pin, generation) = self.slots.slot(index)?.pin_any()?;
        Some(Pinned::new(self, pin, Place { index, generation }))
    }

    /// Whether an object with this id is departing. Takes the mutex only if one is whose id is not its place.
    fn is_closing(&self, id: &[u8]) -> bool {
        // Acquire: with `close`, which counts before it hides.
        self.place_closes(id)
            || (self.closing.load(Ordering::Acquire) > 0 && self.lock().closing.contains(id))
    }

    fn closes(&self, inner: &Inner, id: &[u8]) -> bool {
        self.place_closes(id) || inner.closing.contains(id)
    }

    fn place_closes(&self, id: &[u8]) -> bool {
        let closing = |place: Place| {
            let state = self.slots.slot(place.index).map(Slot::state);
            state == Some((State::Closing, place.generation))
        };
        self.placed && Place::of(id).is_some_and(closing)
    }

    /// The place of a servant, under the lock.
    fn noted(&self, inner: &Inner, identity: Identity) -> Option<Place> {
        let is = |index| {
            let identity_there = |entry: &Entry| entry.active.identity();
            self.peek(inner, index, identity_there).flatten() == Some(identity)
        };
        let index = inner.by_servant.index_of(identity, is)?;
        let (_, generation) = self.slots.slot(index)?.state();
        Some(Place { index, generation })
    }

    /// Looks at what is open at a place, under the lock. As nothing closes meanwhile, nothing departs here.
    fn peek<R>(&self, inner: &Inner, index: u32, look: impl FnOnce(&Entry) -> R) -> Option<R> {
        let (pin, _) = self.slots.slot(index)?.pin_any()?;
        let seen = look(&pin);
        let slot = pin.slot();
        if let Left::Watched = pin.leave() {
            slot.unwatch();
            self.wake(inner);
        }
        Some(seen)
    }

    /// Opens a place, under the lock.
    fn open(
        &self,
        inner: &mut Inner,
        id: Option<&[u8]>,
        active: Active,
        identity: Option<Identity>,
    ) -> Result<Place, Refused> {
        debug_assert!(id.is_some() || self.ids == Ids::System);
        if let Some(id) = id {
            self.check_id(inner, id)?;
        }
        let index = self.take_slot(inner).ok_or(Refused::Full)?;
        let slot = self.slots.slot(index).ok_or(Refused::Full)?;
        let (_, generation) = slot.state();
        let place = Place { index, generation };
        let octets = place.octets();
        let id = id.or((!self.placed).then_some(&octets[..]));
        let entry = Entry {
            id: id.map(Box::from),
            active,
        };
        slot.fill(entry).map_err(|_| Refused::Full)?;
        if let Some(id) = id {
            self.index.insert(&self.slots, id, index);
        }
        if let Some(identity) = identity {
            inner.by_servant.note(identity, place);
        }
        self.active.fetch_add(1, Ordering::Relaxed);
        Ok(place)
    }

    fn check_id(&self, inner: &Inner, id: &[u8]) -> Result<(), Refused> {
        if !self.index.may_have(id) {
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
            let unnamed = |entry: &Entry| entry.id.is_none();
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

    /// Closes a place; `false` when it was closed before.
    fn close(&self, pinned: &Pinned<'_>) -> bool {
        let identity = pinned.active.identity();
        let place = pinned.place();
        let mut inner = self.lock();
        if !pinned.pin().is_open() {
            return false;
        }
        if let Some(id) = &pinned.id {
            inner.closing.insert(id.clone());
            self.closing.fetch_add(1, Ordering::Release);
            self.index.remove(&self.slots, id, place.index);
        }
        let forwarded = inner.forwards.remove(&place.index).is_some();
        if let (false, Some(identity)) = (forwarded, identity) {
            inner.by_servant.forget(identity, place);
        }
        self.active.fetch_sub(1, Ordering::Relaxed);
        pinned.pin().close()
    }

    pub(super) fn forward_of(&self, index: u32) -> Option<ObjectRef> {
        self.lock().forwards.get(&index).cloned()
    }

    /// Drops a pin.
    #[inline]
    pub(super) fn leave(&self, pin: Pin<'_, Entry>, place: Place) {
        let slot = pin.slot();
        match pin.leave() {
            Left::Quietly => {}
            Left::Watched => self.left_watched(slot),
            Left::Last(departing) => self.depart(departing, place),
        }
    }

    #[cold]
    fn left_watched(&self, slot: &Slot<Entry>) {
        let inner = self.lock();
        slot.unwatch();
        self.wake(&inner);
    }

    /// The last call has left an object that was deactivated.
    #[cold]
    fn depart(&self, mut departing: Departing<'_, Entry>, place: Place) {
        let Some(entry) = departing.take() else {
            return;
        };
        let departure = Departure {
            map: self,
            departing: Some(departing),
            index: place.index,
            id: entry.id.clone(),
        };
        let remains = entry.active.identity().is_some_and(|identity| {
            let inner = self.lock();
            let is = |index| {
                let there = |entry: &Entry| entry.active.identity();
                self.peek(&inner, index, there).flatten() == Some(identity)
            };
            inner.by_servant.has(identity, is)
        });
        self.leave.left(Departed {
            place,
            entry,
            remains,
        });
        drop(departure);
    }

    /// A slot from the chain of free ones, or a new one.
    fn take_slot(&self, inner: &mut Inner) -> Option<u32> {
        let Link::Free(index) = inner.free else {
            return self.slots.add();
        };
        inner.free = Link::unpack(self.slots.slot(index)?.link() as u32);
        Some(index)
    }

    fn give_slot(&self, inner: &mut Inner, index: u32) {
        if let Some(slot) = self.slots.slot(index) {
            slot.set_link(u64::from(inner.free.pack()));
            inner.free = Link::Free(index);
        }
    }
}

/// Frees the place of what departs, even if what is to be done about it panics.
struct Departure<'m> {
    map: &'m ActiveMap,
    departing: Option<Departing<'m, Entry>>,
    index: u32,
    id: Option<Box<[u8]>>,
}

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        let mut inner = self.map.lock();
        if let Some(id) = &self.id
            && inner.closing.remove(id)
        {
            self.map.closing.fetch_sub(1, Ordering::Release);
        }
        if let Some(departing) = self.departing.take()
            && departing.free()
        {
            self.map.give_slot(&mut inner, self.index);
        }
        self.map.wake(&inner);
    }
}

impl fmt::Debug for ActiveMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveMap")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
