//! The policies of a whole ORB.

use super::{Policy, PolicySet, SetOverride};
use crate::broker::Broker;
use crate::exception::SystemException;
use arc_swap::ArcSwap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Sets policies for all calls of an ORB that nothing closer overrides.
#[derive(Debug)]
pub struct PolicyManager<'o> {
    broker: &'o Broker,
}

/// What the ORB keeps of it.
#[derive(Debug, Default)]
pub(crate) struct Managed {
    set: ArcSwap<PolicySet>,
    epoch: AtomicU64,
    changing: Mutex<()>,
}

impl Managed {
    /// Changes with the policies.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        // Acquire pairs with the Release in `set_policy_overrides`: a new epoch shows new policies.
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) -> Arc<PolicySet> {
        self.set.load_full()
    }
}

impl<'o> PolicyManager<'o> {
    pub(crate) fn new(broker: &'o Broker) -> Self {
        Self { broker }
    }

    /// Sets policies, for calls from now on.
    ///
    /// # Errors
    /// INV_POLICY for one that cannot be obeyed, BAD_PARAM for two on one matter.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), SystemException> {
        let managed = &self.broker.policies;
        let _changing = managed
            .changing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let registry = self.broker.protocols.now();
        let next = managed.set.load().overridden(policies, how, &registry)?;
        managed.set.store(Arc::new(next));
        managed.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// The policies set, of the given types; all, if none is given.
    #[must_use]
    pub fn policy_overrides(&self, types: &[u32]) -> Vec<Policy> {
        self.broker.policies.set().of_types(types)
    }
}
