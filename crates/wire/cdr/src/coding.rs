//! Everything an encoding depends on, beside the byte order.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::code_set::CodeSets;
use crate::limits::Limits;
use crate::valuetype::ValueFactory;
use crate::version::GiopVersion;

static DEFAULT_LIMITS: Limits = Limits::DEFAULT;

/// What values that are more than data need to come alive: the ORB that object references belong to, and
/// that knows the factories of valuetypes.
pub trait Environment: Any + Send + Sync {
    /// The same environment, for a value that comes alive later than it is read.
    fn share(&self) -> Arc<dyn Environment>;

    /// What makes values of the type with that repository id. `None` if it is not known here.
    fn value_factory(&self, _id: &str) -> Option<Arc<dyn ValueFactory>> {
        None
    }
}

/// What an encoder and a decoder must know beside the byte order. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Coding<'e> {
    /// The version of the message: it decides how wide text looks.
    pub version: GiopVersion,
    /// The code sets agreed on.
    pub code_sets: CodeSets,
    /// The limits in force.
    pub limits: &'e Limits,
    /// What values need to come alive. See [`Decoder::environment`](crate::Decoder::environment).
    pub environment: Option<&'e dyn Environment>,
}

impl<'e> Coding<'e> {
    /// A coding of this version with these limits, native code sets and no environment.
    #[must_use]
    pub const fn new(version: GiopVersion, limits: &'e Limits) -> Self {
        Self {
            version,
            code_sets: CodeSets::NATIVE,
            limits,
            environment: None,
        }
    }

    /// The environment, if there is one of type `T`.
    #[inline]
    #[must_use]
    pub fn environment<T: Any>(&self) -> Option<&'e T> {
        let environment: &dyn Any = self.environment?;
        environment.downcast_ref()
    }
}

impl Default for Coding<'static> {
    /// GIOP 1.2, UTF-8 and UTF-16, the default limits, no environment.
    fn default() -> Self {
        Self::new(GiopVersion::V1_2, &DEFAULT_LIMITS)
    }
}

impl fmt::Debug for Coding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coding")
            .field("version", &self.version)
            .field("code_sets", &self.code_sets)
            .field("limits", self.limits)
            .field("environment", &self.environment.is_some())
            .finish()
    }
}
