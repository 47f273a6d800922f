//! Dynamic Skeleton Interface: objects whose interface their servant knows at run time only (CORBA
//! 3.3 part 1, §12.2 and §15.3.4).

mod details;
mod server_request;

pub use server_request::ServerRequest;

use punctual_orb::{DispatchError, Dispatched, ServerCall};
use punctual_poa::Servant;
use std::any::Any as StdAny;
use std::borrow::Cow;
use std::sync::Arc;

/// Servant for any interface. [`dynamic_servant`] converts it to a servant that can be activated.
///
/// One may serve many objects: [`punctual_poa::Current`] identifies the called one in each of the
/// methods.
pub trait DynamicImplementation: Send + Sync + 'static {
    /// Returns the repository id of the most derived interface of the called object
    /// (`_primary_interface`).
    fn primary_interface(&self) -> Cow<'_, str>;

    /// Returns whether the called object implements an interface. By default, only the most derived
    /// one.
    fn is_a(&self, repository_id: &str) -> bool {
        self.primary_interface() == repository_id
    }

    /// Returns whether the operations of every object (`_is_a`, `_non_existent`, `_interface` and
    /// others) are also passed to [`DynamicImplementation::invoke`], for a servant that represents
    /// a remote object. The default is `false`.
    fn is_transparent(&self) -> bool {
        false
    }

    /// Answers a request.
    ///
    /// # Errors
    /// The exception that the client gets instead of a result.
    fn invoke(&self, request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError>;
}

/// Wraps an implementation as a servant that can be activated.
#[must_use]
pub fn dynamic_servant(implementation: impl DynamicImplementation) -> Arc<dyn Servant> {
    Arc::new(DynamicServant(implementation))
}

struct DynamicServant<I>(I);

impl<I: DynamicImplementation> Servant for DynamicServant<I> {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[]
    }

    fn primary_interface(&self) -> Cow<'_, str> {
        self.0.primary_interface()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.0.is_a(repository_id)
    }

    fn is_transparent(&self) -> bool {
        self.0.is_transparent()
    }

    fn is_dynamic(&self) -> bool {
        true
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        self.0.invoke(ServerRequest::new(call))
    }

    fn implementation(&self) -> &(dyn StdAny + Send + Sync) {
        &self.0
    }
}
