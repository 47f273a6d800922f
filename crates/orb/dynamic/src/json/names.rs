//! Meaning of names in JSON.

use punctual_any::TypeCode;
use punctual_ior::Ior;

/// Resolver of names in JSON.
pub trait Names {
    /// Returns the type of that scoped name or repository id.
    fn type_code(&self, name: &str) -> Option<TypeCode>;

    /// Returns the reference of a text, for example an `IOR:` or `corbaloc:`.
    ///
    /// # Errors
    /// The reason why the text is no reference.
    fn reference(&self, text: &str) -> Result<Ior, String> {
        text.parse()
            .map_err(|error: punctual_ior::IorError| error.to_string())
    }
}

/// Resolver that knows only types without a declaration, and only references `IOR:…`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn type_code(&self, _name: &str) -> Option<TypeCode> {
        None
    }
}
