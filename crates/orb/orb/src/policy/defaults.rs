//! Values that apply where no policy is set.

use super::any_policy::Policy;
use super::buffering::{BufferCapacity, Buffering};
use super::values::{Bidirectional, CharCodeSet, ClientProtocols, Collocation, Security, Wait};
use std::collections::BTreeMap;
use std::time::Duration;

/// Values that apply where no policy is set, taken from the ORB's configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) roundtrip: Option<Duration>,
    pub(crate) protocols: Option<ClientProtocols>,
    pub(crate) wait: Wait,
    pub(crate) collocation: Collocation,
    pub(crate) security: Security,
    pub(crate) char_code_set: CharCodeSet,
    pub(crate) bidirectional: Bidirectional,
    pub(crate) buffering: Option<Buffering>,
    pub(crate) buffer_capacity: BufferCapacity,
    /// Properties of connections, by the name of the link, with its adapters, and of the property.
    pub(crate) properties: BTreeMap<String, BTreeMap<String, String>>,
}

impl Defaults {
    /// Returns whether the configuration has the property of connections that a policy would set.
    pub(super) fn have_property_of(&self, policy: &Policy) -> bool {
        let Policy::LinkProperty(property) = policy else {
            return false;
        };
        let of_link = self.properties.get(&property.link);
        of_link.is_some_and(|of_link| of_link.contains_key(&property.name))
    }
}
