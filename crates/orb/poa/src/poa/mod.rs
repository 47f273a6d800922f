//! Handle for applications: the Portable Object Adapter.

mod activation;
mod error;
mod own_policies;
mod references;

pub use crate::adapter::Poa;
pub use error::{CreatePoaError, FindPoaError, PoaError};

use crate::adapter::{Adapter, AdapterActivator, Root, ServantManager, initialize};
use crate::current;
use crate::ior_table::IorTable;
use crate::manager::{PoaManager, PoaManagerFactory, would_wait_for_itself};
use crate::policy::{PoaPolicy, RequestProcessingPolicy};
use crate::servant::Servant;
use punctual_orb::{
    CompletionStatus, Orb, PolicyType, SystemException, SystemExceptionKind as Kind, minor,
};
use std::fmt;
use std::sync::Arc;

/// Extension trait that gives access to an ORB's root POA.
pub trait RootPoa {
    /// Returns the root POA, made at the first call, when the ORB begins to listen. Its manager
    /// holds requests until it is activated.
    ///
    /// # Errors
    /// INITIALIZE if the ORB cannot listen on an endpoint or no random numbers are available;
    /// BAD_INV_ORDER after a shutdown.
    fn root_poa(&self) -> Result<Poa, SystemException>;

    /// Returns the table of plain object keys, for `corbaloc:` by name.
    ///
    /// # Errors
    /// Those of [`RootPoa::root_poa`].
    fn ior_table(&self) -> Result<IorTable, SystemException>;
}

impl RootPoa for Orb {
    fn root_poa(&self) -> Result<Poa, SystemException> {
        let root = root_of(self)?;
        self.listen()?;
        let adapter = root.adapter();
        let orb = self.clone();
        Ok(Poa { orb, adapter })
    }

    fn ior_table(&self) -> Result<IorTable, SystemException> {
        let root = root_of(self)?;
        self.listen()?;
        Ok(root.ior_table.clone())
    }
}

fn root_of(orb: &Orb) -> Result<Arc<Root>, SystemException> {
    let adapter = match orb.adapter() {
        Some(adapter) => adapter,
        None => {
            let made = Root::new(orb)?;
            orb.adapter_or_set(|| made)
        }
    };
    let root = adapter.clone().as_any().downcast::<Root>();
    root.map_err(|_| initialize("this ORB has another object adapter"))
}

impl Poa {
    fn with(&self, adapter: Arc<Adapter>) -> Self {
        let orb = self.orb.clone();
        Self { orb, adapter }
    }

    /// Makes a child POA. Without a given manager, the child gets a new one, which holds requests
    /// until it is activated. Policies that are not given have the standard's default values, not
    /// the parent's values.
    ///
    /// # Errors
    /// [`CreatePoaError`].
    pub fn create_poa(
        &self,
        name: &str,
        manager: Option<&PoaManager>,
        policies: &[PoaPolicy],
    ) -> Result<Self, CreatePoaError> {
        self.check_alive()?;
        if manager.is_some_and(|manager| !manager.set_adapter(self.adapter.nonce())) {
            let exception =
                SystemException::new(Kind::BadParam, minor::VALUE, CompletionStatus::No);
            return Err(exception
                .with_detail("the POA manager is another ORB's")
                .into());
        }
        let made = self.adapter.create(name, manager, policies);
        let adapter = made.map_err(|why| CreatePoaError::new(name, why))?;
        Ok(self.with(adapter))
    }

    /// Returns the child with a name. With `activate_it`, the adapter activator is asked for a
    /// missing child.
    ///
    /// # Errors
    /// [`FindPoaError`].
    pub fn find_poa(&self, name: &str, activate_it: bool) -> Result<Self, FindPoaError> {
        self.check_alive()?;
        let found = match activate_it {
            true => self.adapter.child_or_activate(name)?,
            false => self.adapter.child(name),
        };
        match found {
            Some(adapter) => Ok(self.with(adapter)),
            None => Err(FindPoaError::AdapterNonExistent(name.to_owned())),
        }
    }

    /// Destroys the adapter and its descendants: new requests are refused, those in progress
    /// continue, and objects are removed when their last request has ended. With
    /// `etherealize_objects` a servant activator gets the servants back; with `wait_for_completion`
    /// this returns when all of that is done.
    ///
    /// Once its destruction is complete, a persistent adapter may be made again under its name.
    ///
    /// # Errors
    /// BAD_INV_ORDER if it would wait for the upcall that it is called from.
    pub fn destroy(
        &self,
        etherealize_objects: bool,
        wait_for_completion: bool,
    ) -> Result<(), SystemException> {
        if wait_for_completion && current::is_in_upcall_of(Some(&self.orb), self.adapter.nonce()) {
            return Err(would_wait_for_itself());
        }
        self.adapter.destroy(etherealize_objects);
        if wait_for_completion {
            self.adapter.wait_until_destroyed();
        }
        Ok(())
    }

    /// Returns the POA's name, which is unique among its siblings.
    #[must_use]
    pub fn name(&self) -> &str {
        self.adapter.name()
    }

    /// Returns the parent POA; `None` for the root POA.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let parent = self.adapter.tree.parent.clone()?;
        Some(self.with(parent))
    }

    /// Returns the child POAs, ordered by name.
    #[must_use]
    pub fn children(&self) -> Vec<Self> {
        let children = self.adapter.children().into_iter();
        let alive = children.filter(|child| !child.is_destroyed());
        alive.map(|child| self.with(child)).collect()
    }

    /// Returns the POA's id: octets that no other POA of the process has, and that are valid as
    /// long as the process runs.
    #[must_use]
    pub fn id(&self) -> Vec<u8> {
        self.adapter.id().octets()
    }

    /// Returns the manager, which decides whether requests are served.
    #[must_use]
    pub fn manager(&self) -> &PoaManager {
        &self.adapter.manager
    }

    /// Returns the factory of POA managers, which all adapters of the ORB share.
    #[must_use]
    pub fn manager_factory(&self) -> &PoaManagerFactory {
        &self.adapter.common.managers
    }

    /// Returns the effective policies: those given at creation, and defaults.
    #[must_use]
    pub fn policies(&self) -> Vec<PoaPolicy> {
        let defined = self.adapter.defined.iter().cloned();
        let mut all = self.adapter.policies.list();
        all.extend(defined.map(PoaPolicy::Defined));
        all
    }

    /// Returns the policy of a type that was registered with the ORB, if the adapter has one.
    #[must_use]
    pub fn policy<P: PolicyType>(&self) -> Option<&P> {
        self.adapter.defined.value()
    }

    /// Returns the ORB to which the POA belongs.
    #[must_use]
    pub fn orb(&self) -> &Orb {
        &self.orb
    }

    /// Returns the adapter activator, which makes missing children on demand.
    #[must_use]
    pub fn adapter_activator(&self) -> Option<Arc<dyn AdapterActivator>> {
        self.adapter.tree.activator.lock().clone()
    }

    /// Sets the adapter activator, which makes missing children on demand.
    pub fn set_adapter_activator(&self, activator: Option<Arc<dyn AdapterActivator>>) {
        let _dropped_without_the_lock =
            std::mem::replace(&mut *self.adapter.tree.activator.lock(), activator);
    }

    /// Returns the servant manager, if one is set.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_SERVANT_MANAGER.
    pub fn servant_manager(&self) -> Result<Option<ServantManager>, PoaError> {
        self.check_processing(RequestProcessingPolicy::ServantManager)?;
        Ok(self.adapter.servant_manager())
    }

    /// Sets the servant manager, once: an activator with RETAIN, a locator without.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_SERVANT_MANAGER; BAD_INV_ORDER if one is set;
    /// OBJ_ADAPTER for the other kind.
    pub fn set_servant_manager(&self, manager: ServantManager) -> Result<(), PoaError> {
        self.check_processing(RequestProcessingPolicy::ServantManager)?;
        self.check_alive()?;
        let is_activator = matches!(manager, ServantManager::Activator(_));
        if is_activator != self.adapter.policies.retains() {
            let exception =
                SystemException::new(Kind::ObjAdapter, minor::omg(4), CompletionStatus::No);
            let why = "RETAIN takes a servant activator, NON_RETAIN a servant locator";
            return Err(exception.with_detail(why).into());
        }
        if !self.adapter.set_servant_manager(manager) {
            let exception =
                SystemException::new(Kind::BadInvOrder, minor::omg(6), CompletionStatus::No);
            let why = "the POA has a servant manager, which cannot be replaced";
            return Err(exception.with_detail(why).into());
        }
        Ok(())
    }

    /// Returns the default servant.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_DEFAULT_SERVANT, [`PoaError::NoServant`] if none is
    /// set.
    pub fn servant(&self) -> Result<Arc<dyn Servant>, PoaError> {
        self.check_processing(RequestProcessingPolicy::DefaultServant)?;
        self.adapter.default_servant().ok_or(PoaError::NoServant)
    }

    /// Sets the servant of all objects that are not active.
    ///
    /// # Errors
    /// [`PoaError::WrongPolicy`] without USE_DEFAULT_SERVANT.
    pub fn set_servant(&self, servant: Arc<dyn Servant>) -> Result<(), PoaError> {
        self.check_processing(RequestProcessingPolicy::DefaultServant)?;
        self.check_alive()?;
        self.adapter.set_default_servant(Some(servant));
        Ok(())
    }

    fn check_processing(&self, needed: RequestProcessingPolicy) -> Result<(), PoaError> {
        match self.adapter.policies.processing == needed {
            true => Ok(()),
            false => Err(PoaError::WrongPolicy(match needed {
                RequestProcessingPolicy::ServantManager => "USE_SERVANT_MANAGER",
                RequestProcessingPolicy::DefaultServant => "USE_DEFAULT_SERVANT",
                RequestProcessingPolicy::ActiveObjectMapOnly => "USE_ACTIVE_OBJECT_MAP_ONLY",
            })),
        }
    }

    fn check_alive(&self) -> Result<(), SystemException> {
        if !self.adapter.is_destroyed() {
            return Ok(());
        }
        // This raises the error of an ORB that was shut down.
        self.orb.listen()?;
        Err(destroyed_error(self.adapter.name()))
    }
}

impl PartialEq for Poa {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.adapter, &other.adapter)
    }
}

impl Eq for Poa {}

impl fmt::Debug for Poa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poa")
            .field("name", &self.name())
            .field("manager", self.manager())
            .finish_non_exhaustive()
    }
}

/// Returns the error of operations on a destroyed adapter.
fn destroyed_error(name: &str) -> SystemException {
    SystemException::new(
        Kind::ObjectNotExist,
        minor::NO_ADAPTER,
        CompletionStatus::No,
    )
    .with_detail(format!("the POA `{name}` is destroyed"))
}
