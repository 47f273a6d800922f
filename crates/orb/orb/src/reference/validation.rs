//! Result of explicit binding.

use crate::exception::SystemException;
use crate::policy::Policy;

/// Result of explicit binding under the policies in effect
/// ([`crate::ObjectRef::validate_connection`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Calls can be made, and the connection that they need is open.
    Connected,
    /// Calls fail with INV_POLICY.
    Inconsistent {
        /// The policies that cannot be met (`inconsistent_policies`): those that contradict each
        /// other, the client's and the server's, or those that the reference has no endpoint for.
        /// Empty if the server reports the failure.
        policies: Vec<Policy>,
        /// Exception that calls raise.
        why: SystemException,
    },
}

impl Validation {
    /// Returns whether calls can be made.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }
}
