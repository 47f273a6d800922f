//! What explicit binding has found.

use crate::exception::SystemException;
use crate::policy::Policy;

/// Whether calls can be made under the policies that hold ([`crate::ObjectRef::validate_connection`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validation {
    /// They can, and the connection that they need is there.
    Connected,
    /// They fail with INV_POLICY.
    Inconsistent {
        /// The policies that cannot be met (`inconsistent_policies`): those that contradict each other, the client's and
        /// the server's, or those that the reference has no endpoint for. None where it is the server that says so.
        policies: Vec<Policy>,
        /// What calls raise.
        why: SystemException,
    },
}

impl Validation {
    /// Whether calls can be made.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Connected)
    }
}
