//! Policies that single objects have in place of one of their adapter's: a priority, for example.
//!
//! An object that was activated with a policy of its own has it in its entry of the active object
//! map, as long as it is active. A policy with which a reference was made is kept here, under the
//! object's id, as long as the adapter exists: it applies to the object at every later activation,
//! and when a default servant or a servant locator serves it.

use parking_lot::Mutex;
use punctual_orb::{AdapterPolicies, Policy, UpcallHook};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Policy that single objects of an adapter may have in place of the adapter's
/// ([`crate::Poa::object_policy`]). Cheap to clone.
#[derive(Clone, Debug)]
pub struct ObjectPolicy(pub(crate) Arc<OwnPolicies>);

/// Policies of objects that have one of their own in place of their adapter's.
pub(crate) struct OwnPolicies {
    /// Policy of the objects that differs from the adapter's policy.
    pub(crate) policy: Policy,
    /// All policies of these objects whose types were registered with the ORB.
    pub(crate) defined: AdapterPolicies,
    /// Hook of the policies that act before and after each upcall to these objects.
    pub(crate) around: Option<UpcallHook>,
}

/// Error of a policy that differs from the one that the object got earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConflictingPolicy;

/// Policies that single objects of one adapter have in place of the adapter's.
#[derive(Default)]
pub(crate) struct OwnPoliciesOfObjects {
    /// All own policies made so far: objects with equal ones share them.
    made: Mutex<Vec<Arc<OwnPolicies>>>,
    /// Own policies with which references were made, by the ids of their objects. Made for the first
    /// of them: an empty map takes 12 KiB.
    remembered: OnceLock<papaya::HashMap<Box<[u8]>, Arc<OwnPolicies>>>,
}

impl OwnPoliciesOfObjects {
    /// Returns the policies that objects with this policy share; made at the first call for it.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn of<E>(
        &self,
        policy: &Policy,
        make: impl FnOnce() -> Result<OwnPolicies, E>,
    ) -> Result<Arc<OwnPolicies>, E> {
        let is_it = |one: &&Arc<OwnPolicies>| one.policy == *policy;
        if let Some(made) = self.made.lock().iter().find(is_it) {
            return Ok(made.clone());
        }
        // Made without the lock, as `make` calls other code. Policies that another thread makes
        // meanwhile are equivalent.
        let made = Arc::new(make()?);
        self.made.lock().push(made.clone());
        Ok(made)
    }

    /// Returns the policies with which references to the object with an id were made, if any. Takes
    /// no lock; in an adapter without such references, it reads only one word.
    #[inline]
    pub(crate) fn remembered(&self, id: &[u8]) -> Option<Arc<OwnPolicies>> {
        self.remembered.get()?.pin().get(id).cloned()
    }

    /// Records the policies of a reference. No object is activated meanwhile, which the active
    /// object map's mutex ensures ([`crate::object_map::ActiveMap::while_nothing_is_activated`]).
    ///
    /// # Errors
    /// [`ConflictingPolicy`] if other references to its object were made with other policies.
    pub(crate) fn remember(
        &self,
        id: &[u8],
        own: &Arc<OwnPolicies>,
    ) -> Result<(), ConflictingPolicy> {
        let remembered = self.remembered.get_or_init(Default::default).pin();
        let is_same = remembered
            .get_or_insert(id.into(), own.clone())
            .is_same(own);
        is_same.then_some(()).ok_or(ConflictingPolicy)
    }

    /// Returns the policies of an object that is being activated: the given ones, or those that
    /// references to it were made with. Called under the active object map's mutex.
    ///
    /// # Errors
    /// [`ConflictingPolicy`] if the references were made with other policies than the given ones.
    pub(crate) fn of_activated(
        &self,
        id: &[u8],
        given: Option<Arc<OwnPolicies>>,
    ) -> Result<Option<Arc<OwnPolicies>>, ConflictingPolicy> {
        match (given, self.remembered(id)) {
            (Some(given), Some(remembered)) if !given.is_same(&remembered) => {
                Err(ConflictingPolicy)
            }
            (given, remembered) => Ok(given.or(remembered)),
        }
    }
}

impl OwnPolicies {
    /// Returns whether objects with either have the same policies.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.policy == other.policy
    }
}

impl fmt::Debug for OwnPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}
