//! Object reference templates: factories of an adapter's references, and their replacements (CORBA
//! 3.3 part 1, §16.5.5).
//!
//! An adapter's own factory, the template, puts an object key and the adapter's endpoints into a
//! reference. An IOR interceptor may set another factory, which usually gets the reference from the
//! template and changes it: for example, it adds the profiles of replicas, or substitutes those of
//! a gateway. References appear here as IORs ([`Ior`]).

use crate::exception::SystemException;
use punctual_ior::Ior;
use std::fmt;
use std::sync::Arc;

/// Factory of the references of an adapter's objects
/// (`PortableInterceptor::ObjectReferenceFactory`). Called for each reference that the adapter
/// creates, by several threads at once, with no lock held.
pub trait ObjectReferenceFactory: Send + Sync {
    /// Creates the reference to an object of an interface, by its id.
    ///
    /// # Errors
    /// An exception, which is passed to the code that requested the reference.
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException>;
}

/// Object adapter as a factory of references (`PortableInterceptor::ObjectReferenceTemplate`).
/// Cheap to clone; templates with the same names are equal.
#[derive(Clone)]
pub struct ObjectReferenceTemplate {
    names: Arc<Names>,
    own: Arc<dyn ObjectReferenceFactory>,
}

#[derive(Debug, PartialEq, Eq)]
struct Names {
    server_id: String,
    orb_id: String,
    adapter: Vec<String>,
}

impl ObjectReferenceTemplate {
    /// Creates the template of the adapter with these names; `own` creates its references.
    pub(crate) fn new(
        (server_id, orb_id): (&str, &str),
        adapter: &[String],
        own: Arc<dyn ObjectReferenceFactory>,
    ) -> Self {
        let names = Names {
            server_id: server_id.to_owned(),
            orb_id: orb_id.to_owned(),
            adapter: adapter.to_vec(),
        };
        Self {
            names: Arc::new(names),
            own,
        }
    }

    /// Returns the id of the adapter's server ([`crate::OrbBuilder::server_id`]).
    #[must_use]
    pub fn server_id(&self) -> &str {
        &self.names.server_id
    }

    /// Returns the id of the adapter's ORB ([`crate::OrbBuilder::orb_id`]).
    #[must_use]
    pub fn orb_id(&self) -> &str {
        &self.names.orb_id
    }

    /// Returns the names from the root adapter to this one.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        &self.names.adapter
    }
}

/// Creates references as the adapter itself does, even if an interceptor has set another factory.
impl ObjectReferenceFactory for ObjectReferenceTemplate {
    /// Creates the reference to an object of an interface, by its id.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST before the adapter has been created and after it has been destroyed;
    /// otherwise the reason why a reference cannot be created.
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException> {
        self.own.make_object(repository_id, object_id)
    }
}

impl PartialEq for ObjectReferenceTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for ObjectReferenceTemplate {}

impl fmt::Debug for ObjectReferenceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectReferenceTemplate")
            .field(&self.names)
            .finish()
    }
}
