//! The repository: definitions, and where they are kept.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual_idl::model::Specification;
use thiserror::Error;

use crate::corba::DefinitionKind;
use crate::definitions::Definitions;
use crate::load;
use crate::refusal::Refusal;
use crate::storage::Storage;

/// An Interface Repository. Clones are the same one.
#[derive(Clone)]
pub struct InterfaceRepository(Arc<Shared>);

struct Shared {
    definitions: RwLock<Definitions>,
    quota: RwLock<Quota>,
    storage: Option<Storage>,
}

/// How much a repository may have. What would be more is refused with NO_RESOURCES, and nothing of it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Definitions: modules, interfaces, operations, attributes, types, constants, members of valuetypes. Default:
    /// 100,000.
    pub definitions: usize,
    /// The length of their records together, in bytes; in memory they take some times as much. Default: 64 MiB.
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

/// Why a repository cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the repository cannot be opened: {0}")]
pub struct OpenError(String);

impl fmt::Debug for InterfaceRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterfaceRepository")
            .field("definitions", &self.0.definitions.read().len())
            .field("is_stored", &self.0.storage.is_some())
            .finish()
    }
}

impl InterfaceRepository {
    /// An empty repository that ends with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(Definitions::default(), None)
    }

    /// The repository in a file, which is made if need be.
    ///
    /// # Errors
    /// The file cannot be opened, is in use, or holds something else.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let storage = Storage::open(path).map_err(OpenError)?;
        let stored = storage.read().map_err(OpenError)?;
        Ok(Self::with(Definitions::of(stored), Some(storage)))
    }

    fn with(definitions: Definitions, storage: Option<Storage>) -> Self {
        InterfaceRepository(Arc::new(Shared {
            definitions: RwLock::new(definitions),
            quota: RwLock::default(),
            storage,
        }))
    }

    /// Sets how much it may have from now on. What it has stays, even if that is more; it can be made less then.
    pub fn set_quota(&self, quota: Quota) {
        *self.0.quota.write() = quota;
    }

    /// Takes up what a compilation declares; tells how many definitions are new. What is there already, by its
    /// repository id, becomes what the compilation says of it: all of it, or after a refusal nothing.
    ///
    /// # Errors
    /// What the repository's rules exclude, and what the standard's repository has no definition for.
    pub fn load(&self, specification: &Specification) -> Result<usize, Refusal> {
        self.change(|definitions| {
            let mut loaded = definitions.clone();
            let new = load::load(&mut loaded, specification)?;
            *definitions = loaded;
            Ok(new)
        })
    }

    /// Kind, scoped name and repository id of each definition, in the order in which they were made.
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

    /// Looks at the definitions.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&Definitions) -> R) -> R {
        look(&self.0.definitions.read())
    }

    /// Changes definitions, and keeps what has changed; what cannot be kept is taken back.
    pub(crate) fn change<R>(
        &self,
        change: impl FnOnce(&mut Definitions) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let mut definitions = self.0.definitions.write();
        let before = (definitions.len(), definitions.bytes());
        let result = change(&mut definitions);
        let grows = definitions.len() > before.0 || definitions.bytes() > before.1;
        if grows && let Err(refusal) = self.0.quota.read().check(&definitions) {
            definitions.undo();
            return Err(refusal);
        }
        let changes = definitions.changes();
        if let Some(storage) = self.0.storage.as_ref().filter(|_| !changes.is_empty())
            && let Err(why) = storage.write(&changes)
        {
            definitions.undo_in_doubt();
            return Err(Refusal::Storage(why));
        }
        definitions.keep();
        result
    }
}

/// `struct`, `abstract interface`, …
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
        let repository = InterfaceRepository::open(&path).unwrap();
        let create = |id| repository.change(|all| all.create(module(id)));
        create("kept").unwrap();
        {
            // As when the disk fails behind the last page of a commit.
            let mut definitions = repository.0.definitions.write();
            definitions.create(module("refused")).unwrap();
            let changes = definitions.changes();
            repository
                .0
                .storage
                .as_ref()
                .unwrap()
                .write(&changes)
                .unwrap();
            definitions.undo_in_doubt();
        }
        create("later").unwrap();
        let listed = repository.list();
        assert_eq!(listed.len(), 2);
        drop(repository);
        assert_eq!(InterfaceRepository::open(&path).unwrap().list(), listed);
    }
}
