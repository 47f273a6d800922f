//! Tree of adapters: creation of children, search for them, and creation on demand (CORBA 3.3 part
//! 1, §15.3.9.2 and §15.3.3).

use super::etherealizer::Etherealizer;
use super::make::map;
use super::own_factory::OwnFactory;
use super::root::Root;
use super::types::{Adapter, Parts, Registry};
use crate::current;
use crate::key::{AdapterId, MAX_PATH};
use crate::manager::PoaManager;
use crate::policy::{Conflict, PoaPolicy, Policies, defined};
use punctual_orb::{CompletionStatus, Orb, SystemException, SystemExceptionKind as Kind, minor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Maximum depth of the tree of POAs.
const MAX_DEPTH: usize = 256;

/// Reason why an object adapter could not be created.
#[derive(Debug)]
pub(crate) enum CreateError {
    Exists,
    Conflict(Conflict),
    System(SystemException),
}

impl Adapter {
    /// Makes a child with a name, a manager and policies.
    pub(crate) fn create(
        self: &Arc<Self>,
        name: &str,
        manager: Option<&PoaManager>,
        policies: &[PoaPolicy],
    ) -> Result<Arc<Self>, CreateError> {
        let over = || CreateError::System(orb_shut_down_error());
        let registry = self.common.registry.upgrade().ok_or_else(over)?;
        let orb = self.common.orb.upgrade().ok_or_else(over)?;
        let (defined, around) = defined(policies, &orb).map_err(CreateError::Conflict)?;
        let policies = Policies::of(policies).map_err(CreateError::Conflict)?;
        let defined = match policies.is_persistent() {
            true => defined.outliving_the_process(),
            false => defined,
        };
        self.check_name(name).map_err(CreateError::System)?;
        if let Some(repository) = self
            .common
            .repository
            .as_ref()
            .filter(|_| policies.is_persistent())
        {
            repository.locator(&orb).map_err(CreateError::System)?;
        }
        self.wait_for_name(&orb, name)
            .map_err(CreateError::System)?;
        if self.child(name).is_some() {
            return Err(CreateError::Exists);
        }
        let manager = match manager {
            Some(manager) => manager.clone(),
            None => self.common.managers.create_for(name),
        };
        // Interceptors may call anything, so no lock is held.
        let full_name = [self.full_name(), vec![name.to_owned()]].concat();
        let own = Arc::new(OwnFactory::default());
        let (defined, factory) = orb
            .establish_components(defined, &full_name, manager.seen(), own.clone())
            .map_err(CreateError::System)?;
        let mut children = self.tree.children.lock();
        if self.is_destroyed() {
            return Err(CreateError::System(orb_shut_down_error()));
        }
        if children.contains_key(name) {
            return Err(CreateError::Exists);
        }
        let parts = Parts {
            name: name.to_owned(),
            parent: Some(self.clone()),
            policies,
            defined,
            factory,
            around,
            manager,
        };
        let child = registry.add(parts).map_err(CreateError::System)?;
        own.set_adapter(&child);
        children.insert(name.to_owned(), child.clone());
        drop(children);
        if child.manager.admission().is_active() {
            child.register();
        }
        Ok(child)
    }

    pub(crate) fn children(&self) -> Vec<Arc<Self>> {
        self.tree.children.lock().values().cloned().collect()
    }

    /// Returns the child with a name, unless its destruction has begun.
    pub(crate) fn child(&self, name: &str) -> Option<Arc<Self>> {
        let child = self.tree.children.lock().get(name).cloned();
        child.filter(|child| !child.is_destroyed())
    }

    /// Returns the child with a name; if there is none, asks the adapter activator to make it.
    pub(crate) fn child_or_activate(
        self: &Arc<Self>,
        name: &str,
    ) -> Result<Option<Arc<Self>>, SystemException> {
        if let Some(child) = self.child(name) {
            return Ok(Some(child));
        }
        let Some(activator) = self.tree.activator.lock().clone() else {
            return Ok(None);
        };
        let Some(poa) = self.poa() else {
            return Ok(None);
        };
        // One thread at a time for each name: the next one finds the child that the first one made.
        let Some(_locked) = self.tree.activations.lock(name.as_bytes()) else {
            // The activator itself asks for the child.
            return Ok(None);
        };
        if let Some(child) = self.child(name) {
            return Ok(Some(child));
        }
        let asked = catch_unwind(AssertUnwindSafe(|| activator.unknown_adapter(&poa, name)));
        match asked {
            Ok(true) => Ok(self.child(name)),
            Ok(false) => Ok(None),
            Err(_) => Err(activator_failed(name)),
        }
    }

    /// Waits until the destruction of the child with a name, if it has begun, is complete.
    fn wait_for_name(&self, orb: &Orb, name: &str) -> Result<(), SystemException> {
        let child = self.tree.children.lock().get(name).cloned();
        let Some(former) = child.filter(|child| child.is_destroyed()) else {
            return Ok(());
        };
        if current::is_in_upcall_of(Some(orb), self.nonce()) {
            return Err(being_destroyed(name));
        }
        former.wait_until_destroyed();
        Ok(())
    }

    fn check_name(&self, name: &str) -> Result<(), SystemException> {
        let wrong = |kind, why: String| {
            let exception = SystemException::new(kind, minor::VALUE, CompletionStatus::No);
            Err(exception.with_detail(why))
        };
        if name.contains('\0') {
            return wrong(
                Kind::BadParam,
                format!("the POA name {name:?} has a NUL in it"),
            );
        }
        let above = std::iter::successors(Some(self), |adapter| adapter.tree.parent.as_deref());
        if above.count() >= MAX_DEPTH {
            return wrong(
                Kind::ImpLimit,
                format!("POAs are nested {MAX_DEPTH} levels deep already"),
            );
        }
        if self.path().len() + name.len() + 1 > usize::from(MAX_PATH) {
            let why = format!("the names of the POA `{name}` and those above it are too long");
            return wrong(Kind::ImpLimit, why);
        }
        Ok(())
    }
}

impl Root {
    /// Returns the persistent adapter with this path, made on demand by its activators.
    pub(super) fn at(&self, path: &[u8]) -> Result<Option<Arc<Adapter>>, SystemException> {
        if let Some(adapter) = self.existing_at(path) {
            return Ok(Some(adapter));
        }
        let Some(names) = path.strip_suffix(&[0]) else {
            return Ok(None);
        };
        let mut adapter = self.adapter();
        for name in names.split(|octet| *octet == 0) {
            // A request for an adapter below waits like those for this one (§15.3.3.1).
            if !adapter.manager.admission().is_active() {
                adapter.manager.admit()?;
            }
            let Ok(name) = std::str::from_utf8(name) else {
                return Ok(None);
            };
            match adapter.child_or_activate(name)? {
                Some(child) => adapter = child,
                None => return Ok(None),
            }
        }
        Ok(Some(adapter).filter(|adapter| adapter.policies.is_persistent()))
    }
}

impl Registry for Root {
    fn add(&self, parts: Parts) -> Result<Arc<Adapter>, SystemException> {
        let etherealizer = Etherealizer::default();
        let retains = parts.policies.retains();
        let map = retains.then(|| map(&parts.policies, etherealizer.clone()));
        // Policies with a duplicate id were refused before.
        let map = map.transpose().map_err(|_| too_many())?;
        let made = self.tables.add(|name| {
            let nonce = self.nonce;
            Adapter::new(&self.common, AdapterId { nonce, name }, parts, map)
        });
        let adapter = made.ok_or_else(too_many)?;
        etherealizer.set_adapter(&adapter);
        adapter.manager.add(adapter.me.clone());
        if adapter.policies.is_persistent() {
            self.by_path
                .pin()
                .insert(adapter.path().into(), adapter.id().name);
        }
        Ok(adapter)
    }

    fn forget(&self, adapter: &Adapter) {
        self.tables.remove(adapter.id().name);
        if adapter.policies.is_persistent() {
            self.by_path.pin().remove(adapter.path());
        }
    }
}

fn orb_shut_down_error() -> SystemException {
    SystemException::new(Kind::BadInvOrder, minor::omg(17), CompletionStatus::No)
        .with_detail("the POA is destroyed, or its ORB has shut down")
}

fn being_destroyed(name: &str) -> SystemException {
    SystemException::new(Kind::BadInvOrder, minor::omg(17), CompletionStatus::No).with_detail(
        format!("the POA `{name}` is still being destroyed, and an upcall must not wait for the end of that"),
    )
}

fn activator_failed(name: &str) -> SystemException {
    SystemException::new(Kind::ObjAdapter, minor::omg(1), CompletionStatus::No).with_detail(
        format!("the adapter activator panicked when asked for `{name}`"),
    )
}

fn too_many() -> SystemException {
    SystemException::new(Kind::NoResources, minor::LIMIT, CompletionStatus::No)
        .with_detail("too many POAs")
}
