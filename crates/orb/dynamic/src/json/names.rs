//! What is meant by names in JSON.

use punctual_any::TypeCode;
use punctual_ior::Ior;

/// What names in JSON stand for.
pub trait Names {
    /// The type of that scoped name or repository id.
    fn type_code(&self, name: &str) -> Option<TypeCode>;

    /// The reference that a text says, for example an `IOR:` or `corbaloc:`.
    ///
    /// # Errors
    /// Why it is none.
    fn reference(&self, text: &str) -> Result<Ior, String> {
        text.parse()
            .map_err(|error: punctual_ior::IorError| error.to_string())
    }
}

/// No types but those that need no declaration, no references but `IOR:…`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn type_code(&self, _name: &str) -> Option<TypeCode> {
        None
    }
}
