//! What an ORB does for the policies of its object adapter.

use super::object::ObjectRef;
use crate::exception::SystemException;
use crate::orb::Orb;
use crate::policy::{AdapterPolicies, InvalidPolicy, Policy};
use crate::profile::PublishedEndpoints;
use punctual_ior::{Ior, TaggedProfile, tags};

impl Orb {
    /// The policies of an adapter that is given these, and has for the rest what the ORB has for its adapters
    /// ([`crate::PolicyLevels::POA_DEFAULT`]). For adapters.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for one that cannot be obeyed, that no adapter can have, or that is given twice; for
    /// [`PublishedEndpoints`] that name an endpoint which is not listened at; for a priority that no endpoint serves.
    pub fn adapter_policies(&self, given: &[Policy]) -> Result<AdapterPolicies, InvalidPolicy> {
        let policies =
            AdapterPolicies::of(given, &self.broker().policies, &self.broker().protocols)?;
        if let Some(published) = policies.value::<PublishedEndpoints>() {
            let is_it = |one: &Policy| one.value::<PublishedEndpoints>().is_some();
            let index = given.iter().position(is_it).unwrap_or_default();
            let invalid = |why: String| InvalidPolicy { index, why };
            let listened = self.listen();
            listened.map_err(|exception| invalid(exception.to_string()))?;
            self.lanes().check_published(published).map_err(invalid)?;
        }
        if self.lanes().decide_for(&policies) {
            let invalid = |(kind, why): (u32, String)| {
                let is_it = |one: &Policy| one.policy_type() == kind;
                let index = policies.iter().position(is_it).unwrap_or_default();
                InvalidPolicy { index, why }
            };
            let listened = self.listen();
            let model = tags::policy::PRIORITY_MODEL;
            listened.map_err(|exception| invalid((model, exception.to_string())))?;
            self.lanes().check_served(&policies).map_err(invalid)?;
        }
        Ok(policies)
    }

    /// A reference to an object of an adapter that has these policies: as [`Orb::make_reference`], with those
    /// of them that are published. For adapters.
    ///
    /// # Errors
    /// Those of [`Orb::make_reference_with_policies`]; INV_POLICY when no endpoint that it may name is listened
    /// at any more.
    pub fn make_reference_under(
        &self,
        type_id: &str,
        object_key: &[u8],
        policies: &AdapterPolicies,
    ) -> Result<ObjectRef, SystemException> {
        self.listen()?;
        let profiles = self.lanes().profiles_under(object_key, policies)?;
        Ok(self.reference_with(type_id, profiles))
    }

    pub(super) fn reference_with(&self, type_id: &str, profiles: Vec<TaggedProfile>) -> ObjectRef {
        let type_id = type_id.to_owned();
        ObjectRef::made_here(self.clone(), Ior { type_id, profiles })
    }
}
