//! Endpoints in the references of a POA: a policy, added to each ORB in the same way as other
//! crates add theirs.

use super::LaneId;
use crate::policy::{PolicyLevels, PolicyType};
use crate::priority::Priority;
use std::fmt;

/// Endpoints that references of a POA's objects name, of those that the ORB listens at. Without
/// this policy they name all.
///
/// It only decides on what is published: a client that knows another endpoint is served there too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedEndpoints(Vec<EndpointChoice>);

/// Choice among the endpoints that an ORB listens at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointChoice {
    /// Endpoints of this text, `protocol://place`, as configured or as listened at
    /// ([`crate::Orb::endpoints`]). Options may be left out.
    Text(String),
    /// Endpoints of this priority.
    Priority(Priority),
    /// Endpoints of this lane.
    Lane(LaneId),
}

impl PublishedEndpoints {
    /// Creates a policy for the endpoints that match one of the choices.
    #[must_use]
    pub fn new(choices: impl IntoIterator<Item = EndpointChoice>) -> Self {
        Self(choices.into_iter().collect())
    }

    /// Creates a policy for the endpoints with these texts.
    #[must_use]
    pub fn named<S: AsRef<str>>(texts: &[S]) -> Self {
        let texts = texts.iter().map(|text| text.as_ref().to_owned());
        Self::new(texts.map(EndpointChoice::Text))
    }

    /// Returns the choices.
    #[must_use]
    pub fn choices(&self) -> &[EndpointChoice] {
        &self.0
    }
}

/// The endpoints are known when a POA is created, which checks that each choice matches one.
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

/// Shows the choice, for messages.
impl fmt::Display for EndpointChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Priority(priority) => write!(f, "of priority {priority}"),
            Self::Lane(lane) => write!(f, "of {lane}"),
        }
    }
}
