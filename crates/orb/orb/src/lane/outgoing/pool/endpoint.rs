//! Endpoints of references: addresses, and the protocol to use there.

use crate::policy::CharCodeSet;
use crate::profile::{Demand, EndpointQualities};
use crate::protocol::Pair;
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_link::{Address, Protection};
use std::sync::Arc;

/// Endpoint at which an object can be reached.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) pair: Arc<Pair>,
    pub(crate) address: Address,
    pub(crate) qualities: EndpointQualities,
    /// Security that the server demands of clients, according to the profile.
    pub(crate) demands: Option<Demand>,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    /// Code sets for calls whose policy prefers ISO 8859-1 text.
    pub(crate) code_sets_of_latin: CodeSets,
    /// True if the reference's profile announces the server's code sets.
    pub(crate) announces_code_sets: bool,
    pub(crate) object_key: Arc<[u8]>,
    /// Index of the reference's profile that contains the endpoint.
    pub(crate) profile: usize,
}

impl Endpoint {
    /// Returns `true` if messages to the endpoint are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.pair.link.protection() == Protection::Encryption
    }

    /// Returns the endpoint with the code sets for calls that prefer `wanted`.
    pub(crate) fn with_chars_in(self: &Arc<Self>, wanted: CharCodeSet) -> Arc<Self> {
        let is_wanted = self.code_sets == self.code_sets_of_latin || wanted == CharCodeSet::Utf8;
        match is_wanted {
            true => self.clone(),
            false => Arc::new(Self {
                code_sets: self.code_sets_of_latin,
                ..Self::clone(self)
            }),
        }
    }

    /// Returns `true` if both are one endpoint of one profile.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.profile == other.profile
            && self.address == other.address
            && self.qualities == other.qualities
            && self.pair.name == other.pair.name
    }
}
