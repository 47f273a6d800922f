//! Which endpoints the references of a POA name: a policy, added to each ORB as any other crate adds one.

use super::LaneId;
use crate::policy::{PolicyLevels, PolicyType};
use crate::priority::Priority;
use std::fmt;

/// The endpoints that references of a POA's objects name, of those that the ORB listens at. Without this policy
/// they name all.
///
/// It says what is published, and nothing else: a client that knows another endpoint is served there too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedEndpoints(Vec<EndpointChoice>);

/// Names endpoints that an ORB listens at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointChoice {
    /// Those of this text, `protocol://place`, as they were configured or as they are
    /// ([`crate::Orb::endpoints`]). Options may be left out.
    Text(String),
    /// Those of this priority.
    Priority(Priority),
    /// Those of this lane.
    Lane(LaneId),
}

impl PublishedEndpoints {
    /// Those that one of the choices names.
    #[must_use]
    pub fn new(choices: impl IntoIterator<Item = EndpointChoice>) -> Self {
        Self(choices.into_iter().collect())
    }

    /// Those of these texts.
    #[must_use]
    pub fn named<S: AsRef<str>>(texts: &[S]) -> Self {
        let texts = texts.iter().map(|text| text.as_ref().to_owned());
        Self::new(texts.map(EndpointChoice::Text))
    }

    /// What names them.
    #[must_use]
    pub fn choices(&self) -> &[EndpointChoice] {
        &self.0
    }
}

/// Which endpoints there are is known when a POA is made, which checks that each choice names one.
impl PolicyType for PublishedEndpoints {
    const NUMBER: u32 = 0x5055_0006;
    const NAME: &'static str = "PublishedEndpoints";
    const LEVELS: PolicyLevels = PolicyLevels::POA;

    fn check(&self) -> Result<(), String> {
        match self.0.is_empty() {
            true => Err("no endpoint is named, so that nobody could call".to_owned()),
            false => Ok(()),
        }
    }
}

/// For messages.
impl fmt::Display for EndpointChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Priority(priority) => write!(f, "of priority {priority}"),
            Self::Lane(lane) => write!(f, "of {lane}"),
        }
    }
}
