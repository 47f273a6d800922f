//! The repository's objects: one servant for all of them, which finds out for each call what is called.
//!
//! There is an object adapter for each kind of definition. The id of an object is the number of its
//! definition, in four octets; that of a type which is made where it is used (a sequence, an array, a bounded
//! string) is the type itself, marshaled. So the repository keeps nothing about objects.

mod adapters;
mod answer;
mod contained;
mod container;
mod create;
mod describe;
mod interfaces;
mod kinds;
mod server;
mod typedefs;
mod unnamed;
mod values;

use std::sync::Arc;

use punctual::{Interface, Poa};

use crate::corba;
use crate::definitions::ROOT;
use crate::refusal::ServeError;
use crate::repository::InterfaceRepository;

use adapters::Adapters;
use kinds::{kinds, serve_kinds};
use server::{Server, Shared};

impl InterfaceRepository {
    /// Serves the repository by adapters below `parent`, which requests reach through its manager. Where
    /// the ORB's endpoints stay the same, so do all references. Whoever reaches it may change it.
    ///
    /// # Errors
    /// The adapters cannot be made: there are some of their names already.
    pub fn serve(&self, parent: &Poa) -> std::result::Result<corba::Repository, ServeError> {
        self.serve_as(parent, false)
    }

    /// As [`serve`](Self::serve), for readers: whatever would change a definition raises NO_PERMISSION. Types
    /// without a name are made as ever, as that changes nothing.
    ///
    /// # Errors
    /// As of [`serve`](Self::serve).
    pub fn serve_read_only(
        &self,
        parent: &Poa,
    ) -> std::result::Result<corba::Repository, ServeError> {
        self.serve_as(parent, true)
    }

    fn serve_as(
        &self,
        parent: &Poa,
        is_read_only: bool,
    ) -> std::result::Result<corba::Repository, ServeError> {
        let adapters = Adapters::new(parent, kinds())?;
        let server = Server(Arc::new(Shared {
            repository: self.clone(),
            is_read_only,
            adapters,
            longest_answer: parent.orb().config().limits.message,
        }));
        serve_kinds(&server)?;
        let root = server.reference_to(ROOT);
        let root = root.map_err(|exception| ServeError(exception.to_string()))?;
        Ok(corba::Repository::from_object(root))
    }
}
