//! The repository: definitions and their storage.
//!
//! Changes of many callers are performed one after the other and committed at once; each is a step
//! that can be undone separately.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use punctual_host::access::{Requester, Rules};
use punctual_host::commit::Commits;
use punctual_host::metrics::Exposition;
#[cfg(feature = "faults")]
use punctual_host::store::Faults;
use punctual_host::store::StoreError;
use punctual_idl::model::Specification;
use thiserror::Error;

use crate::corba::DefinitionKind;
use crate::definitions::Definitions;
use crate::load;
use crate::metrics::{Gauges, Metrics};
use crate::refusal::Refusal;
use crate::storage::Storage;

/// Interface Repository, whose clones share the same definitions.
#[derive(Clone)]
pub struct InterfaceRepository(Arc<Shared>);

struct Shared {
    definitions: RwLock<Definitions>,
    quota: RwLock<Quota>,
    storage: Option<Storage>,
    commits: Commits<Step, Result<(), Refusal>>,
    writers: RwLock<Rules<()>>,
    metrics: Metrics,
}

/// A change of definitions that waits for its commit.
type Step = Box<dyn FnOnce(&mut Definitions) -> Result<(), Refusal> + Send>;

/// Limits of a repository. A change that exceeds them is refused with NO_RESOURCES, and has no
/// effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Maximum number of definitions: modules, interfaces, operations, attributes, types,
    /// constants, members of valuetypes. Default: 100,000.
    pub definitions: usize,
    /// Maximum total length of their records, in bytes; in memory they take several times as much.
    /// Default: 64 MiB.
    pub bytes: usize,
}

impl Quota {
    fn check(&self, definitions: &Definitions) -> Result<(), Refusal> {
        if definitions.len() > self.definitions {
            let most = format!("{} definitions", self.definitions);
            return Err(Refusal::QuotaExceeded(most));
        }
        if definitions.bytes() > self.bytes {
            let most = format!("{} bytes of definitions", self.bytes);
            return Err(Refusal::QuotaExceeded(most));
        }
        Ok(())
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            definitions: 100_000,
            bytes: 64 << 20,
        }
    }
}

/// Reason why an Interface Repository cannot be opened.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("the repository cannot be opened: {0}")]
pub struct OpenError(#[from] pub StoreError);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for InterfaceRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterfaceRepository")
            .field("definitions", &self.0.definitions.read().len())
            .field("is_stored", &self.0.storage.is_some())
            .finish()
    }
}

impl InterfaceRepository {
    /// Returns an empty repository that ends with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(Definitions::default(), None)
    }

    /// Opens the repository in a file, which is created if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or has other contents.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::on(Storage::open(path)?)
    }

    /// Opens the repository in a file as [`open`](Self::open) does, on a disk with injected faults.
    ///
    /// # Errors
    /// As of [`open`](Self::open).
    #[cfg(feature = "faults")]
    pub fn open_with_faults(path: &Path, faults: Faults) -> Result<Self, OpenError> {
        Self::on(Storage::open_with_faults(path, faults)?)
    }

    fn on(storage: Storage) -> Result<Self, OpenError> {
        let stored = storage.read()?;
        Ok(Self::with(Definitions::of(stored), Some(storage)))
    }

    /// Returns unused pages of the repository's file to the file system. Takes time in proportion
    /// to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn compact(&self) -> Result<bool, OpenError> {
        match &self.0.storage {
            Some(storage) => Ok(storage.compact()?),
            None => Ok(false),
        }
    }

    fn with(definitions: Definitions, storage: Option<Storage>) -> Self {
        InterfaceRepository(Arc::new(Shared {
            definitions: RwLock::new(definitions),
            quota: RwLock::default(),
            storage,
            commits: Commits::new(),
            writers: RwLock::default(),
            metrics: Metrics::default(),
        }))
    }

    /// Sets the limits from now on. Existing definitions stay, even if they exceed the limits; then
    /// definitions can only be removed or reduced.
    pub fn set_quota(&self, quota: Quota) {
        *self.0.quota.write() = quota;
    }

    /// Sets the peers that may change the repository from now on, if it is served for changes.
    /// Without a grant, all may.
    pub fn set_writers(&self, writers: Rules<()>) {
        *self.0.writers.write() = writers;
    }

    /// Appends the Interface Repository's metrics to the exposition.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let (definitions, bytes) = self.look(|all| (all.len(), all.bytes()));
        let store_bytes = self.0.storage.as_ref().and_then(Storage::bytes);
        let gauges = Gauges {
            definitions,
            bytes,
            store_bytes,
        };
        self.0.metrics.write(out, gauges);
    }

    /// Loads the declarations of a compilation; returns the number of new definitions. Existing
    /// definitions of the same repository id are replaced: all, or none if one is refused.
    ///
    /// # Errors
    /// Declarations that violate the repository's rules, or that the standard's repository has no
    /// definition for.
    pub fn load(&self, specification: &Specification) -> Result<usize, Refusal> {
        let load = |definitions: &mut Definitions| {
            let mut loaded = definitions.clone();
            let new = load::load(&mut loaded, specification)?;
            *definitions = loaded;
            Ok(new)
        };
        let mut definitions = self.0.definitions.write();
        let new = self.perform(&mut definitions, load)?;
        self.keep(&mut definitions)?;
        Ok(new)
    }

    /// Returns kind, scoped name and repository id of each definition, in the order in which they
    /// were made.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String, String)> {
        let definitions = self.0.definitions.read();
        let listed = definitions.iter().map(|(number, definition)| {
            let kind = name_of(definition.what.discriminator());
            let name = definitions.absolute_name(number);
            (kind, name, definition.id.clone())
        });
        listed.collect()
    }

    /// Calls the closure `look` with the definitions, under a read lock.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Definitions) -> R) -> R {
        look(&self.0.definitions.read())
    }

    /// Returns true if a requester has the right to change definitions.
    pub(crate) fn permits(&self, by: &Requester) -> bool {
        self.0.writers.read().permits(by, |()| true)
    }

    /// Returns the requester of the upcall that this thread serves, as far as rules need it.
    pub(crate) fn requester(&self) -> Requester {
        self.0.writers.read().requester()
    }

    /// Returns true if a change has to wait for a disk.
    pub(crate) fn blocks(&self) -> bool {
        self.0.storage.is_some()
    }

    /// Changes definitions, and returns when that is durable; a change that cannot be stored is
    /// undone. Blocks, together with other callers that change something. A `change` that fails has
    /// changed nothing.
    pub(crate) fn change<R: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Definitions) -> Result<R, Refusal> + Send + 'static,
    ) -> Result<R, Refusal> {
        let result = Arc::new(Mutex::new(None));
        let kept = result.clone();
        let step: Step = Box::new(move |definitions| {
            *kept.lock() = Some(change(definitions)?);
            Ok(())
        });
        let lost = || Err(Refusal::Storage("the commit has failed".to_owned()));
        let commit = |steps| self.commit(steps);
        let submit = || self.0.commits.submit(step, commit, lost);
        self.0.metrics.changes.count(submit)?;
        let result = result.lock().take();
        result.ok_or_else(|| Refusal::Storage("the commit has failed".to_owned()))
    }

    /// Performs several steps of changes and stores them in one commit.
    fn commit(&self, steps: Vec<Step>) -> Vec<Result<(), Refusal>> {
        let mut definitions = self.0.definitions.write();
        let steps = steps.into_iter();
        let mut outcomes: Vec<_> = steps
            .map(|step| self.perform(&mut definitions, step))
            .collect();
        if let Err(refusal) = self.keep(&mut definitions) {
            // Includes steps that were refused because of other changes in this commit.
            outcomes.fill(Err(refusal));
        }
        outcomes
    }

    /// Performs a change, and undoes it if the repository then exceeds its quota.
    fn perform<R>(
        &self,
        definitions: &mut Definitions,
        step: impl FnOnce(&mut Definitions) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let before = (definitions.len(), definitions.bytes());
        definitions.begin_step();
        let result = step(definitions);
        let grows = definitions.len() > before.0 || definitions.bytes() > before.1;
        if grows && let Err(refusal) = self.0.quota.read().check(definitions) {
            definitions.undo_step();
            return Err(refusal);
        }
        result
    }

    /// Stores the pending changes of definitions, or undoes them if that fails.
    fn keep(&self, definitions: &mut Definitions) -> Result<(), Refusal> {
        let changes = definitions.changes();
        if let Some(storage) = self.0.storage.as_ref().filter(|_| !changes.is_empty()) {
            let write = || storage.write(changes);
            if let Err(error) = self.0.metrics.commits.count(write) {
                definitions.undo();
                return Err(Refusal::Storage(error.to_string()));
            }
        }
        definitions.keep();
        Ok(())
    }
}

/// Returns the name of a kind: `struct`, `abstract interface`, …
fn name_of(kind: DefinitionKind) -> String {
    let name = match kind {
        DefinitionKind::DkAbstractInterface => "abstract interface",
        DefinitionKind::DkLocalInterface => "local interface",
        DefinitionKind::DkValueBox => "value box",
        DefinitionKind::DkValueMember => "value member",
        DefinitionKind::DkAlias => "typedef",
        kind => return format!("{kind:?}")[2..].to_lowercase(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::ROOT;
    use crate::store::{Definition, Details};

    fn module(id: &str) -> Definition {
        Definition {
            id: id.to_owned(),
            name: id.to_owned(),
            version: "1.0".to_owned(),
            container: ROOT,
            what: Details::Unlabeled(DefinitionKind::DkModule),
        }
    }

    #[test]
    fn what_is_stored_though_storing_failed_goes_with_the_next_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ifr.redb");
        let faults = Faults::default();
        let repository = InterfaceRepository::open_with_faults(&path, faults.clone()).unwrap();
        let create = |id: &'static str| repository.change(move |all| all.create(module(id)));
        create("kept").unwrap();
        faults.fail_late();
        assert!(matches!(create("refused"), Err(Refusal::Storage(_))));
        faults.mend();
        create("later").unwrap();
        let listed = repository.list();
        assert_eq!(listed.len(), 2);
        drop(repository);
        assert_eq!(InterfaceRepository::open(&path).unwrap().list(), listed);
    }

    #[test]
    fn of_changes_in_one_commit_the_one_beyond_the_quota_is_taken_back_alone() {
        let repository = InterfaceRepository::in_memory();
        repository.set_quota(Quota {
            definitions: 1,
            ..Quota::default()
        });
        let step =
            |id: &'static str| -> Step { Box::new(move |all| all.create(module(id)).map(drop)) };
        let outcomes = repository.commit(vec![step("one"), step("two")]);
        assert_eq!(outcomes[0], Ok(()));
        assert!(matches!(outcomes[1], Err(Refusal::QuotaExceeded(_))));
        let listed = repository.list();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].2, "one");
    }
}
