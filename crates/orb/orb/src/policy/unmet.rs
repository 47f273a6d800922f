//! Policies that cannot be met, and which they are.

use super::wish::invalid;
use crate::exception::SystemException;
use std::borrow::Cow;

/// Why no call can be made under the policies that hold, and the types of those that are at fault: INV_POLICY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetPolicies {
    /// Their types; none where what is wrong is no policy's.
    pub types: Vec<u32>,
    /// What is wrong.
    pub why: Cow<'static, str>,
}

impl UnmetPolicies {
    /// Those of these types, for this reason.
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
