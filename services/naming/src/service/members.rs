//! Access to the members of groups for servants and for the checking thread.

use std::time::Duration;

use super::NamingService;
use super::groups::{InTree, Member, hash};
use crate::access::Requester;
use crate::refusal::Refusal;
use crate::store::ContextId;
use crate::tree::{Removal, View};

impl NamingService {
    /// Returns the ids of the contexts of all object groups.
    pub(crate) fn groups(&self) -> Vec<ContextId> {
        self.0.tree.read().groups().iter().copied().collect()
    }

    /// Returns the members of an object group, with their state.
    pub(crate) fn members(&self, context: ContextId) -> Vec<Member> {
        let tree = self.0.tree.read();
        let members = InTree {
            tree: &tree,
            context,
        };
        let statuses = self.0.groups.statuses(&context, &members).into_iter();
        let member = statuses.map(|(key, target, status)| Member {
            key: key.into(),
            target: target.clone(),
            load: status.load,
            is_alive: status.is_alive,
        });
        member.collect()
    }

    /// Records the load that a member reports, here and at the group service, if one has the groups. Returns false if there is
    /// no such member.
    pub(crate) fn note_load(
        &self,
        context: ContextId,
        key: &str,
        load: f64,
        by: &Requester,
    ) -> Result<bool, Refusal> {
        let (tree, access) = (self.0.tree.read(), self.0.access.read());
        if !access.permits(&*tree, context, by) {
            return Err(Refusal::NotPermitted);
        }
        if tree.target(context, key).is_none() {
            return Ok(false);
        }
        let members = InTree {
            tree: &tree,
            context,
        };
        self.0.groups.note_load(context, &members, key, load);
        drop((tree, access));
        match self.0.group_service.get() {
            Some(groups) => self.0.report_there(groups, context, key, load),
            None => Ok(true),
        }
    }

    /// Records whether a member has answered. Returns the time for which it has been dead, if it
    /// is.
    pub(crate) fn note_answer(
        &self,
        context: ContextId,
        member: &Member,
        has_answered: bool,
    ) -> Option<Duration> {
        let tree = self.0.tree.read();
        if tree.target(context, &member.key) != Some(&member.target) {
            return None;
        }
        let members = InTree {
            tree: &tree,
            context,
        };
        let asked = hash(&member.target);
        let groups = &self.0.groups;
        groups.note_answer(context, &members, &member.key, asked, has_answered)
    }

    /// Removes those of the given members whose bindings have not changed meanwhile. Blocks.
    pub(crate) fn remove(&self, dead: Vec<Removal>) -> Result<(), Refusal> {
        self.0.remove_bindings(dead)
    }
}
