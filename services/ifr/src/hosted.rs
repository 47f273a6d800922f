//! The Interface Repository as a service process runs it.

use punctual::{Interface, ObjectRef, Poa};
use punctual_host::metrics::Exposition;
use punctual_host::{ServeError, Service};

use crate::repository::InterfaceRepository;

/// A repository with the options that it is served with.
#[derive(Clone, Debug)]
pub struct RepositoryServer {
    /// Interface Repository that is served.
    pub repository: InterfaceRepository,
    /// True if clients may change the Interface Repository.
    pub is_writable: bool,
}

impl Service for RepositoryServer {
    const NAME: &'static str = "ifr";
    const INITIAL_REFERENCE: &'static str = "InterfaceRepository";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let root = match self.is_writable {
            true => self.repository.serve(parent),
            false => self.repository.serve_read_only(parent),
        };
        let root = root.map_err(ServeError::of::<Self>)?;
        Ok(root.as_object().clone())
    }

    fn check_alive(&self) {
        // Takes the lock of the definitions, which a hanging thread may hold.
        self.repository.look(|_| ());
    }

    fn metrics(&self, out: &mut Exposition) {
        self.repository.write_metrics(out);
    }
}
