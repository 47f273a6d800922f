//! Policy that selects the endpoints in the references of a POA. It is added to each ORB as
//! policies of other crates are.

use super::LaneId;
use crate::policy::{PolicyLevels, PolicyType};
use crate::priority::Priority;
use std::fmt;

/// Selection of the endpoints, among those that the ORB listens at, that references of a POA's
/// objects contain. Without this policy they contain all.
///
/// It only determines what is published: a client that uses another endpoint is served there, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedEndpoints(Vec<EndpointChoice>);

/// Choice among the endpoints that an ORB listens at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointChoice {
    /// Endpoints with this text, `protocol://place`, as configured or with the actual address
    /// ([`crate::Orb::endpoints`]). Options may be omitted.
    Text(String),
    /// Endpoints that have this CORBA priority.
    Priority(Priority),
    /// Endpoints that the threads of this lane serve.
    Lane(LaneId),
}

impl PublishedEndpoints {
    /// Creates a policy that selects the endpoints that match any of the choices.
    #[must_use]
    pub fn new(choices: impl IntoIterator<Item = EndpointChoice>) -> Self {
        Self(choices.into_iter().collect())
    }

    /// Creates a policy that selects the endpoints with these texts.
    #[must_use]
    pub fn named<S: AsRef<str>>(texts: &[S]) -> Self {
        let texts = texts.iter().map(|text| text.as_ref().to_owned());
        Self::new(texts.map(EndpointChoice::Text))
    }

    /// Returns the choices of endpoints that the policy contains.
    #[must_use]
    pub fn choices(&self) -> &[EndpointChoice] {
        &self.0
    }
}

/// Leaves the check that each choice matches an endpoint to the creation of a POA, when the
/// endpoints are known.
impl PolicyType for PublishedEndpoints {
    const NUMBER: u32 = 0x5055_0006;
    const NAME: &'static str = "PublishedEndpoints";
    const LEVELS: PolicyLevels = PolicyLevels::POA;

    fn check(&self) -> Result<(), String> {
        match self.0.is_empty() {
            true => Err("no endpoint is named, so that references would be unusable".to_owned()),
            false => Ok(()),
        }
    }
}

/// Writes the choice in the form used in error messages.
impl fmt::Display for EndpointChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Priority(priority) => write!(f, "of priority {priority}"),
            Self::Lane(lane) => write!(f, "of {lane}"),
        }
    }
}
