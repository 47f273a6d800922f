//! What a reference says of its object, beside where that is.
//!
//! It stands in the profiles, whatever protocol they are of: their codecs read it. A profile that
//! nobody here can read, and a component that does not decode, say nothing.

use super::object::ObjectRef;
use crate::exception::SystemException;
use crate::policy::PolicyType;
use punctual_ior::PolicyValue;

impl ObjectRef {
    /// By what name its server knows the object: the object key of the first profile that this ORB can
    /// read. `None` when it can read none.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        self.target()
            .first_that_says(self.orb().broker(), |profile| Some(profile.object_key))
    }

    /// The policies that the server published with the reference, of the first profile that has any
    /// (the component TAG_POLICIES of CORBA Messaging). Values are as they came, those of types that are
    /// not known here too.
    #[must_use]
    pub fn published_policies(&self) -> Vec<PolicyValue> {
        self.target().published_policies(self.orb().broker())
    }

    /// What holds of a policy type that the ORB was told of ([`crate::OrbBuilder::policy_type`]), for calls
    /// through this reference by the calling thread: what the server published, and what this reference,
    /// the thread and the ORB say, put together.
    ///
    /// # Errors
    /// INV_POLICY when they contradict each other, as for a call.
    pub fn policy<P: PolicyType>(&self) -> Result<Option<P>, SystemException> {
        let effective = self.callee().effective();
        effective.check()?;
        Ok(effective.value::<P>().cloned())
    }
}
