//! Policies that cannot be met, with their types.

use super::any_policy::invalid;
use crate::exception::SystemException;
use std::borrow::Cow;

/// Reason why no call can be made under the policies in effect, and the types of those at fault:
/// INV_POLICY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetPolicies {
    /// Types of the policies at fault; empty if the reason is another.
    pub types: Vec<u32>,
    /// The reason.
    pub why: Cow<'static, str>,
}

impl UnmetPolicies {
    /// Creates the error for policies of these types, with this reason.
    pub fn new(types: &[u32], why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            types: types.to_vec(),
            why: why.into(),
        }
    }
}

impl From<UnmetPolicies> for SystemException {
    fn from(unmet: UnmetPolicies) -> Self {
        invalid(unmet.why)
    }
}
