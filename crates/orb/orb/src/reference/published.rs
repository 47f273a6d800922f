//! Information that a reference publishes about its object, beside its location.
//!
//! It is in the profiles of any protocol, and is read by their codecs. A profile without a codec,
//! and a component that cannot be decoded, are ignored.

use super::object::ObjectRef;
use crate::exception::SystemException;
use crate::policy::PolicyType;
use punctual_ior::PolicyValue;

impl ObjectRef {
    /// Returns the object key in the first profile that this ORB can decode, which identifies the
    /// object within its server. `None` if it can decode none.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        self.target()
            .first_that_says(self.orb().broker(), |profile| Some(profile.object_key))
    }

    /// Returns the policies that the server published in the reference's first profile that has any
    /// (the component TAG_POLICIES of CORBA Messaging). Values are returned as received, including
    /// those of unknown types.
    #[must_use]
    pub fn published_policies(&self) -> Vec<PolicyValue> {
        self.target().published_policies(self.orb().broker())
    }

    /// Returns the policy in effect for calls through this reference by the calling thread, for a
    /// type that was added to the ORB ([`crate::OrbBuilder::policy_type`]). It combines the value
    /// that the server has published with those set for this reference, the thread and the ORB.
    ///
    /// # Errors
    /// INV_POLICY if the values contradict each other, as for a call.
    pub fn policy<P: PolicyType>(&self) -> Result<Option<P>, SystemException> {
        let effective = self.callee().effective();
        effective.check()?;
        Ok(effective.value::<P>().cloned())
    }
}
