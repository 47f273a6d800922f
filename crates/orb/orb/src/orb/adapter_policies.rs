//! What an ORB does for the policies of its object adapter.

use super::Orb;
use crate::exception::SystemException;
use crate::policy::{AdapterPolicies, InvalidPolicy, Policy};
use crate::reference::ObjectRef;

impl Orb {
    /// The policies of an adapter that is given these, and has for the rest what the ORB has for its adapters
    /// ([`crate::PolicyLevels::POA_DEFAULT`]). For adapters.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for one that cannot be obeyed, that no adapter can have, or that is given twice.
    pub fn adapter_policies(&self, given: &[Policy]) -> Result<AdapterPolicies, InvalidPolicy> {
        AdapterPolicies::of(given, self.managed_policies(), self.protocols())
    }

    /// A reference to an object of an adapter that has these policies: as [`Orb::make_reference`], with those
    /// of them that are published. For adapters.
    ///
    /// # Errors
    /// Those of [`Orb::make_reference_with_policies`].
    pub fn make_reference_under(
        &self,
        type_id: &str,
        object_key: &[u8],
        policies: &AdapterPolicies,
    ) -> Result<ObjectRef, SystemException> {
        self.make_reference_with_policies(type_id, object_key, policies.published())
    }
}
