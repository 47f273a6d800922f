//! Policies that cannot be met, with their types.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use std::borrow::Cow;

/// Reason why no call can be made under the policies in effect (INV_POLICY), and the types of the
/// policies responsible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetPolicies {
    /// Types of the policies responsible; empty if the reason is another.
    pub types: Vec<u32>,
    /// Reason why no call can be made under the policies.
    pub why: Cow<'static, str>,
    /// Minor code of the exception, which conveys the reason to a peer.
    pub minor: u32,
}

impl UnmetPolicies {
    /// Creates the error for policies of these types, with this reason.
    pub fn new(types: &[u32], why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            types: types.to_vec(),
            why: why.into(),
            minor: minor::CANNOT_RECONCILE,
        }
    }

    /// Sets the minor code of the exception INV_POLICY.
    #[must_use]
    pub(crate) fn with_minor(mut self, minor: u32) -> Self {
        self.minor = minor;
        self
    }
}

impl From<UnmetPolicies> for SystemException {
    fn from(unmet: UnmetPolicies) -> Self {
        SystemException::new(Kind::InvPolicy, unmet.minor, CompletionStatus::No)
            .with_detail(unmet.why)
    }
}
