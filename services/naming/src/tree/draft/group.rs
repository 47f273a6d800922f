//! Changes of groups.

use super::{Draft, Result, signed};
use crate::refusal::Refusal;
use crate::store::{Choice, ContextId, Target};
use crate::tree::walk::View;
use crate::tree::{ENTRY, Removal, RequestedChange, bytes_of};

impl RequestedChange {
    /// Returns `true` if the operation's name is that of a member of a group.
    pub(super) fn is_of_members(&self) -> bool {
        matches!(
            self,
            RequestedChange::Join { .. } | RequestedChange::Leave { .. }
        )
    }
}

impl Draft<'_> {
    /// Makes a group and binds a name to it.
    pub(super) fn bind_group(&mut self, here: ContextId, key: &str, choice: Choice) -> Result<()> {
        if self.target(here, key).is_some() {
            return Err(Refusal::AlreadyBound);
        }
        self.check_bindings()?;
        let target = Target::Context(here);
        self.check_bytes(signed(ENTRY) + self.growth(here, key, Some(&target)))?;
        let context = self.create(here)?;
        self.bind(here, key, Target::Group { context, choice })
    }

    /// Binds a member to its id, replacing an earlier member with that id.
    pub(super) fn join(&mut self, group: ContextId, key: &str, target: &Target) -> Result<()> {
        let most = self.limits.members;
        if self.target(group, key).is_none() && self.members(group) >= most {
            return Err(Refusal::LimitExceeded(format!("{most} members in a group")));
        }
        self.bind(group, key, target.clone())
    }

    /// Removes bindings that are unchanged, and that no operation of this draft changes; that of a group with its members.
    pub(super) fn lapse(&mut self, bindings: &[Removal]) {
        for Removal {
            context,
            key,
            target,
        } in bindings
        {
            let slots = self.slots.get(context);
            let is_changed = slots.is_some_and(|slots| slots.contains_key(key));
            if !is_changed && self.has(*context) && self.target(*context, key) == Some(target) {
                self.set(*context, key, None);
                if let Target::Group { context, .. } = target {
                    self.dissolve(*context);
                }
            }
        }
    }

    /// Destroys the context of a group with all members.
    pub(super) fn dissolve(&mut self, group: ContextId) {
        let members = self.members(group);
        self.more_bindings -= isize::try_from(members).unwrap_or(isize::MAX);
        self.more_bytes -= self.member_bytes(group) + signed(ENTRY);
        // They are removed with the context; this draft's changes of them are void.
        self.slots.remove(&group);
        self.contexts.insert(group, None);
        self.more_contexts -= 1;
    }

    /// Returns how many bytes the bindings of the members take.
    fn member_bytes(&self, group: ContextId) -> isize {
        let slots = self.slots.get(&group).into_iter().flatten();
        let changes = slots.map(|(key, target)| {
            let bytes = |target: Option<&Target>| {
                let bytes = target.map_or(0, |target| bytes_of(key, target));
                signed(bytes)
            };
            bytes(target.as_ref()) - bytes(self.tree.target(group, key))
        });
        signed(self.tree.bytes_in(group)) + changes.sum::<isize>()
    }

    fn members(&self, group: ContextId) -> usize {
        let before = self.tree.bindings_of(group).unwrap_or_default();
        let Some(slots) = self.slots.get(&group) else {
            return before;
        };
        let changes = slots.iter().map(|(key, target)| {
            let was_bound = self.tree.target(group, key).is_some();
            isize::from(target.is_some()) - isize::from(was_bound)
        });
        before.saturating_add_signed(changes.sum())
    }
}
