//! What a reference says of its object, beside where that is.
//!
//! It stands in the profiles, whatever protocol they are of: their codecs read it. A profile that
//! nobody here can read says nothing.

use super::ObjectRef;
use crate::profile::PlacedProfile;

impl ObjectRef {
    /// By what name its server knows the object: the object key of the first profile that this ORB can
    /// read. `None` when it can read none.
    #[must_use]
    pub fn object_key(&self) -> Option<Vec<u8>> {
        self.first_that_says(|profile| Some(profile.object_key))
    }

    fn first_that_says<T>(&self, what: impl Fn(PlacedProfile) -> Option<T>) -> Option<T> {
        let registry = self.orb().protocols().now();
        self.ior().profiles.iter().find_map(|tagged| {
            let codec = registry.codec(tagged.tag)?;
            codec.decode(&tagged.data).ok().and_then(&what)
        })
    }
}
