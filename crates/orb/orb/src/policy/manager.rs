//! The policies of a whole ORB, and the types of policies that it knows.

use super::{Defaults, Policy, PolicyLevels, PolicySet, PolicyTypes, SetOverride};
use crate::exception::SystemException;
use arc_swap::ArcSwap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Sets policies for all calls of an ORB that nothing closer overrides.
pub struct PolicyManager<'o> {
    managed: &'o Managed,
    protocols: &'o dyn KnownProtocols,
}

/// Says which protocols an ORB has.
pub(crate) trait KnownProtocols {
    /// # Errors
    /// Why there is no protocol of this name.
    fn check(&self, name: &str) -> Result<(), String>;
}

/// What an ORB keeps of its policies.
#[derive(Debug)]
pub(crate) struct Managed {
    /// Tells the ORB from every other of the process.
    number: u64,
    types: PolicyTypes,
    defaults: Defaults,
    set: ArcSwap<PolicySet>,
    epoch: AtomicU64,
    changing: Mutex<()>,
}

impl Managed {
    /// Of the ORB of this number, with what its configuration says where no policy does.
    pub(crate) fn new(number: u64, types: PolicyTypes, defaults: Defaults) -> Self {
        Self {
            number,
            types,
            defaults,
            set: ArcSwap::default(),
            epoch: AtomicU64::new(0),
            changing: Mutex::default(),
        }
    }

    /// Changes with the policies.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        // Acquire pairs with the Release in `set_policy_overrides`: a new epoch shows new policies.
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) -> Arc<PolicySet> {
        self.set.load_full()
    }

    #[inline]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn types(&self) -> &PolicyTypes {
        &self.types
    }

    pub(super) fn defaults(&self) -> &Defaults {
        &self.defaults
    }
}

impl<'o> PolicyManager<'o> {
    pub(crate) fn new(managed: &'o Managed, protocols: &'o dyn KnownProtocols) -> Self {
        Self { managed, protocols }
    }

    /// Sets policies, for calls from now on.
    ///
    /// # Errors
    /// INV_POLICY for one that cannot be obeyed, or is of a type that the ORB does not know; BAD_PARAM for two
    /// on one matter.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), SystemException> {
        let managed = self.managed;
        let _changing = managed
            .changing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let at = (PolicyLevels::ORB, &managed.types);
        let before = managed.set.load();
        let next = before.overridden(policies, how, at, self.protocols)?;
        managed.set.store(Arc::new(next));
        managed.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// The policies set, of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        self.managed.set().of_types(types)
    }
}

impl fmt::Debug for PolicyManager<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyManager")
            .field("set", &self.managed.set())
            .finish_non_exhaustive()
    }
}
