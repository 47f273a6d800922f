//! The service: the tree, its store, and access to both.

mod commit;
mod expiry;
mod follow;
mod following;
mod group_service;
#[cfg(test)]
mod group_service_tests;
mod groups;
mod members;
mod shared;
mod state;
mod unbound;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use punctual::Orb;
use punctual_host::metrics::Exposition;
use thiserror::Error;

use crate::access::{Access, Requester};
use crate::cos_naming::NameComponent;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::group_service::GroupService;
use crate::limits::Limits;
use crate::metrics::Gauges;
use crate::name;
use crate::observe::Observers;
use crate::refusal::Refusal;
use crate::store::{ContextId, FileStore, MemoryStore, ROOT, Store, StoreError, Target};
use crate::tree::{
    Done, Listed, Operation, Place, RequestedChange, Tree, TreeBuilder, View, walk_to,
};

use expiry::Temporary;
use follow::Progress;
use groups::chosen;
use state::State;

pub(crate) use groups::Member;

/// Naming service, whose clones share the same state.
#[derive(Clone)]
pub struct NamingService(Arc<State>);

/// Makes a service remove expired temporary bindings from now on.
fn expire(service: &Arc<State>, temporary: Temporary) -> Result<(), StoreError> {
    let weak = Arc::downgrade(service);
    service.expiry.begin(temporary, move || {
        let service = weak.upgrade()?;
        let expired = service.change(Operation {
            context: ROOT,
            wanted: RequestedChange::Expire,
            by: Requester::Process,
        });
        Some(expired.map(drop))
    })
}

/// Error of a naming service that cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the naming store cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Number of contexts and bindings of a naming service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of naming contexts, including the root context.
    pub contexts: usize,
    /// Number of bindings in all naming contexts.
    pub bindings: usize,
}

impl fmt::Debug for NamingService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamingService")
            .field("size", &self.size())
            .field("store", &self.0.store)
            .finish()
    }
}

impl NamingService {
    /// Returns a service whose bindings end with the process.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::on(Box::new(MemoryStore::new()?))
    }

    /// Opens the service whose bindings are in a file, which is created if need be. Each change is
    /// durable before it is acknowledged.
    ///
    /// # Errors
    /// The file is in use, damaged, of another kind, or cannot be read or written. It is left
    /// unchanged.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::on(Box::new(FileStore::open(path)?))
    }

    /// Returns a service whose bindings are in the given store.
    ///
    /// # Errors
    /// The store's bindings cannot be read.
    pub fn on(store: Box<dyn Store>) -> Result<Self, OpenError> {
        let mut growing = TreeBuilder::new();
        store.load(&mut growing)?;
        let temporary = growing.take_temporary();
        let tree = growing.grown();
        let tree = tree.ok_or_else(|| StoreError::Damaged("contexts are missing".to_owned()))?;
        let service = Arc::new(State::new(store, tree));
        match service.store.shared() {
            Some(_) => shared::follow(&service)?,
            None => expire(&service, temporary)?,
        }
        Ok(Self(service))
    }

    /// Sets the limits from now on. Existing data stays, even beyond the limits.
    pub fn set_limits(&self, limits: Limits) {
        *self.0.limits.write() = limits;
    }

    /// Replaces the access rules, from now on.
    pub fn set_access(&self, access: Access) {
        *self.0.access.write() = access;
    }

    /// Has the groups of this service be those of a group service (`punctual group serve`), whose reference this is: an `IOR:`
    /// or `corbaloc:` text. Takes effect when the names are served, and then for good: members that the store has of groups
    /// move there.
    pub fn keep_groups_at(&self, reference: impl Into<String>) {
        *self.0.group_service_at.lock() = Some(reference.into());
    }

    /// Begins to follow the group service, if one is to have the groups. Returns whether one is.
    pub(crate) fn follow_groups(&self, orb: &Orb, within: Duration) -> Result<bool, String> {
        let Some(reference) = self.0.group_service_at.lock().clone() else {
            return Ok(false);
        };
        let groups = GroupService::at(orb, &reference, within);
        let groups = groups.map_err(|exception| format!("`{reference}`: {exception}"))?;
        if self.0.group_service.set(groups).is_err() {
            return Ok(true);
        }
        let (state, mut progress) = (Arc::downgrade(&self.0), Progress::default());
        let begun = self.0.following.begin(move || progress.follow(&state));
        begun.map(|()| true).map_err(|error| error.to_string())
    }

    /// Returns whether a group service has the groups.
    pub(crate) fn has_group_service(&self) -> bool {
        self.0.group_service.get().is_some()
    }

    /// Returns the number of contexts and bindings of the naming service.
    #[must_use]
    pub fn size(&self) -> Size {
        let tree = self.0.tree.read();
        Size {
            contexts: tree.contexts(),
            bindings: tree.bindings(),
        }
    }

    /// Appends the naming service's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let Size { contexts, bindings } = self.size();
        let store_bytes = self.0.store.bytes();
        let gauges = Gauges {
            contexts,
            bindings,
            bytes: self.0.tree.read().bytes(),
            store_bytes,
        };
        self.0.metrics.write(out, gauges);
    }

    /// Checks that names can be resolved and changed now, as far as known.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub fn check_ready(&self) -> Result<(), OpenError> {
        match self.0.store.shared() {
            Some(shared) => Ok(shared.check_reached()?),
            None => Ok(()),
        }
    }

    pub(crate) fn limits(&self) -> Limits {
        *self.0.limits.read()
    }

    /// Calls a function with the tree and the access rules. Changes wait until it has returned.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Tree, &Access) -> R) -> Result<R, Refusal> {
        self.check_current()?;
        Ok(read(&self.0.tree.read(), &self.0.access.read()))
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.0.observers
    }

    /// Returns the requester of the upcall that this thread serves, as far as access rules need it.
    pub(crate) fn requester(&self) -> Requester {
        self.0.access.read().requester()
    }

    /// Returns `true` if a change has to wait for a disk, another machine or the group service.
    pub(crate) fn blocks(&self) -> bool {
        self.0.store.blocks() || self.has_group_service()
    }

    /// Returns the number that distinguishes this service's contexts from those of other services.
    pub(crate) fn identity(&self) -> u64 {
        self.0.store.identity()
    }

    pub(crate) fn has(&self, context: ContextId) -> bool {
        let tree = self.0.tree.read();
        // The context of a group cannot be called.
        tree.has(context) && !tree.groups().contains(&context)
    }

    /// Resolves a name, and returns what `found` returns for the target.
    pub(crate) fn resolve<R>(
        &self,
        context: ContextId,
        name: &[NameComponent],
        found: impl FnOnce(&Target) -> R,
    ) -> Result<R, Refusal> {
        let resolves = &self.0.metrics.resolves;
        resolves.count(|| self.resolved(context, name, found))
    }

    fn resolved<R>(
        &self,
        context: ContextId,
        name: &[NameComponent],
        found: impl FnOnce(&Target) -> R,
    ) -> Result<R, Refusal> {
        let look = |tree: &Tree, target: &Target| match target {
            Target::Group { context, choice } => {
                let chosen = chosen(&self.0.groups, tree, *context, *choice);
                Err((found, chosen))
            }
            target => Ok(found(target)),
        };
        match self.looked_up(context, name, look)? {
            Ok(result) => Ok(result),
            Err((found, chosen)) => Ok(found(&chosen?.target()?)),
        }
    }

    /// Resolves a name, except that a group is not resolved to a member, and returns what `found`
    /// returns for the target.
    pub(crate) fn bound<R>(
        &self,
        context: ContextId,
        name: &[NameComponent],
        found: impl FnOnce(&Target) -> R,
    ) -> Result<R, Refusal> {
        self.looked_up(context, name, |_, target| found(target))
    }

    fn looked_up<R>(
        &self,
        context: ContextId,
        name: &[NameComponent],
        found: impl FnOnce(&Tree, &Target) -> R,
    ) -> Result<R, Refusal> {
        name::check(name, &self.0.limits.read())?;
        self.check_current()?;
        let tree = self.0.tree.read();
        let (here, key) = walk_to(&*tree, context, name, Place::Any)?;
        let target = tree.target(here, &key).ok_or_else(|| {
            let at = name.len().saturating_sub(1);
            Refusal::not_found(NotFoundReason::MissingNode, name, at)
        })?;
        Ok(found(&tree, target))
    }

    /// Returns the number of bytes of the keys that [`NamingService::list`] lists.
    pub(crate) fn measure(&self, context: ContextId, behind: Option<&str>, most: usize) -> usize {
        self.0.tree.read().measure(context, behind, most)
    }

    /// Returns some bindings of a context, after a key or from the first on.
    pub(crate) fn list(
        &self,
        context: ContextId,
        behind: Option<&str>,
        most: usize,
    ) -> Result<Listed, Refusal> {
        self.0.metrics.lists.count(|| {
            self.check_current()?;
            let listed = self.0.tree.read().list(context, behind, most);
            listed.ok_or_else(|| Refusal::missing(context))
        })
    }

    /// Performs an operation, and returns when it is durable. Blocks, together with other callers that change something.
    pub(crate) fn change(&self, operation: Operation) -> Result<Done, Refusal> {
        self.0.change(operation)
    }

    /// Checks that this server's copy of the names is recent enough.
    fn check_current(&self) -> Result<(), Refusal> {
        self.0.check_current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_host::store::Faults;

    fn bind_new_context(service: &NamingService, id: &str) -> Result<Done, Refusal> {
        let component = NameComponent {
            id: id.to_owned(),
            kind: String::new(),
        };
        service.change(Operation {
            context: ROOT,
            wanted: RequestedChange::BindNewContext {
                name: vec![component],
            },
            by: Requester::Process,
        })
    }

    #[test]
    fn what_is_stored_though_storing_failed_goes_with_the_next_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.redb");
        let faults = Faults::default();
        let store = FileStore::open_with_faults(&path, faults.clone()).unwrap();
        let service = NamingService::on(Box::new(store)).unwrap();
        bind_new_context(&service, "kept").unwrap();
        faults.fail_late();
        for id in ["refused", "refused too"] {
            let refused = bind_new_context(&service, id);
            assert!(matches!(refused, Err(Refusal::Store(StoreError::Io(_)))));
        }
        let size = service.size();
        assert_eq!((size.contexts, size.bindings), (2, 1));
        faults.mend();
        bind_new_context(&service, "later").unwrap();
        let size = service.size();
        drop(service);
        let service = NamingService::open(&path).unwrap();
        assert_eq!((service.size(), size.bindings), (size, 2));
        let listed = service.list(ROOT, None, 9).unwrap().bindings;
        let keys: Vec<&str> = listed.iter().map(|(key, _)| &**key).collect();
        assert_eq!(keys, ["kept", "later"]);
    }

    #[test]
    fn members_that_went_with_their_group_by_a_commit_that_failed_are_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.redb");
        let faults = Faults::default();
        let store = FileStore::open_with_faults(&path, faults.clone()).unwrap();
        let service = NamingService::on(Box::new(store)).unwrap();
        let name = |ids: &[&str]| -> Vec<NameComponent> {
            let component = |id: &&str| NameComponent {
                id: (*id).to_owned(),
                kind: String::new(),
            };
            ids.iter().map(component).collect()
        };
        let change = |wanted| {
            service.change(Operation {
                context: ROOT,
                wanted,
                by: Requester::Process,
            })
        };
        let choice = crate::store::Choice::RoundRobin;
        let group = name(&["group"]);
        let made = RequestedChange::BindGroup {
            name: group.clone(),
            choice,
        };
        change(made).unwrap();
        for id in ["one", "other"] {
            let target = Target::Object((*b"ior").into());
            let name = name(&["group", id]);
            change(RequestedChange::Join { name, target }).unwrap();
        }
        faults.fail_late();
        assert!(change(RequestedChange::Unbind { name: group }).is_err());
        faults.mend();
        bind_new_context(&service, "later").unwrap();
        let size = service.size();
        assert_eq!((size.contexts, size.bindings), (3, 4));
        drop(service);
        let service = NamingService::open(&path).unwrap();
        assert_eq!(service.size(), size);
        assert_eq!(service.members(service.groups()[0]).len(), 2);
    }
}
