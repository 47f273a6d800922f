//! The ORB's part in the policies of its object adapter.

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
    /// Returns the policies of an adapter: the given ones, and otherwise the ORB's for its adapters
    /// ([`crate::PolicyLevels::POA_DEFAULT`]). For adapters.
    ///
    /// # Errors
    /// [`InvalidPolicy`] for one that cannot be obeyed, that no adapter can have, or that is given
    /// twice; for [`PublishedEndpoints`] that name an endpoint which is not listened at; for a
    /// priority that no endpoint serves.
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

    /// Lets the ORB's IOR interceptors add components to the references of an adapter that is being
    /// created (CORBA 3.3 part 1, §16.5). Returns the factory of the references, if it is not the
    /// adapter itself (`own`). For adapters.
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

    /// Returns the reference that a factory of an IOR interceptor creates. For adapters.
    ///
    /// # Errors
    /// The exception that the factory has raised; UNKNOWN where it panics.
    pub fn make_reference_by(
        &self,
        factory: &dyn ObjectReferenceFactory,
        type_id: &str,
        object_id: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        let ior = interceptor::made_by(factory, type_id, object_id)?;
        Ok(reference_to(self, ior))
    }

    /// Notifies the ORB's IOR interceptors that a manager of adapters has another state. For
    /// adapters.
    pub fn adapter_manager_has_changed(&self, manager: u32, state: AdapterState) {
        let all = self.broker().interceptors.ior();
        interceptor::tell(all, "adapter_manager_state_changed", |one| {
            one.adapter_manager_state_changed(manager, state);
        });
    }

    /// Notifies the ORB's IOR interceptors that adapters have another state of their own. For
    /// adapters.
    pub fn adapters_have_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let all = self.broker().interceptors.ior();
        interceptor::tell(all, "adapter_state_changed", |one| {
            one.adapter_state_changed(adapters, state);
        });
    }

    /// Creates a reference to an object of an adapter that has these policies: as
    /// [`Orb::make_reference`], with those of them that are published. For adapters.
    ///
    /// # Errors
    /// Those of [`Orb::make_reference_with_policies`]; INV_POLICY when no endpoint that it may name
    /// is listened at any more.
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
