//! Policies of an ORB as a whole.

use super::any_policy::Policy;
use super::known_protocols::KnownProtocols;
use super::managed::Managed;
use super::set::SetOverride;
use crate::exception::SystemException;
use std::fmt;

/// Access to the policies for all calls of an ORB, which apply unless a thread or a reference
/// overrides them.
pub struct PolicyManager<'o> {
    managed: &'o Managed,
    protocols: &'o dyn KnownProtocols,
}

impl<'o> PolicyManager<'o> {
    pub(crate) fn new(managed: &'o Managed, protocols: &'o dyn KnownProtocols) -> Self {
        Self { managed, protocols }
    }

    /// Sets policies, for calls from now on.
    ///
    /// # Errors
    /// INV_POLICY for a policy that is invalid, or of a type that the ORB does not know; BAD_PARAM for two
    /// policies of one type.
    pub fn set_policy_overrides(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), SystemException> {
        let managed = self.managed;
        managed.set_overrides(policies, how, self.protocols)
    }

    /// Returns the policies that are set for the ORB, of the given types; all, if no types are
    /// given.
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
