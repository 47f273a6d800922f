//! Changes of a service: the operations of many callers are drafted together and committed
//! together.

use super::group_service::Concerned;
use super::groups::note_groups;
use super::state::State;
use crate::refusal::Refusal;
use crate::store::{Change, StoreError};
use crate::tree::{Done, Draft, Operation, RequestedChange};

/// Outcomes of the operations of one commit, and the changes to be stored.
struct Drafted {
    outcomes: Vec<Result<Done, Refusal>>,
    changes: Vec<Change>,
}

impl State {
    /// Performs an operation, and returns when it is durable. Blocks, together with other callers that change something.
    pub(super) fn change(&self, operation: Operation) -> Result<Done, Refusal> {
        match self.group_service.get() {
            Some(groups) if operation.wanted.may_concern_groups() => {
                self.change_by(groups, operation)
            }
            _ => self.submit(operation),
        }
    }

    /// Performs an operation on the store, and returns when it is durable. Blocks as above.
    pub(super) fn submit(&self, operation: Operation) -> Result<Done, Refusal> {
        let lost = || Err(Refusal::Store(StoreError::Io("it has failed".to_owned())));
        let changed = || {
            let commit = |operations: Vec<_>| self.commit(&operations);
            self.commits.submit(operation, commit, lost)
        };
        self.metrics.changes.count(changed)
    }

    /// Performs operations and commits them. Only one thread at a time does so, so the tree does
    /// not change in between.
    fn commit(&self, operations: &[Operation]) -> Vec<Result<Done, Refusal>> {
        if let Some(shared) = self.store.shared() {
            return self.commit_shared(shared, operations);
        }
        let Drafted {
            mut outcomes,
            changes,
        } = self.drafted(operations);
        if changes.is_empty() {
            return outcomes;
        }
        match self.metrics.commits.count(|| self.store.commit(&changes)) {
            Ok(()) => {
                let contexts = self.observers.contexts(&changes);
                self.expiry.note(&changes);
                let concerned = Concerned::by(self, &changes);
                let mut tree = self.tree.write();
                // No group is resolved in between, as the tree is locked.
                note_groups(&self.groups, &changes);
                tree.apply(changes);
                self.keep_copies(&mut tree, &concerned);
                drop(tree);
                self.observers.changed(&contexts);
            }
            Err(error) => {
                tracing::error!("changes of names are refused: {error}");
                // Includes operations that were refused because of others in this draft.
                outcomes.fill(Err(Refusal::Store(error)));
            }
        }
        outcomes
    }

    fn drafted(&self, operations: &[Operation]) -> Drafted {
        let (tree, limits, access) = (self.tree.read(), self.limits.read(), self.access.read());
        let mut draft = Draft::new(&tree, &limits, &access);
        let outcomes = operations.iter().map(|one| {
            if matches!(one.wanted, RequestedChange::Expire) {
                draft.expire(&self.expiry.due());
            }
            draft.perform(one)
        });
        let outcomes = outcomes.collect();
        let changes = draft.changes();
        Drafted { outcomes, changes }
    }
}
