//! What single objects have of their own in place of a policy of their adapter's: a priority, say.
//!
//! An object that was activated with a policy of its own has it in its entry of the active object map, as long as it is
//! active. What a reference was made with is remembered here by the object's id as long as the adapter lives: the object
//! has it however often it is activated, by whomever, and where a default servant or a servant locator serves it.

use parking_lot::Mutex;
use punctual_orb::{AdapterPolicies, Policy, UpcallHook};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A policy of single objects of an adapter ([`crate::Poa::object_policy`]). Cheap to clone.
#[derive(Clone, Debug)]
pub struct ObjectPolicy(pub(crate) Arc<OwnPolicies>);

/// What such objects have in place of their adapter's.
pub(crate) struct OwnPolicies {
    /// The policy in which they differ from it.
    pub(crate) policy: Policy,
    /// All of their policies whose types the ORB was told of.
    pub(crate) defined: AdapterPolicies,
    /// What surrounds their upcalls.
    pub(crate) around: Option<UpcallHook>,
}

/// Another policy of its own was said of an object before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Differs;

/// What objects of one adapter have of their own.
#[derive(Default)]
pub(crate) struct OwnPoliciesOfObjects {
    /// Each that was asked for: objects with the same policy share it.
    made: Mutex<Vec<Arc<OwnPolicies>>>,
    /// Those that references were made with, by the ids of their objects.
    remembered: papaya::HashMap<Box<[u8]>, Arc<OwnPolicies>>,
    /// Whether there are any of those.
    are_remembered: AtomicBool,
}

impl OwnPoliciesOfObjects {
    /// What objects with this policy have, made once.
    ///
    /// # Errors
    /// That of `make`.
    pub(crate) fn of<E>(
        &self,
        policy: &Policy,
        make: impl FnOnce() -> Result<OwnPolicies, E>,
    ) -> Result<Arc<OwnPolicies>, E> {
        let is_it = |one: &&Arc<OwnPolicies>| one.policy == *policy;
        if let Some(made) = self.made.lock().iter().find(is_it) {
            return Ok(made.clone());
        }
        // Without the lock, as it asks others. What somebody else makes meanwhile is as good.
        let made = Arc::new(make()?);
        self.made.lock().push(made.clone());
        Ok(made)
    }

    /// What the references to the object with an id were made with, if with anything. Takes no lock; where no reference
    /// was, it looks at one word.
    #[inline]
    pub(crate) fn remembered(&self, id: &[u8]) -> Option<Arc<OwnPolicies>> {
        // Acquire pairs with the Release in `remember`.
        if !self.are_remembered.load(Ordering::Acquire) {
            return None;
        }
        self.remembered.pin().get(id).cloned()
    }

    /// Remembers what a reference is made with. No object is activated meanwhile: the active object map's mutex sees to
    /// that ([`crate::object_map::ActiveMap::while_nothing_is_activated`]).
    ///
    /// # Errors
    /// [`Differs`] where others of its object were made with something else.
    pub(crate) fn remember(&self, id: &[u8], own: &Arc<OwnPolicies>) -> Result<(), Differs> {
        let remembered = self.remembered.pin();
        let is_same = remembered
            .get_or_insert(id.into(), own.clone())
            .is_same(own);
        self.are_remembered.store(true, Ordering::Release);
        is_same.then_some(()).ok_or(Differs)
    }

    /// What an object has that is being activated: what it is given, or what references to it were made with. Asked for
    /// under the active object map's mutex.
    ///
    /// # Errors
    /// [`Differs`] where they were made with something else than it is given.
    pub(crate) fn of_activated(
        &self,
        id: &[u8],
        given: Option<Arc<OwnPolicies>>,
    ) -> Result<Option<Arc<OwnPolicies>>, Differs> {
        match (given, self.remembered(id)) {
            (Some(given), Some(remembered)) if !given.is_same(&remembered) => Err(Differs),
            (given, remembered) => Ok(given.or(remembered)),
        }
    }
}

impl OwnPolicies {
    /// Whether objects with the one have what those with the other have.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.policy == other.policy
    }
}

impl fmt::Debug for OwnPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}
