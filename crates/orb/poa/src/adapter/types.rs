//! Adapters, as data: [`Adapter`], the handle for applications ([`Poa`]), and the interfaces that
//! applications implement for adapters ([`ServantManager`], [`AdapterActivator`]; CORBA 3.3 part 1,
//! §15.3.3 to §15.3.6).
//!
//! The types refer to one another (an adapter holds the application's interfaces, their methods
//! take the handle, the handle holds the adapter), so they are in one file. The operations of
//! adapters are in `impl` blocks in the sibling files; those of handles are in `poa`.

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
use crate::repository::Repository;
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

/// Name of the root adapter.
pub(super) const ROOT: &str = "RootPOA";

/// Portable Object Adapter (CORBA 3.3 part 1, §15.3.9). Cheap to clone; clones are the same
/// adapter.
///
/// On a destroyed adapter, operations that make or set something raise OBJECT_NOT_EXIST, or
/// BAD_INV_ORDER after the ORB's shutdown; operations that only query return that there is nothing.
#[derive(Clone)]
pub struct Poa {
    pub(crate) orb: Orb,
    pub(crate) adapter: Arc<Adapter>,
}

/// Adapter as the ORB holds it; [`Poa`] is the handle for applications.
pub(crate) struct Adapter {
    pub(super) me: Weak<Adapter>,
    pub(crate) common: Arc<OrbAdapters>,
    pub(super) naming: Naming,
    pub(crate) tree: TreeNode,
    pub(crate) policies: Policies,
    /// Policies of the adapter whose types were registered with the ORB.
    pub(crate) defined: AdapterPolicies,
    /// Factory that makes the adapter's references, if it is not the adapter itself.
    pub(crate) factory: Option<Arc<dyn ObjectReferenceFactory>>,
    /// Policies of single objects that replace those of the adapter.
    pub(crate) own: OwnPoliciesOfObjects,
    pub(crate) manager: PoaManager,
    pub(super) dispatch: Dispatch,
    pub(super) servants: ServantSources,
    pub(super) outstanding: OutstandingRequests,
    pub(super) destruction: Destruction,
}

/// State that all adapters of an ORB share.
pub(crate) struct OrbAdapters {
    pub(crate) orb: WeakOrb,
    pub(crate) managers: PoaManagerFactory,
    /// Link to the Implementation Repository, if the ORB uses one.
    pub(crate) repository: Option<Arc<Repository>>,
    pub(super) registry: Weak<dyn Registry>,
}

/// Registry of object adapters in which requests find their adapter.
pub(super) trait Registry: Send + Sync {
    /// Makes an adapter and adds it.
    ///
    /// # Errors
    /// NO_RESOURCES if there are 2^32 adapters already.
    fn add(&self, parts: Parts) -> Result<Arc<Adapter>, SystemException>;

    /// Removes the adapter from the registry, so that requests no longer find it.
    fn forget(&self, adapter: &Adapter);
}

/// Parts from which an object adapter is constructed.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) parent: Option<Arc<Adapter>>,
    pub(super) policies: Policies,
    pub(super) defined: AdapterPolicies,
    pub(super) factory: Option<Arc<dyn ObjectReferenceFactory>>,
    pub(super) around: Option<UpcallHook>,
    pub(super) manager: PoaManager,
}

/// Position of an adapter in the tree: its parent and its children.
pub(crate) struct TreeNode {
    /// Parent of the adapter; `None` for the root POA.
    pub(crate) parent: Option<Arc<Adapter>>,
    pub(super) children: Mutex<BTreeMap<String, Arc<Adapter>>>,
    /// Activator that makes missing children on demand.
    pub(crate) activator: Mutex<Option<Arc<dyn AdapterActivator>>>,
    /// Names of the children that the activator is making.
    pub(super) activations: KeyedLock,
}

/// State by which an adapter's requests find an object and its operation.
pub(super) struct Dispatch {
    pub(super) path: RequestPath,
    pub(super) threads: Threads,
    /// Active object map; `None` unless the adapter has the RETAIN policy.
    pub(super) map: Option<ActiveMap>,
    #[cfg(feature = "comparison")]
    pub(super) operations: OperationTables,
    /// Hook of the policies that act before and after each upcall.
    pub(super) around: Option<UpcallHook>,
}

/// Sources of servants that are not in the map: the servant manager and the default servant.
#[derive(Default)]
pub(super) struct ServantSources {
    /// Servant manager; set once, and dropped at the end of the adapter's destruction.
    pub(super) manager: ArcSwapOption<ServantManager>,
    pub(super) default: ArcSwapOption<Arc<dyn Servant>>,
    /// Set, permanently, once all servants are to be given back to the servant activator.
    pub(super) all_given_back: AtomicBool,
    /// Ids of the objects for which the servant activator is being called.
    pub(super) incarnations: KeyedLock,
}

/// Adapter activator, which creates missing child adapters on demand.
pub trait AdapterActivator: Send + Sync {
    /// Makes the child with a name by [`Poa::create_poa`], and sets its servant manager or
    /// activates its objects; returns whether it made the child. Requests for the child wait
    /// meanwhile.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}

impl<F: Fn(&Poa, &str) -> bool + Send + Sync> AdapterActivator for F {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self(parent, name)
    }
}

/// Servant manager, which provides servants on demand.
#[derive(Clone)]
pub enum ServantManager {
    /// Servant manager of adapters with RETAIN: a servant that it makes is kept.
    Activator(Arc<dyn ServantActivator>),
    /// Servant manager of adapters with NON_RETAIN: it provides a servant for each request.
    Locator(Arc<dyn ServantLocator>),
}

impl ServantManager {
    /// Makes a servant manager that makes servants on demand, for adapters that retain them, from a
    /// closure. [`ServantManager::Activator`] takes any [`ServantActivator`].
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

    /// Makes a servant manager that provides a servant for each request, for adapters that do not
    /// retain them.
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

/// Servant activator: provides servants, which are kept in the active object map until they are
/// deactivated (§15.3.5).
pub trait ServantActivator: Send + Sync {
    /// Returns the servant for an inactive object. Calls for one object are made one at a time;
    /// calls for different objects are concurrent unless the adapter is single-threaded (the
    /// standard would serialize all calls). `_is_a` and `_non_existent` also need the servant,
    /// though they do not call it.
    ///
    /// It must not call the object itself, which would wait for it: such a call from the same
    /// thread gets TRANSIENT, one that comes by wire waits until its caller gives up.
    ///
    /// # Errors
    /// The exception for the client: OBJECT_NOT_EXIST if there is no such object, another
    /// exception, or [`DispatchError::Forward`], the standard's `ForwardRequest`.
    fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError>;

    /// Takes a servant back after the last call of the deactivated object has ended.
    /// `cleanup_in_progress` is set if its adapter is being destroyed or its manager is being
    /// deactivated; `remaining_activations` if the servant still incarnates other objects of the
    /// adapter. The default drops the servant.
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

/// A closure is a servant activator that makes servants on demand, and drops them when they are
/// given back. [`ServantManager::activator`] takes one without types for its parameters.
impl<F> ServantActivator for F
where
    F: Fn(&ObjectId, &Poa) -> Result<Arc<dyn Servant>, DispatchError> + Send + Sync,
{
    fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        self(id, poa)
    }
}

/// Data that a locator passes from [`ServantLocator::preinvoke`] to [`ServantLocator::postinvoke`].
pub type Cookie = Box<dyn Any + Send>;

/// Servant locator: provides a servant for each request (§15.3.6).
pub trait ServantLocator: Send + Sync {
    /// Returns the servant for one request, and a cookie for [`ServantLocator::postinvoke`].
    ///
    /// # Errors
    /// The exception for the client, as for [`ServantActivator::incarnate`]; the request then ends
    /// without a call of [`ServantLocator::postinvoke`].
    fn preinvoke(
        &self,
        id: &ObjectId,
        poa: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError>;

    /// Ends a request after it was served, on the same thread, whether it succeeded, failed or
    /// panicked.
    ///
    /// # Errors
    /// The exception that the client gets instead of the request's outcome. The default has none.
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

/// A closure is a servant locator without cookies. [`ServantManager::locator`] takes one without
/// types for its parameters.
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
    /// Returns the object map; `None` unless the adapter retains servants.
    pub(crate) fn map(&self) -> Option<&ActiveMap> {
        self.dispatch.map.as_ref()
    }

    /// Returns the policies of an object: its own where it has them, otherwise the adapter's.
    pub(crate) fn policies_of<'a>(&'a self, own: Option<&'a OwnPolicies>) -> &'a AdapterPolicies {
        own.map_or(&self.defined, |own| &own.defined)
    }

    /// Returns the adapter's id, which is unique in the process.
    #[inline]
    pub(crate) fn id(&self) -> AdapterId {
        self.naming.id
    }

    /// Returns the adapter's name, which is unique among the children of its parent.
    pub(crate) fn name(&self) -> &str {
        &self.naming.name
    }

    /// Returns the names of the adapters from the root down to this one.
    pub(crate) fn full_name(&self) -> Vec<String> {
        let path = self.naming.path.split(|octet| *octet == 0);
        let names = path.filter(|name| !name.is_empty());
        let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
        std::iter::once(ROOT.to_owned()).chain(names).collect()
    }

    /// Returns the adapter's policy of a registered type, if it has one.
    pub(crate) fn policy_of_type(&self, policy_type: u32) -> Option<Policy> {
        let mut all = self.defined.iter();
        all.find(|one| one.policy_type() == policy_type).cloned()
    }

    /// Returns the application's handle of the adapter; `None` once the ORB or the adapter is gone.
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
