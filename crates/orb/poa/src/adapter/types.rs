//! Adapters, as data: [`Adapter`], the handle that applications have ([`Poa`]), and what applications provide for
//! adapters ([`ServantManager`], [`AdapterActivator`]; CORBA 3.3 part 1, §15.3.3 to §15.3.6).
//!
//! An adapter holds what is provided for it, whose methods take the handle, which holds the adapter: so all of it
//! stands in one file. What adapters do is in the files beside, in `impl` blocks; what handles do, in `poa`.

use super::destruction::Destruction;
use super::keyed_lock::KeyedLock;
use super::naming::Naming;
#[cfg(feature = "comparison")]
use super::operation_tables::OperationTables;
use super::outstanding::OutstandingRequests;
use super::request_path::RequestPath;
use super::threads::Threads;
use crate::key::AdapterId;
use crate::manager::{PoaManager, PoaManagerFactory};
use crate::object_id::ObjectId;
use crate::object_map::ActiveMap;
use crate::own_policies::{OwnPolicies, OwnPoliciesOfObjects};
use crate::policy::Policies;
use crate::servant::Servant;
use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use punctual_orb::{
    AdapterPolicies, DispatchError, ObjectReferenceFactory, Orb, Policy, SystemException,
    UpcallHook, WeakOrb,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

/// The name of the root adapter.
pub(super) const ROOT: &str = "RootPOA";

/// A Portable Object Adapter (CORBA 3.3 part 1, §15.3.9). Cheap to clone; clones are the same adapter.
///
/// What would make or set something in one that is destroyed raises OBJECT_NOT_EXIST, or BAD_INV_ORDER after the
/// ORB's shutdown; what only looks finds nothing there.
#[derive(Clone)]
pub struct Poa {
    pub(crate) orb: Orb,
    pub(crate) adapter: Arc<Adapter>,
}

/// An adapter as the ORB holds it; [`Poa`] is what applications hold.
pub(crate) struct Adapter {
    pub(super) me: Weak<Adapter>,
    pub(crate) common: Arc<Common>,
    pub(super) naming: Naming,
    pub(crate) tree: TreeNode,
    pub(crate) policies: Policies,
    /// Those whose types the ORB was told of.
    pub(crate) defined: AdapterPolicies,
    /// What makes its references, if it is not the adapter itself.
    pub(crate) factory: Option<Arc<dyn ObjectReferenceFactory>>,
    /// What objects have in place of those.
    pub(crate) own: OwnPoliciesOfObjects,
    pub(crate) manager: PoaManager,
    pub(super) dispatch: Dispatch,
    pub(super) servants: ServantSources,
    pub(super) outstanding: OutstandingRequests,
    pub(super) destruction: Destruction,
}

/// What all adapters of an ORB have in common.
pub(crate) struct Common {
    pub(crate) orb: WeakOrb,
    pub(crate) managers: PoaManagerFactory,
    pub(super) registry: Weak<dyn Registry>,
}

/// Where an adapter is entered, so that requests find it.
pub(super) trait Registry: Send + Sync {
    /// Makes an adapter and enters it.
    ///
    /// # Errors
    /// NO_RESOURCES when there is no place for one more.
    fn add(&self, parts: Parts) -> Result<Arc<Adapter>, SystemException>;

    /// The adapter is found no more.
    fn forget(&self, adapter: &Adapter);
}

/// What an adapter is made of.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) parent: Option<Arc<Adapter>>,
    pub(super) policies: Policies,
    pub(super) defined: AdapterPolicies,
    pub(super) factory: Option<Arc<dyn ObjectReferenceFactory>>,
    pub(super) around: Option<UpcallHook>,
    pub(super) manager: PoaManager,
}

/// Where an adapter stands in the tree: the one above it, those below it.
pub(crate) struct TreeNode {
    /// `None` for the root.
    pub(crate) parent: Option<Arc<Adapter>>,
    pub(super) children: Mutex<BTreeMap<String, Arc<Adapter>>>,
    /// Who is asked for children that there are not.
    pub(crate) activator: Mutex<Option<Arc<dyn AdapterActivator>>>,
    /// Names that it is asked for.
    pub(super) activations: KeyedLock,
}

/// How an adapter's requests get to an object and one of its operations.
pub(super) struct Dispatch {
    pub(super) path: RequestPath,
    pub(super) threads: Threads,
    /// With RETAIN.
    pub(super) map: Option<ActiveMap>,
    #[cfg(feature = "comparison")]
    pub(super) operations: OperationTables,
    /// What surrounds upcalls.
    pub(super) around: Option<UpcallHook>,
}

/// Where an adapter has servants from that no map holds: the servant manager, the default servant.
#[derive(Default)]
pub(super) struct ServantSources {
    /// Set once, and let go at the end.
    pub(super) manager: ArcSwapOption<ServantManager>,
    pub(super) default: ArcSwapOption<Arc<dyn Servant>>,
    /// The adapter was told to give back all servants, for good.
    pub(super) all_given_back: AtomicBool,
    /// Ids that the activator is asked for.
    pub(super) incarnations: KeyedLock,
}

/// Makes adapters that are asked for and do not exist.
pub trait AdapterActivator: Send + Sync {
    /// Makes the child of that name by [`Poa::create_poa`], with a servant manager or the objects that it
    /// is to have, and says whether it did. Requests for the child wait meanwhile.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}

impl<F: Fn(&Poa, &str) -> bool + Send + Sync> AdapterActivator for F {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self(parent, name)
    }
}

/// What provides servants.
#[derive(Clone)]
pub enum ServantManager {
    /// For adapters that retain them.
    Activator(Arc<dyn ServantActivator>),
    /// For adapters that do not.
    Locator(Arc<dyn ServantLocator>),
}

impl ServantManager {
    /// Makes servants on demand, for adapters that retain them: a closure, or any [`ServantActivator`] in its place by
    /// [`ServantManager::Activator`].
    ///
    /// ```
    /// # use punctual_poa::{Servant, ServantManager};
    /// # use punctual_orb::SystemExceptionKind::ObjectNotExist;
    /// # use std::sync::Arc;
    /// # fn sensor(name: &str) -> Option<Arc<dyn Servant>> { None }
    /// let on_demand = ServantManager::activator(|id, _| {
    ///     sensor(&id.to_string()).ok_or_else(|| ObjectNotExist.because("there is no such sensor").into())
    /// });
    /// ```
    pub fn activator(
        incarnate: impl Fn(&ObjectId, &Poa) -> Result<Arc<dyn Servant>, DispatchError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self::Activator(Arc::new(incarnate))
    }

    /// Provides a servant for each request, for adapters that do not retain them.
    pub fn locator(
        preinvoke: impl Fn(&ObjectId, &Poa, &str) -> Result<Arc<dyn Servant>, DispatchError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self::Locator(Arc::new(preinvoke))
    }
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
    /// the adapter still. By default nothing is done but to drop the servant.
    fn etherealize(
        &self,
        id: &ObjectId,
        poa: &Poa,
        servant: Arc<dyn Servant>,
        cleanup_in_progress: bool,
        remaining_activations: bool,
    ) {
        let _ = (id, poa, servant, cleanup_in_progress, remaining_activations);
    }
}

/// Makes servants on demand, and does nothing when they go. [`ServantManager::activator`] takes a closure without its
/// parameters' types.
impl<F> ServantActivator for F
where
    F: Fn(&ObjectId, &Poa) -> Result<Arc<dyn Servant>, DispatchError> + Send + Sync,
{
    fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        self(id, poa)
    }
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
    /// What to tell the caller instead of the request's outcome. By default nothing.
    fn postinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
        cookie: Cookie,
        servant: Arc<dyn Servant>,
    ) -> Result<(), DispatchError> {
        let _ = (id, poa, operation, cookie, servant);
        Ok(())
    }
}

/// Provides servants, and keeps nothing from one to the end of the request. [`ServantManager::locator`] takes a closure
/// without its parameters' types.
impl<F> ServantLocator for F
where
    F: Fn(&ObjectId, &Poa, &str) -> Result<Arc<dyn Servant>, DispatchError> + Send + Sync,
{
    fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        Ok((self(id, poa, operation)?, Box::new(())))
    }
}

impl Adapter {
    /// The map, where the adapter retains servants.
    pub(crate) fn map(&self) -> Option<&ActiveMap> {
        self.dispatch.map.as_ref()
    }

    /// The policies of an object that may have some of its own.
    pub(crate) fn policies_of<'a>(&'a self, own: Option<&'a OwnPolicies>) -> &'a AdapterPolicies {
        own.map_or(&self.defined, |own| &own.defined)
    }

    /// What identifies it to others of the process.
    #[inline]
    pub(crate) fn id(&self) -> AdapterId {
        self.naming.id
    }

    /// Its name, of those below the same parent.
    pub(crate) fn name(&self) -> &str {
        &self.naming.name
    }

    /// The names from the root adapter to this one.
    pub(crate) fn full_name(&self) -> Vec<String> {
        let path = self.naming.path.split(|octet| *octet == 0);
        let names = path.filter(|name| !name.is_empty());
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        std::iter::once(ROOT.to_owned()).chain(names).collect()
    }

    /// Its policy of a type.
    pub(crate) fn policy_of_type(&self, policy_type: u32) -> Option<Policy> {
        let mut all = self.defined.iter();
        all.find(|one| one.policy_type() == policy_type).cloned()
    }

    /// The adapter as an application sees it; `None` when the ORB is over.
    pub(crate) fn poa(&self) -> Option<Poa> {
        let orb = self.common.orb.upgrade()?;
        let adapter = self.me.upgrade()?;
        Some(Poa { orb, adapter })
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter")
            .field("name", &self.naming.name)
            .field("policies", &self.policies)
            .finish_non_exhaustive()
    }
}
