//! The active object map: places with generations.
//!
//! A place that is freed is used again under its next generation, so an id means one activation for
//! ever. A place whose generations are used up is retired.

use crate::servant::Servant;
use punctual_orb::ObjectRef;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Names one activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectId {
    /// The place.
    pub index: u32,
    /// How often it had been used before.
    pub generation: u32,
}

/// What is active at a place.
#[derive(Clone)]
pub(crate) enum Active {
    Servant(Arc<dyn Servant>),
    /// Calls are sent elsewhere.
    Forward(ObjectRef),
}

/// Which object behind an `Arc` a servant is, and as which interface, for finding its reference again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity(usize, &'static str);

impl Identity {
    pub(crate) fn of<S: ?Sized>(servant: &Arc<S>, repository_id: &'static str) -> Self {
        Self(Arc::as_ptr(servant).cast::<()>() as usize, repository_id)
    }
}

#[derive(Default)]
pub(crate) struct ActiveMap {
    inner: RwLock<Inner>,
}

#[derive(Default)]
struct Inner {
    places: Vec<Place>,
    free: Vec<u32>,
    /// An identity stays valid while its servant is active: the map holds the `Arc`.
    identities: HashMap<Identity, ObjectId>,
}

struct Place {
    generation: u32,
    active: Option<Active>,
    identity: Option<Identity>,
}

impl ActiveMap {
    /// Gives an object a place; `None` when there are 2^32 already.
    pub(crate) fn insert(&self, active: Active, identity: Option<Identity>) -> Option<ObjectId> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.insert(active, identity)
    }

    /// The id of a servant that is active, or a new place for it.
    pub(crate) fn find_or_insert(
        &self,
        identity: Identity,
        make: impl FnOnce() -> Active,
    ) -> Option<ObjectId> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        match inner.identities.get(&identity) {
            Some(&id) => Some(id),
            None => inner.insert(make(), Some(identity)),
        }
    }

    /// What is active under an id.
    pub(crate) fn find(&self, id: ObjectId) -> Option<Active> {
        self.inner
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .active(id)
            .cloned()
    }

    /// Replaces what is active under an id; gives back what was.
    pub(crate) fn replace(&self, id: ObjectId, active: Active) -> Option<Active> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let place = inner.place(id)?;
        let identity = place.identity.take();
        let before = place.active.replace(active);
        if let Some(identity) = identity {
            inner.identities.remove(&identity);
        }
        before
    }

    /// Frees a place; gives back what was there. Calls in progress keep their servant.
    pub(crate) fn remove(&self, id: ObjectId) -> Option<Active> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let place = inner.place(id)?;
        let active = place.active.take();
        let identity = place.identity.take();
        let next = place.generation.checked_add(1);
        place.generation = next.unwrap_or(u32::MAX);
        if next.is_some() {
            inner.free.push(id.index);
        }
        if let Some(identity) = identity {
            inner.identities.remove(&identity);
        }
        active
    }

    /// How many objects are active.
    pub(crate) fn len(&self) -> usize {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner
            .places
            .iter()
            .filter(|place| place.active.is_some())
            .count()
    }

    /// Frees every place.
    pub(crate) fn clear(&self) -> Vec<Active> {
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        inner.identities.clear();
        inner
            .places
            .iter_mut()
            .filter_map(|place| place.active.take())
            .collect()
    }
}

impl Inner {
    fn insert(&mut self, active: Active, identity: Option<Identity>) -> Option<ObjectId> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let index = u32::try_from(self.places.len()).ok()?;
                self.places.push(Place {
                    generation: 0,
                    active: None,
                    identity: None,
                });
                index
            }
        };
        let place = self.places.get_mut(index as usize)?;
        place.active = Some(active);
        place.identity = identity;
        let id = ObjectId {
            index,
            generation: place.generation,
        };
        if let Some(identity) = identity {
            self.identities.insert(identity, id);
        }
        Some(id)
    }

    fn active(&self, id: ObjectId) -> Option<&Active> {
        let place = self.places.get(id.index as usize)?;
        place
            .active
            .as_ref()
            .filter(|_| place.generation == id.generation)
    }

    fn place(&mut self, id: ObjectId) -> Option<&mut Place> {
        let place = self.places.get_mut(id.index as usize)?;
        (place.generation == id.generation && place.active.is_some()).then_some(place)
    }
}

impl fmt::Debug for ActiveMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveMap")
            .field("len", &self.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_orb::{DispatchError, Dispatched, ServerCall};

    struct Nothing;

    impl Servant for Nothing {
        fn repository_ids(&self) -> &'static [&'static str] {
            &[]
        }

        fn implementation(&self) -> &(dyn std::any::Any + Send + Sync) {
            self
        }

        fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
            Err(call.bad_operation())
        }
    }

    fn servant() -> Active {
        Active::Servant(Arc::new(Nothing))
    }

    #[test]
    fn a_place_used_again_tells_the_old_id_from_the_new() {
        let map = ActiveMap::default();
        let old = map.insert(servant(), None).unwrap();
        assert!(map.remove(old).is_some());
        let new = map.insert(servant(), None).unwrap();
        assert_eq!(old.index, new.index);
        assert!(map.find(old).is_none());
        assert!(map.remove(old).is_none());
        assert!(map.find(new).is_some());
    }

    #[test]
    fn an_id_that_was_never_given_out_finds_nothing() {
        let map = ActiveMap::default();
        for (index, generation) in [(0, 0), (u32::MAX, 0), (0, u32::MAX)] {
            assert!(map.find(ObjectId { index, generation }).is_none());
        }
    }

    #[test]
    fn one_servant_has_one_id_until_it_is_removed() {
        let map = ActiveMap::default();
        let shared = Arc::new(Nothing);
        let identity = Identity::of(&shared, "IDL:Nothing:1.0");
        let make = || Active::Servant(shared.clone());
        let first = map.find_or_insert(identity, make).unwrap();
        let second = map.find_or_insert(identity, make).unwrap();
        assert_eq!(first, second);
        map.remove(first);
        let third = map.find_or_insert(identity, make).unwrap();
        assert_ne!(first, third);
    }
}
