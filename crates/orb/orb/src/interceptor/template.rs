//! Object reference templates: what makes the references of an adapter, and what may stand in its place (CORBA 3.3 part 1,
//! §16.5.5).
//!
//! An adapter's own factory puts its object key and its endpoints into a reference. An IOR interceptor may put another in front
//! of it, which usually asks the template for the reference and changes it: adds the profiles of replicas, or names a
//! gateway instead. References are data here ([`Ior`]).

use crate::exception::SystemException;
use punctual_ior::Ior;
use std::fmt;
use std::sync::Arc;

/// Makes the references of an adapter's objects (`PortableInterceptor::ObjectReferenceFactory`). Called for each reference
/// that the adapter makes, by several threads at once, with no lock held.
pub trait ObjectReferenceFactory: Send + Sync {
    /// The reference to an object of an interface, by its id.
    ///
    /// # Errors
    /// What whoever wanted the reference is told.
    fn make_object(&self, repository_id: &str, object_id: &[u8]) -> Result<Ior, SystemException>;
}

/// An adapter as what makes references (`PortableInterceptor::ObjectReferenceTemplate`). Cheap to clone; two are equal whose
/// names are.
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
    /// Of an adapter of that server and ORB, whose references that makes.
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

    /// The server's id ([`crate::OrbBuilder::server_id`]).
    #[must_use]
    pub fn server_id(&self) -> &str {
        &self.names.server_id
    }

    /// The ORB's id ([`crate::OrbBuilder::orb_id`]).
    #[must_use]
    pub fn orb_id(&self) -> &str {
        &self.names.orb_id
    }

    /// The names from the root adapter to this one.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        &self.names.adapter
    }
}

/// As the adapter makes references itself, whatever factory stands in front of it.
impl ObjectReferenceFactory for ObjectReferenceTemplate {
    /// # Errors
    /// OBJECT_NOT_EXIST before the adapter has been made, and when it is gone; what keeps a reference from being made.
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
