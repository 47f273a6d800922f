//! Policies of types that were added to an ORB.

use super::PolicyType;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Policy of a type that was added: its type number, and a value that only code that knows the Rust
/// type can read.
#[derive(Clone)]
pub struct DefinedPolicy {
    number: u32,
    value: Arc<dyn Value>,
}

/// Value of a policy whose type an application or another crate defines.
trait Value: Any + fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &dyn Value) -> bool;
}

impl<P: PolicyType> Value for P {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Value) -> bool {
        other.as_any().downcast_ref::<P>() == Some(self)
    }
}

impl DefinedPolicy {
    pub(super) fn new<P: PolicyType>(value: P) -> Self {
        Self {
            number: P::NUMBER,
            value: Arc::new(value),
        }
    }

    /// Returns the number of the policy's type (PolicyType).
    #[must_use]
    pub fn policy_type(&self) -> u32 {
        self.number
    }

    /// Returns the value, if it is of this type.
    #[must_use]
    pub fn value<P: PolicyType>(&self) -> Option<&P> {
        (*self.value).as_any().downcast_ref()
    }
}

impl PartialEq for DefinedPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && self.value.equals(&*other.value)
    }
}

impl Eq for DefinedPolicy {}

impl fmt::Debug for DefinedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
