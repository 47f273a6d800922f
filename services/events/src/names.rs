//! Names of channels and of the factory in a Naming Service.

use std::time::Duration;

use punctual::{Interface, ObjectRef, Orb, SystemException};
use punctual_naming_client::cos_naming::NamingContext;
use punctual_naming_client::{Kept, Names};

/// Interval at which bound names are checked.
const INTERVAL: Duration = Duration::from_secs(10);

/// Naming Service of this machine, where the ORB knows none.
const DEFAULT: &str = "corbaloc::localhost:2809/NameService";

/// Names that the service binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesToBind {
    /// Reference to the naming context as text; `None` is the ORB's initial reference, or else that at port 2809 of this
    /// machine.
    pub naming: Option<String>,
    /// Name of the factory.
    pub factory: Option<String>,
    /// Name of the context in which channels are bound by their names while they exist.
    pub channels: Option<String>,
}

/// Name that is bound.
pub struct Bound {
    names: Names,
    name: String,
    kept: Kept,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl NamesToBind {
    /// Binds a name, and keeps it bound: if the Naming Service cannot be reached, it is tried again.
    ///
    /// # Errors
    /// The text is not a name, or the reference to the Naming Service is wrong.
    pub fn bind(
        &self,
        orb: &Orb,
        name: &str,
        object: &ObjectRef,
    ) -> Result<Bound, SystemException> {
        let context = NamingContext::from_object(self.context(orb)?);
        let kept = Names::below(&context).keep_bound(name, object, INTERVAL)?;
        Ok(Bound {
            names: Names::below(&context),
            name: name.to_owned(),
            kept,
        })
    }

    fn context(&self, orb: &Orb) -> Result<ObjectRef, SystemException> {
        match &self.naming {
            Some(text) => orb.string_to_object(text),
            None => orb
                .resolve_initial_references("NameService")
                .or_else(|_| orb.string_to_object(DEFAULT)),
        }
    }
}

impl Bound {
    /// Unbinds the name. Blocks for calls to the Naming Service.
    pub fn unbind(self) {
        drop(self.kept);
        if let Err(error) = self.names.unbind(&self.name) {
            tracing::warn!("the name `{}` could not be unbound: {error}", self.name);
        }
    }
}

/// Returns the text of a name with one component more, in which the characters of the notation are escaped.
pub fn below(context: &str, id: &str) -> String {
    let mut name = format!("{context}/");
    for character in id.chars() {
        if matches!(character, '/' | '.' | '\\') {
            name.push('\\');
        }
        name.push(character);
    }
    name
}
