//! Policy state of an ORB.

use super::any_policy::Policy;
use super::defaults::Defaults;
use super::known_protocols::KnownProtocols;
use super::policy_type::PolicyLevels;
use super::set::{PolicySet, SetOverride};
use super::types::PolicyTypes;
use super::values::Bidirectional;
use crate::exception::SystemException;
use arc_swap::ArcSwap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Policies of an ORB: known types, configured defaults, and the policies set.
#[derive(Debug)]
pub(crate) struct Managed {
    /// Number of the ORB, unique within the process.
    number: u64,
    types: PolicyTypes,
    defaults: Defaults,
    set: ArcSwap<PolicySet>,
    epoch: AtomicU64,
    changing: Mutex<()>,
}

impl Managed {
    /// Creates the policy state of the ORB with this number, with its configured defaults.
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

    /// Returns the epoch, a number that changes whenever the ORB's policies change.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        // Acquire pairs with the Release in `set_overrides`: a new epoch shows new policies.
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

    /// Returns whether servers may call this ORB over the connections that it has opened to them.
    pub(crate) fn allows_bidirectional(&self) -> bool {
        let set = self.set();
        let said = set.iter().find_map(|policy| match policy {
            Policy::Bidirectional(said) => Some(*said),
            _ => None,
        });
        said.unwrap_or(self.defaults().bidirectional) == Bidirectional::Both
    }

    pub(super) fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// Sets policies of the ORB for calls that begin from now on.
    pub(super) fn set_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
        protocols: &dyn KnownProtocols,
    ) -> Result<(), SystemException> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (PolicyLevels::ORB, &self.types);
        let next = self.set.load().overridden(policies, how, at, protocols)?;
        self.set.store(Arc::new(next));
        self.epoch.fetch_add(1, Ordering::Release);
        Ok(())
    }
}
