//! What an application provides so that adapters and servants come to be when they are needed (CORBA 3.3
//! part 1, §15.3.3 to §15.3.6).

use crate::object_id::ObjectId;
use crate::poa::Poa;
use crate::servant::Servant;
use punctual_orb::DispatchError;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Makes adapters that are asked for and do not exist.
pub trait AdapterActivator: Send + Sync {
    /// Makes the child of that name by [`Poa::create_poa`], with a servant manager or the objects that it
    /// is to have, and says whether it did. Requests for the child wait meanwhile.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}

/// What provides servants.
#[derive(Clone)]
pub enum ServantManager {
    /// For adapters that retain them.
    Activator(Arc<dyn ServantActivator>),
    /// For adapters that do not.
    Locator(Arc<dyn ServantLocator>),
}

impl fmt::Debug for ServantManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Activator(_) => "Activator",
            Self::Locator(_) => "Locator",
        })
    }
}

/// Provides servants that are kept in the active object map until they are deactivated (§15.3.5).
pub trait ServantActivator: Send + Sync {
    /// The servant for an object that is not active. Called for one object once at a time, but for several
    /// objects at once unless the adapter is single-threaded: the standard would let all wait for one.
    /// `_is_a` and `_non_existent` ask for the servant, too, though they do not call it.
    ///
    /// It must not call the object itself, which would wait for it: such a call from the same thread gets
    /// TRANSIENT, one that comes by wire waits until its caller gives up.
    ///
    /// # Errors
    /// What to tell the caller instead: OBJECT_NOT_EXIST when there is no such object, another exception,
    /// or [`DispatchError::Forward`], the standard's `ForwardRequest`.
    fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError>;

    /// The object's last call has left after it was deactivated. With `cleanup_in_progress` because its
    /// adapter or its manager goes; with `remaining_activations` the servant incarnates other objects of
    /// the adapter still.
    fn etherealize(
        &self,
        id: &ObjectId,
        poa: &Poa,
        servant: Arc<dyn Servant>,
        cleanup_in_progress: bool,
        remaining_activations: bool,
    );
}

/// What a locator keeps from [`ServantLocator::preinvoke`] to [`ServantLocator::postinvoke`].
pub type Cookie = Box<dyn Any + Send>;

/// Provides a servant for each request (§15.3.6).
pub trait ServantLocator: Send + Sync {
    /// The servant for one request, and whatever is to be known when it has been served.
    ///
    /// # Errors
    /// What to tell the caller instead, as for [`ServantActivator::incarnate`]; the request is over then,
    /// without [`ServantLocator::postinvoke`].
    fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError>;

    /// The request has been served, on the same thread, whether it succeeded, failed or panicked.
    ///
    /// # Errors
    /// What to tell the caller instead of the request's outcome.
    fn postinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
        cookie: Cookie,
        servant: Arc<dyn Servant>,
    ) -> Result<(), DispatchError>;
}
