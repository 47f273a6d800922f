//! Objects of the repository: one servant for all of them, which determines for each call the
//! object that is called.
//!
//! There is an object adapter for each kind of definition. The id of an object is the number of its
//! definition, in four octets; that of an anonymous type (a sequence, an array, a bounded string)
//! is the type itself, marshaled. So the repository stores nothing about objects.

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
use punctual_host::making::Makers;

use crate::corba;
use crate::definitions::ROOT;
use crate::refusal::ServeError;
use crate::repository::InterfaceRepository;

use adapters::Adapters;
use kinds::{kinds, serve_kinds};
use server::{Server, Shared};

impl InterfaceRepository {
    /// Serves the repository by adapters below `parent`, which requests reach through its manager.
    /// If the ORB's endpoints stay the same, so do all references. Every client that reaches it may
    /// change it.
    ///
    /// # Errors
    /// The adapters cannot be made: some of their names are taken.
    pub fn serve(&self, parent: &Poa) -> std::result::Result<corba::Repository, ServeError> {
        self.serve_as(parent, false)
    }

    /// Serves the repository read-only, otherwise as [`serve`](Self::serve): operations that would
    /// change a definition raise NO_PERMISSION. Anonymous types can still be made, as that changes
    /// nothing.
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
            makers: Makers::default(),
        }));
        serve_kinds(&server)?;
        let root = server.reference_to(ROOT);
        let root = root.map_err(|exception| ServeError(exception.to_string()))?;
        Ok(corba::Repository::from_object(root))
    }
}
