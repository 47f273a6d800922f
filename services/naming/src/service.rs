//! The service: the tree, where it is kept, and who changes it.

mod expiry;
mod groups;
mod shared;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use thiserror::Error;

use crate::access::Access;
use crate::commit::Commits;
use crate::cos_naming::NameComponent;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::limits::Limits;
use crate::metrics::{Gauges, Metrics};
use crate::name;
use crate::observe::Observers;
use crate::refusal::Refusal;
use crate::store::{Change, ContextId, FileStore, MemoryStore, Store, StoreError, Target};
use crate::tree::{Done, Draft, Growing, Listed, Operation, Place, Tree, View, Wanted, walk_to};

use expiry::Expiry;
use groups::Groups;

pub(crate) use groups::Member;

/// A naming service. Clones are the same one.
#[derive(Clone)]
pub struct NamingService(Arc<Shared>);

struct Shared {
    tree: RwLock<Tree>,
    store: Box<dyn Store>,
    commits: Commits<Operation, Result<Done, Refusal>>,
    /// What a commit has touched that failed: the store may have it, or not.
    doubtful: Mutex<Vec<Change>>,
    limits: RwLock<Limits>,
    access: RwLock<Access>,
    metrics: Metrics,
    observers: Observers,
    expiry: Expiry,
    groups: Groups,
}

/// Why a naming service cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the naming store cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// How much a naming service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Contexts, the root among them.
    pub contexts: usize,
    /// Bindings in all of them.
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
    /// A service whose bindings end with the process.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::on(Box::new(MemoryStore::new()?))
    }

    /// The service whose bindings are in a file, which is made if need be. Each change is durable before it is
    /// acknowledged.
    ///
    /// # Errors
    /// The file is in use, damaged, something else, or cannot be read or written. It is left as it is.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::on(Box::new(FileStore::open(path)?))
    }

    /// A service whose bindings are kept elsewhere.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn on(store: Box<dyn Store>) -> Result<Self, OpenError> {
        let mut growing = Growing::new();
        store.load(&mut growing)?;
        let temporary = growing.take_temporary();
        let tree = growing.grown();
        let tree = tree.ok_or_else(|| StoreError::Damaged("contexts are missing".to_owned()))?;
        let service = Arc::new(Shared {
            tree: RwLock::new(tree),
            store,
            commits: Commits::new(),
            doubtful: Mutex::default(),
            limits: RwLock::default(),
            access: RwLock::default(),
            metrics: Metrics::default(),
            observers: Observers::default(),
            expiry: Expiry::default(),
            groups: Groups::default(),
        });
        match service.store.shared() {
            Some(_) => shared::follow(&service)?,
            None => expiry::begin(&service, temporary)?,
        }
        Ok(Self(service))
    }

    /// Sets how much it may have from now on. What it has stays, even if that is more.
    pub fn set_limits(&self, limits: Limits) {
        *self.0.limits.write() = limits;
    }

    /// Sets who may change what from now on.
    pub fn set_access(&self, access: Access) {
        *self.0.access.write() = access;
    }

    /// How much there is.
    #[must_use]
    pub fn size(&self) -> Size {
        let tree = self.0.tree.read();
        Size {
            contexts: tree.contexts(),
            bindings: tree.bindings(),
        }
    }

    /// What has been counted, and what there is, in Prometheus' text format.
    #[must_use]
    pub fn metrics(&self) -> String {
        let Size { contexts, bindings } = self.size();
        self.0.metrics.text(Gauges {
            contexts,
            bindings,
            store_bytes: self.0.store.bytes(),
            is_ready: self.check_ready().is_ok(),
        })
    }

    /// That names can be resolved and changed now, as far as is known.
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

    /// Reads the tree, and who may change it. Changes wait meanwhile.
    pub(crate) fn read<R>(&self, read: impl FnOnce(&Tree, &Access) -> R) -> Result<R, Refusal> {
        self.check_current()?;
        Ok(read(&self.0.tree.read(), &self.0.access.read()))
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.0.observers
    }

    pub(crate) fn is_restricted(&self) -> bool {
        self.0.access.read().is_restricted()
    }

    /// Whether changes wait for a disk.
    pub(crate) fn blocks(&self) -> bool {
        self.0.store.blocks()
    }

    /// What tells its contexts from those of other services.
    pub(crate) fn identity(&self) -> u64 {
        self.0.store.identity()
    }

    pub(crate) fn has(&self, context: ContextId) -> bool {
        let tree = self.0.tree.read();
        // That of a group is nobody's to call.
        tree.has(context) && !tree.groups().contains(&context)
    }

    /// What a name is bound to, as `found` makes it of the target.
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
        let found = |tree: &Tree, target: &Target| match target {
            Target::Group { context, choice } => {
                let chosen = self.0.groups.chosen(tree, *context, *choice)?;
                Ok(found(&chosen))
            }
            target => Ok(found(target)),
        };
        self.looked_up(context, name, found)?
    }

    /// What a name is bound to itself, also if that is a group.
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

    /// Some bindings of a context, behind a key or from the first on.
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

    /// Does what is wanted, and returns when that is durable. Blocks, together with others who change something.
    pub(crate) fn change(&self, operation: Operation) -> Result<Done, Refusal> {
        let lost = || Err(Refusal::Store(StoreError::Io("it has failed".to_owned())));
        let changed = || {
            let commit = |operations: Vec<_>| self.commit(&operations);
            self.0.commits.submit(operation, commit, lost)
        };
        self.0.metrics.changes.count(changed)
    }

    /// That what is known of names is not too old.
    fn check_current(&self) -> Result<(), Refusal> {
        match self.0.store.shared() {
            Some(shared) => shared.check_current().map_err(Refusal::Store),
            None => Ok(()),
        }
    }

    /// Does operations and commits them. Only one thread does so at a time, so that the tree is the same throughout.
    fn commit(&self, operations: &[Operation]) -> Vec<Result<Done, Refusal>> {
        if let Some(shared) = self.0.store.shared() {
            return self.commit_shared(shared, operations);
        }
        let Drafted {
            mut outcomes,
            changes,
            mut all,
        } = self.drafted(operations);
        if changes.is_empty() {
            return outcomes;
        }
        all.extend_from_slice(&changes);
        match self.0.metrics.commits.count(|| self.0.store.commit(&all)) {
            Ok(()) => {
                self.0.doubtful.lock().clear();
                let contexts = self.0.observers.contexts(&changes);
                self.0.expiry.note(&changes);
                let mut tree = self.0.tree.write();
                // Nobody resolves a group between the two.
                self.0.groups.note(&changes);
                tree.apply(changes);
                drop(tree);
                self.0.observers.changed(&contexts);
            }
            Err(error) => {
                tracing::error!("changes of names are refused: {error}");
                *self.0.doubtful.lock() = all;
                // Those too that were refused for what others had done in this draft.
                outcomes.fill(Err(Refusal::Store(error)));
            }
        }
        outcomes
    }

    fn drafted(&self, operations: &[Operation]) -> Drafted {
        let (tree, limits, access) = (
            self.0.tree.read(),
            self.0.limits.read(),
            self.0.access.read(),
        );
        let mut draft = Draft::new(&tree, &limits, &access);
        let outcomes = operations.iter().map(|one| {
            if matches!(one.wanted, Wanted::Expire) {
                draft.expire(&self.0.expiry.due());
            }
            draft.perform(one)
        });
        let outcomes = outcomes.collect();
        let changes = draft.changes();
        let doubtful = self.0.doubtful.lock();
        let all = doubtful.iter().flat_map(|change| tree.as_it_is(change));
        let all = all.collect();
        Drafted {
            outcomes,
            changes,
            all,
        }
    }
}

/// What comes of operations.
struct Drafted {
    outcomes: Vec<Result<Done, Refusal>>,
    /// What is to be committed for them.
    changes: Vec<Change>,
    /// The records that are in doubt, as they are; they are committed before the changes.
    all: Vec<Change>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Requester;
    use crate::store::{Loading, ROOT};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Keeps all, and says so or not.
    #[derive(Debug)]
    struct Lying(FileStore, Arc<AtomicBool>);

    impl Store for Lying {
        fn identity(&self) -> u64 {
            self.0.identity()
        }

        fn load(&self, loading: &mut dyn Loading) -> Result<(), StoreError> {
            self.0.load(loading)
        }

        fn commit(&self, changes: &[Change]) -> Result<(), StoreError> {
            self.0.commit(changes)?;
            match self.1.load(Ordering::Relaxed) {
                true => Err(StoreError::Io(
                    "the disk fails behind the last page".to_owned(),
                )),
                false => Ok(()),
            }
        }
    }

    fn bind_new_context(service: &NamingService, id: &str) -> Result<Done, Refusal> {
        let component = NameComponent {
            id: id.to_owned(),
            kind: String::new(),
        };
        service.change(Operation {
            context: ROOT,
            wanted: Wanted::BindNewContext {
                name: vec![component],
            },
            by: Requester::Process,
        })
    }

    #[test]
    fn what_is_stored_though_storing_failed_goes_with_the_next_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("names.redb");
        let lies = Arc::new(AtomicBool::new(false));
        let store = Lying(FileStore::open(&path).unwrap(), lies.clone());
        let service = NamingService::on(Box::new(store)).unwrap();
        bind_new_context(&service, "kept").unwrap();
        lies.store(true, Ordering::Relaxed);
        for id in ["refused", "refused too"] {
            let refused = bind_new_context(&service, id);
            assert!(matches!(refused, Err(Refusal::Store(StoreError::Io(_)))));
        }
        let size = service.size();
        assert_eq!((size.contexts, size.bindings), (2, 1));
        lies.store(false, Ordering::Relaxed);
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
        let lies = Arc::new(AtomicBool::new(false));
        let store = Lying(FileStore::open(&path).unwrap(), lies.clone());
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
        let made = Wanted::BindGroup {
            name: group.clone(),
            choice,
        };
        change(made).unwrap();
        for id in ["one", "other"] {
            let target = Target::Object((*b"ior").into());
            let name = name(&["group", id]);
            change(Wanted::Join { name, target }).unwrap();
        }
        lies.store(true, Ordering::Relaxed);
        assert!(change(Wanted::Unbind { name: group }).is_err());
        lies.store(false, Ordering::Relaxed);
        bind_new_context(&service, "later").unwrap();
        let size = service.size();
        assert_eq!((size.contexts, size.bindings), (3, 4));
        drop(service);
        let service = NamingService::open(&path).unwrap();
        assert_eq!(service.size(), size);
        assert_eq!(service.members(service.groups()[0]).len(), 2);
    }
}
