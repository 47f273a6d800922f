//! Removal of groups whose names are unbound from the group service.
//!
//! The name is unbound first: what fails then has changed nothing. Each server that learns of it has the group service remove
//! the group, and tries again until that is done: so none is left that another server has made again before it knew, or whose
//! removal has failed.

use super::state::State;
use crate::group_service::{GroupService, group_of};
use crate::refusal::Refusal;
use crate::store::{Change, ContextId};
use crate::tree::{Done, Operation};

type Refused<T> = Result<T, Refusal>;

impl State {
    /// Unbinds a name, and removes its group, if it is one's.
    pub(super) fn unbind(&self, groups: &GroupService, operation: Operation) -> Refused<Done> {
        let changes = self.drafted_alone(&operation)?;
        let destroyed = changes.into_iter().find_map(|change| match change {
            Change::Destroy(context) => Some(context),
            _ => None,
        });
        let Some(context) = destroyed else {
            return self.submit(operation);
        };
        // It is refused while the group service is away: the group would stay there if this server ended.
        groups.calls.group(group_of(context))?;
        let done = self.submit(operation)?;
        // The name may have led elsewhere by then.
        let is_unbound = groups.unbound.lock().contains(&context);
        if is_unbound && let Err(refusal) = self.remove_unbound(groups, context) {
            tracing::warn!("the group of a name that is unbound is not removed yet: {refusal}");
        }
        Ok(done)
    }

    /// Has the group service remove a group whose name is unbound.
    pub(super) fn remove_unbound(&self, groups: &GroupService, context: ContextId) -> Refused<()> {
        // It is not adopted meanwhile by one who has seen it before its name was unbound.
        let _making = groups.making.lock();
        let id = group_of(context);
        match groups.calls.remove(id) {
            Err(refusal) if refusal.may_pass() => return Err(refusal),
            Err(refusal) => tracing::warn!("group {id} has no name any more, and stays: {refusal}"),
            Ok(()) => {}
        }
        groups.unbound.lock().remove(&context);
        Ok(())
    }
}
