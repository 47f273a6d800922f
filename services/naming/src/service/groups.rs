//! Groups: the member that a group's name is resolved to.

use std::hash::{DefaultHasher, Hash, Hasher};

use punctual_groups::{Choice, Chosen, Groups, MOST_MERGED, Members, merged};

use crate::refusal::Refusal;
use crate::store::{Change, ContextId, Target};
use crate::tree::{Tree, View};

/// A member of a group, with this server's data about it.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) key: Box<str>,
    pub(crate) target: Target,
    /// Last reported load of the member; `None` without a recent report.
    pub(crate) load: Option<f64>,
    pub(crate) is_alive: bool,
}

/// View of the members of one object group in the naming tree.
pub(super) struct InTree<'t> {
    pub(super) tree: &'t Tree,
    pub(super) context: ContextId,
}

impl Members for InTree<'_> {
    type Member = Target;

    fn from<'m>(&'m self, key: &str) -> impl Iterator<Item = (&'m str, &'m Target)> {
        self.tree.from(self.context, key)
    }

    fn has(&self, key: &str) -> bool {
        self.tree.target(self.context, key).is_some()
    }

    fn count(&self) -> usize {
        self.tree.bindings_of(self.context).unwrap_or_default()
    }
}

/// Result of resolving the name of an object group.
pub(super) enum Resolution {
    Target(Target),
    /// References to be merged into one. As their owners determine how long that takes, it is not
    /// done under the lock of the tree.
    Merge(Vec<Box<[u8]>>),
}

/// Resolves a group's name by the group's choice of members.
pub(super) fn chosen(
    groups: &Groups<ContextId>,
    tree: &Tree,
    context: ContextId,
    choice: Choice,
) -> Result<Resolution, Refusal> {
    let members = InTree { tree, context };
    match groups.choose(context, &members, choice) {
        Some(Chosen::One(target)) => Ok(Resolution::Target(target.clone())),
        Some(Chosen::All(targets)) => {
            let references = targets.iter().filter_map(|target| reference(target));
            let first = references.take(MOST_MERGED).map(Box::from);
            Ok(Resolution::Merge(first.collect()))
        }
        None => Err(Refusal::NoMember),
    }
}

impl Resolution {
    /// Returns the target of the resolved name, after merging references if necessary.
    pub(super) fn target(self) -> Result<Target, Refusal> {
        match self {
            Self::Target(target) => Ok(target),
            Self::Merge(references) => {
                let merged = merged(references.iter().map(|one| &**one));
                Ok(Target::Object(merged.ok_or(Refusal::NoMember)?.into()))
            }
        }
    }
}

/// Removes the data of groups that changes have destroyed.
pub(super) fn note_groups(groups: &Groups<ContextId>, changes: &[Change]) {
    for change in changes {
        if let Change::Destroy(context) = change {
            groups.forget(context);
        }
    }
}

fn reference(target: &Target) -> Option<&[u8]> {
    match target {
        Target::Object(bytes)
        | Target::Temporary {
            reference: bytes, ..
        } => Some(bytes),
        _ => None,
    }
}

/// Returns a hash of the reference of a group member.
pub(super) fn hash(target: &Target) -> u64 {
    let mut hasher = DefaultHasher::new();
    reference(target).hash(&mut hasher);
    hasher.finish()
}
