//! What a reference says of its object, beside where that is.
//!
//! It stands in the profiles, whatever protocol they are of: their codecs read it. A profile that
//! nobody here can read, and a component that does not decode, say nothing.

use super::object::ObjectRef;
use punctual_ior::{Component, PolicyValue, TaggedComponent, tags};

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
        let policies = self
            .target()
            .first_that_says(self.orb().broker(), |profile| {
                profile.components.iter().find_map(policies)
            });
        policies.unwrap_or_default()
    }
}

fn policies(component: &TaggedComponent) -> Option<Vec<PolicyValue>> {
    if component.tag != tags::component::POLICIES {
        return None;
    }
    match component.decode() {
        Ok(Component::Policies(values)) => Some(values),
        _ => None,
    }
}
