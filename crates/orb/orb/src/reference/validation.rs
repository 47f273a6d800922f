//! Result of explicit binding.

use crate::exception::SystemException;
use crate::policy::Policy;

/// Result of explicit binding under the policies in effect
/// ([`crate::ObjectRef::validate_connection`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Calls can be made, and the connection that they need is open.
    Connected,
    /// Calls would fail with INV_POLICY.
    Inconsistent {
        /// Policies that cannot be met (`inconsistent_policies`): policies of client and server
        /// that contradict each other, or policies that no endpoint of the reference satisfies.
        /// Empty if the server reports the failure.
        policies: Vec<Policy>,
        /// Exception that calls through the reference would raise.
        why: SystemException,
    },
}

impl Validation {
    /// Returns whether calls through the reference can be made.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }
}
