//! Facts that a reference publishes about its object, beside its location.
//!
//! They stand in the profiles of any protocol, whose codecs read them. A profile without a codec,
//! and a component that does not decode, are ignored.

use super::object::ObjectRef;
use crate::exception::SystemException;
use crate::policy::PolicyType;
use punctual_ior::PolicyValue;

impl ObjectRef {
    /// Returns the name of the object at its server: the object key of the first profile that this
    /// ORB can read. `None` when it can read none.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        self.target()
            .first_that_says(self.orb().broker(), |profile| Some(profile.object_key))
    }

    /// Returns the policies that the server published with the reference, of the first profile that
    /// has any (the component TAG_POLICIES of CORBA Messaging). Values are as they came, including
    /// those of unknown types.
    #[must_use]
    pub fn published_policies(&self) -> Vec<PolicyValue> {
        self.target().published_policies(self.orb().broker())
    }

    /// Returns the policy in effect of a type that was added to the ORB
    /// ([`crate::OrbBuilder::policy_type`]), for calls through this reference by the calling
    /// thread: the values published by the server and set for this reference, the thread and the
    /// ORB, combined.
    ///
    /// # Errors
    /// INV_POLICY when they contradict each other, as for a call.
    pub fn policy<P: PolicyType>(&self) -> Result<Option<P>, SystemException> {
        let effective = self.callee().effective();
        effective.check()?;
        Ok(effective.value::<P>().cloned())
    }
}
