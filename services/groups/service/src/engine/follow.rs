//! Changes of groups, for those who have copies of them.

use std::sync::Arc;

use punctual_groups_client::punctual_groups as own;

use super::Engine;
use super::groups::MOST_LISTED;
use crate::state::Group;

impl Engine {
    /// Returns groups that have changed since a revision, and those that were removed: so many at most, and fewer if they have
    /// many members.
    pub(crate) fn changes_since(&self, epoch: u64, revision: u64, how_many: usize) -> own::Changes {
        let (since, groups) = self.with(|state| {
            let mut members = 0;
            let since = state.revisions.since(epoch, revision, how_many, |id| {
                let group = state.groups.get(&id);
                let is_within = members < MOST_LISTED;
                members += group.map_or(0, |group| group.members.len());
                is_within
            });
            let found = |id: &u64| Some((*id, state.groups.get(id)?.clone()));
            let groups: Vec<(u64, Arc<Group>)> = since.changed.iter().filter_map(found).collect();
            (since, groups)
        });
        let shown = groups.iter().map(|(id, group)| self.shown(*id, group));
        own::Changes {
            epoch: since.epoch,
            revision: since.revision,
            is_anew: since.is_anew,
            has_more: since.has_more,
            changed: shown.collect(),
            removed: since.removed,
        }
    }
}
