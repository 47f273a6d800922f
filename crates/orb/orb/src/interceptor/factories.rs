//! Policy factories: they create policies from values (CORBA 3.3 part 1, §16.7).

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::Policy;
use punctual_any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Factory of policies of the types for which it was registered
/// ([`crate::OrbInitInfo::register_policy_factory`]).
pub trait PolicyFactory: Send + Sync {
    /// Creates a policy of this type with this value.
    ///
    /// # Errors
    /// INV_POLICY, or another system exception that describes what is wrong with the value
    /// (`PolicyError` of the standard).
    fn create_policy(&self, policy_type: u32, value: &Any) -> Result<Policy, SystemException>;
}

/// Policy factories that initialisers have registered, by policy type.
#[derive(Default)]
pub(crate) struct Factories(BTreeMap<u32, Arc<dyn PolicyFactory>>);

impl Factories {
    /// Adds the factory of a type.
    ///
    /// # Errors
    /// BAD_INV_ORDER 16 if the type already has a factory.
    pub(super) fn add(
        &mut self,
        policy_type: u32,
        factory: Arc<dyn PolicyFactory>,
    ) -> Result<(), SystemException> {
        if self.0.contains_key(&policy_type) {
            let why = format!("policies of type {policy_type} have a factory already");
            return Err(super::error::bad_inv_order(
                minor::POLICY_FACTORY_EXISTS,
                why,
            ));
        }
        self.0.insert(policy_type, factory);
        Ok(())
    }

    pub(super) fn make(&self, policy_type: u32, value: &Any) -> Result<Policy, SystemException> {
        let factory = self.0.get(&policy_type).ok_or_else(|| {
            SystemException::new(
                Kind::InvPolicy,
                minor::NO_POLICY_FACTORY,
                CompletionStatus::No,
            )
            .with_detail(format!("no factory makes policies of type {policy_type}"))
        })?;
        factory.create_policy(policy_type, value)
    }
}
