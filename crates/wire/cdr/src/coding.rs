//! Parameters of an encoding, other than the byte order.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::code_set::CodeSets;
use crate::limits::Limits;
use crate::valuetype::ValueFactory;
use crate::version::GiopVersion;

static DEFAULT_LIMITS: Limits = Limits::DEFAULT;

/// Context that values beyond plain data need: the ORB that object references belong to, and the
/// factories of valuetypes.
pub trait Environment: Any + Send + Sync {
    /// Returns the same environment, for a value that uses it after it has been read.
    fn share(&self) -> Arc<dyn Environment>;

    /// Returns the factory of values of the type with that repository id; `None` for an unknown
    /// one.
    fn value_factory(&self, _id: &str) -> Option<Arc<dyn ValueFactory>> {
        None
    }

    /// Returns the environment that this one adds to, if it does.
    fn inner(&self) -> Option<&dyn Environment> {
        None
    }
}

/// Parameters of an encoder and a decoder other than the byte order. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Coding<'e> {
    /// GIOP version of the message, which decides the encoding of wide text.
    pub version: GiopVersion,
    /// Code sets that were negotiated for the connection.
    pub code_sets: CodeSets,
    /// Limits on the sizes and the nesting of values.
    pub limits: &'e Limits,
    /// Context for object references and valuetypes. See
    /// [`Decoder::environment`](crate::Decoder::environment).
    pub environment: Option<&'e dyn Environment>,
}

impl<'e> Coding<'e> {
    /// Makes a coding of this version with these limits, native code sets and no environment.
    #[must_use]
    pub const fn new(version: GiopVersion, limits: &'e Limits) -> Self {
        Self {
            version,
            code_sets: CodeSets::NATIVE,
            limits,
            environment: None,
        }
    }

    /// Returns the environment of type `T`, if this is one or adds to one.
    #[inline]
    #[must_use]
    pub fn environment<T: Any>(&self) -> Option<&'e T> {
        let mut environment = self.environment?;
        loop {
            let any: &dyn Any = environment;
            match any.downcast_ref() {
                Some(found) => return Some(found),
                None => environment = environment.inner()?,
            }
        }
    }
}

impl Default for Coding<'static> {
    /// Returns a coding of GIOP 1.2, UTF-8 and UTF-16, with the default limits and no environment.
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
