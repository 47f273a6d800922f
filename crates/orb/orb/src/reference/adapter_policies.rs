//! Treatment of an object adapter's policies by the ORB.

use super::object::ObjectRef;
use super::places::reference_to;
use crate::exception::SystemException;
use crate::interceptor::{self, AdapterState, ObjectReferenceFactory, ObjectReferenceTemplate};
use crate::orb::Orb;
use crate::policy::{AdapterPolicies, InvalidPolicy, Policy};
use crate::profile::PublishedEndpoints;
use punctual_ior::{Ior, TaggedProfile, tags};
use std::sync::Arc;

impl Orb {
    /// Returns the policies of an object adapter: the given ones and, for types that are not given,
    /// the ORB's defaults for its adapters ([`crate::PolicyLevels::POA_DEFAULT`]). For object
    /// adapters.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for a policy that is invalid, that adapters cannot have, or that is given
    /// twice; for [`PublishedEndpoints`] that select an endpoint at which the ORB does not listen;
    /// for a priority that no endpoint serves.
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

    /// Lets the ORB's IOR interceptors add components to the references of an object adapter that
    /// is being created (CORBA 3.3 part 1, §16.5). Returns the factory that creates the references,
    /// if it is not the adapter's own (`own`). For object adapters.
    ///
    /// # Errors
    /// The exception of an interceptor that prevents the creation of the adapter.
    pub fn establish_components(
        &self,
        policies: AdapterPolicies,
        adapter_name: &[String],
        manager: (u32, AdapterState),
        own: Arc<dyn ObjectReferenceFactory>,
    ) -> Result<(AdapterPolicies, Option<Arc<dyn ObjectReferenceFactory>>), SystemException> {
        let interceptors = self.broker().interceptors.ior();
        if interceptors.is_empty() {
            return Ok((policies, None));
        }
        let policy = |kind: u32| {
            policies
                .iter()
                .find(|one| one.policy_type() == kind)
                .cloned()
        };
        let ids = self.broker().ids();
        let names = (ids.server, ids.orb);
        let adapter = interceptor::Adapter {
            policies: &policy,
            manager,
            template: &ObjectReferenceTemplate::new(names, adapter_name, own),
        };
        let (components, factory) = interceptor::establish(interceptors, &adapter)?;
        Ok((policies.with_components(components), factory))
    }

    /// Returns the reference that an IOR interceptor's factory creates. For object adapters.
    ///
    /// # Errors
    /// The exception that the factory has raised; UNKNOWN if it panics.
    pub fn make_reference_by(
        &self,
        factory: &dyn ObjectReferenceFactory,
        type_id: &str,
        object_id: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        let ior = interceptor::made_by(factory, type_id, object_id)?;
        Ok(reference_to(self, ior))
    }

    /// Notifies the ORB's IOR interceptors that the state of an adapter manager (POA manager) has
    /// changed. For object adapters.
    pub fn adapter_manager_has_changed(&self, manager: u32, state: AdapterState) {
        let all = self.broker().interceptors.ior();
        interceptor::tell(all, "adapter_manager_state_changed", |one| {
            one.adapter_manager_state_changed(manager, state);
        });
    }

    /// Notifies the ORB's IOR interceptors that the state of adapters themselves has changed. For
    /// object adapters.
    pub fn adapters_have_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let all = self.broker().interceptors.ior();
        interceptor::tell(all, "adapter_state_changed", |one| {
            one.adapter_state_changed(adapters, state);
        });
    }

    /// Creates a reference to an object of an adapter with these policies. Works as
    /// [`Orb::make_reference`], but includes the policies that are published. For object adapters.
    ///
    /// # Errors
    /// Those of [`Orb::make_reference_with_policies`]; INV_POLICY if the ORB no longer listens at
    /// any endpoint that the policies select.
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
