//! Objects of the service: one servant for all contexts, another for all iterators, each provided
//! by a servant locator for existing objects only. None is ever activated.
//!
//! The id of a context is the store's identity and its number, eight bytes each, so that contexts
//! of another naming server, whose adapters have the same names, are not taken for ours. That of an
//! iterator is a random number.

mod beyond;
mod context;
mod extended;
mod forward;
mod group;
mod iterator;
mod iterators;
mod options;
mod present;
mod server;
mod watch;

use std::sync::Arc;

use punctual::poa::{
    IdAssignmentPolicy, IdUniquenessPolicy, LifespanPolicy, PoaError, PoaPolicy,
    RequestProcessingPolicy, ServantRetentionPolicy,
};
use punctual::{Implements, Interface, Poa};
use punctual_groups::Checking;
use thiserror::Error;

use crate::cos_naming::{BindingIterator, NamingContextExt};
use crate::extension::ExtendedContext;
use crate::service::NamingService;
use crate::store::ROOT;

use iterator::IteratorServer;
use iterators::Iterators;
use present::ExistingObjects;
use server::{Server, Shared};

pub use options::ServeOptions;

/// Reason why a naming service cannot be served.
#[derive(Clone, Error)]
#[error("the naming service cannot be served: {0}")]
pub struct ServeError(String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ServeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl NamingService {
    /// Serves the service by adapters below `parent`, which requests reach through its manager.
    /// Returns the root context. If the store and the ORB's endpoints stay the same, so do all
    /// references.
    ///
    /// # Errors
    /// The adapters cannot be made: some of their names are taken. What [`NamingService::keep_groups_at`] was given is no
    /// reference.
    pub fn serve(
        &self,
        parent: &Poa,
        options: ServeOptions,
    ) -> std::result::Result<NamingContextExt, ServeError> {
        let adapter = |name, lifespan| {
            let policies = [
                PoaPolicy::Lifespan(lifespan),
                PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
                PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
                PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
                PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
            ];
            let poa = parent.create_poa(name, Some(parent.manager()), &policies);
            poa.map_err(|error| ServeError(error.to_string()))
        };
        let contexts = adapter("NamingContexts", LifespanPolicy::Persistent)?;
        let iterators = adapter("BindingIterators", LifespanPolicy::Transient)?;
        let server = Server(Arc::new(Shared {
            service: self.clone(),
            options,
            orb: parent.orb().clone(),
            contexts: contexts.clone(),
            iterators: Iterators::new(iterators.clone()),
            checking: Checking::default(),
        }));
        let has_groups = self.follow_groups(parent.orb(), options.federated_timeout);
        if !has_groups.map_err(ServeError)? {
            server.begin_checking()?;
        }
        let failed = |error: PoaError| ServeError(error.to_string());
        let of_contexts = <ExtendedContext as Implements<Server>>::servant(server.clone());
        let asked = server.clone();
        let present = ExistingObjects::when(of_contexts, move |id| {
            let number = asked.number_in(id);
            number.is_some_and(|number| asked.service().has(number))
        });
        contexts.set_servant_manager(present).map_err(failed)?;
        let of_iterators = IteratorServer(server.clone());
        let of_iterators = <BindingIterator as Implements<_>>::servant(of_iterators);
        let asked = server.clone();
        let present = ExistingObjects::when(of_iterators, move |id| asked.0.iterators.has(id));
        iterators.set_servant_manager(present).map_err(failed)?;
        let root = server.context(ROOT);
        let root = root.map_err(|exception| ServeError(exception.to_string()))?;
        Ok(NamingContextExt::from_object(root.into()))
    }
}

impl Server {
    /// Starts the liveness checks of group members, if configured. These contact other addresses,
    /// as federation does.
    fn begin_checking(&self) -> Result<(), ServeError> {
        let options = self.0.options;
        let Some(interval) = options.group_check.filter(|_| options.federated) else {
            return Ok(());
        };
        let watched = Arc::downgrade(&self.0);
        let begun = self.0.checking.begin("naming-groups", watched, interval);
        begun.map_err(|error| ServeError(error.to_string()))
    }
}
