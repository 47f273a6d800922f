//! Changes in a store that other servers change, too.
//!
//! The tree follows the store's reports. Operations are drafted on it and committed together with
//! the facts that they depend on; if those are no longer true, the tree has been updated by then,
//! and the operations are drafted again. An operation is refused only after the tree has been
//! brought up to date, so that a name which another server has just unbound can be bound here.

use std::sync::{Arc, Weak};

use super::group_service::Concerned;
use super::groups::note_groups;
use super::state::State;
use crate::refusal::Refusal;
use crate::store::{Change, Fact, Follower, Loading, SharedStore, StoreError};
use crate::tree::{Done, Draft, Operation, RequestedChange, TreeBuilder, View};

/// Maximum number of attempts at operations whose commits fail because another server has changed a
/// fact.
const ATTEMPTS: usize = 32;

/// Length of the names and references in a commit, in bytes, from which on no further operation is
/// added. etcd accepts requests of up to 1.5 MiB.
const MOST_BYTES: usize = 256 << 10;

type Outcomes = Vec<Result<Done, Refusal>>;

/// Receiver of the changes that the store reports; applies them to the tree of names in memory.
struct Following(Weak<State>);

/// Makes the store report changes to the service, if other servers change the store, too.
pub(super) fn follow(service: &Arc<State>) -> Result<(), StoreError> {
    match service.store.shared() {
        Some(shared) => shared.follow(Arc::new(Following(Arc::downgrade(service)))),
        None => Ok(()),
    }
}

impl Follower for Following {
    fn changed(&self, changes: Vec<Change>) {
        if let Some(service) = self.0.upgrade() {
            let contexts = service.observers.contexts(&changes);
            let concerned = Concerned::by(&service, &changes);
            let mut tree = service.tree.write();
            note_groups(&service.groups, &changes);
            tree.apply(changes);
            service.keep_copies(&mut tree, &concerned);
            drop(tree);
            service.observers.changed(&contexts);
        }
    }

    fn replaced(
        &self,
        load: &mut dyn FnMut(&mut dyn Loading) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut growing = TreeBuilder::new();
        load(&mut growing)?;
        let tree = growing.grown();
        let tree = tree.ok_or_else(|| StoreError::Damaged("contexts are missing".to_owned()))?;
        if let Some(service) = self.0.upgrade() {
            service.groups.retain(|group| tree.has(*group));
            let mut shown = service.tree.write();
            *shown = tree;
            service.copy_all(&mut shown);
            drop(shown);
            service.observers.replaced();
        }
        Ok(())
    }
}

/// Outcomes of some operations, and the changes to be committed for them.
struct Drafted {
    outcomes: Outcomes,
    facts: Vec<Fact>,
    changes: Vec<Change>,
}

impl State {
    /// Performs operations and commits them, in as many commits as necessary.
    pub(super) fn commit_shared(
        &self,
        shared: &dyn SharedStore,
        operations: &[Operation],
    ) -> Outcomes {
        let mut outcomes = Vec::with_capacity(operations.len());
        while let Some(rest) = operations
            .get(outcomes.len()..)
            .filter(|rest| !rest.is_empty())
        {
            let done = self.commit_some(shared, rest);
            outcomes.extend(done.unwrap_or_else(|(count, error)| {
                (0..count)
                    .map(|_| Err(Refusal::Store(error.clone())))
                    .collect()
            }));
        }
        outcomes
    }

    /// Performs as many of the first operations as fit into one commit; an error comes with the
    /// number of operations that it concerns.
    fn commit_some(
        &self,
        shared: &dyn SharedStore,
        operations: &[Operation],
    ) -> Result<Outcomes, (usize, StoreError)> {
        let mut has_caught_up = false;
        for _ in 0..ATTEMPTS {
            let drafted = self.drafted_shared(operations, shared.most());
            let count = drafted.outcomes.len();
            let failed = |error| (count, error);
            let is_refused = drafted.outcomes.iter().any(Result::is_err);
            if is_refused && !has_caught_up {
                shared.catch_up().map_err(failed)?;
                has_caught_up = true;
                continue;
            }
            if drafted.changes.is_empty() {
                return Ok(drafted.outcomes);
            }
            let commit = || shared.commit_if(&drafted.facts, &drafted.changes);
            let is_done = self.metrics.commits.count(commit);
            if is_done.map_err(failed)? {
                return Ok(drafted.outcomes);
            }
            has_caught_up = true;
        }
        let why = "too many concurrent changes of the same names by other servers".to_owned();
        Err((1, StoreError::Away(why)))
    }

    /// Drafts as many of the operations as fit into one commit, at least one.
    fn drafted_shared(&self, operations: &[Operation], most: usize) -> Drafted {
        let (tree, limits, access) = (self.tree.read(), self.limits.read(), self.access.read());
        let mut draft = Draft::noting(&tree, &limits, &access);
        let (mut outcomes, mut bytes) = (Outcomes::new(), 0);
        for operation in operations {
            // Destroying a context depends on the absence of bindings before the commit, so it must
            // come first.
            let is_alone = matches!(operation.wanted, RequestedChange::Destroy);
            let is_next = draft.size() + operation.size() <= most && bytes < MOST_BYTES;
            if !outcomes.is_empty() && (is_alone || !is_next) {
                break;
            }
            if operation.size() > most {
                let most = format!("names of {most} components in this store");
                outcomes.push(Err(Refusal::LimitExceeded(most)));
                continue;
            }
            bytes += operation.bytes();
            outcomes.push(draft.perform(operation));
            if is_alone {
                break;
            }
        }
        let facts = draft.facts();
        Drafted {
            outcomes,
            facts,
            changes: draft.changes(),
        }
    }
}
