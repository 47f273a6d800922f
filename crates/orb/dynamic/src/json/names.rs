//! Resolution of type names and references that occur in JSON.

use punctual_any::TypeCode;
use punctual_ior::Ior;

/// Resolver of type names and references that occur in JSON.
pub trait Names {
    /// Returns the type with a scoped name or a repository id; `None` if there is none.
    fn type_code(&self, name: &str) -> Option<TypeCode>;

    /// Returns the reference that a text denotes, for example one in the form `IOR:…` or
    /// `corbaloc:…`.
    ///
    /// # Errors
    /// The reason why the text is no reference.
    fn reference(&self, text: &str) -> Result<Ior, String> {
        text.parse()
            .map_err(|error: punctual_ior::IorError| error.to_string())
    }
}

/// Resolver that knows only the types that need no declaration, and only references in the form
/// `IOR:…`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn type_code(&self, _name: &str) -> Option<TypeCode> {
        None
    }
}
