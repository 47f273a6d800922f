//! Groups of names that a group service has: operations on them, and what the tree shows of them.
//!
//! A group of the store, of an earlier version or of a time without a group service, is adopted by the group service with its
//! members, at once; then they are removed from the store. Both may be repeated. A member that the store has still, and the
//! group service has not, joins then: a server of the same names that was not told the group service has added it. So none is
//! lost; one that has left just before a crash in between is there again.

use punctual::{CompletionStatus, ObjectRef};
use punctual_groups_client::punctual_groups::Group;

use super::groups::InTree;
use super::state::State;
use crate::access::Requester;
use crate::group_service::{GroupService, group_of};
use crate::name::component;
use crate::refusal::Refusal;
use crate::store::{Change, Choice, ContextId, ROOT, Target};
use crate::tree::{Done, Draft, Operation, Place, Removal, RequestedChange, Tree, View, walk_to};

/// Maximum number of bindings that one operation removes.
const AT_ONCE: usize = 64;

type Refused<T> = Result<T, Refusal>;

/// Keys and targets of bindings.
type Bindings = Vec<(Box<str>, Target)>;

impl RequestedChange {
    /// Returns whether the group service, if there is one, has a part in the change.
    pub(super) fn may_concern_groups(&self) -> bool {
        matches!(
            self,
            Self::BindGroup { .. } | Self::Join { .. } | Self::Leave { .. } | Self::Unbind { .. }
        )
    }
}

impl State {
    /// Performs an operation on a group that the group service has, or on a name that may be one's.
    pub(super) fn change_by(&self, groups: &GroupService, operation: Operation) -> Refused<Done> {
        match &operation.wanted {
            RequestedChange::BindGroup { .. } => self.bind_group(groups, operation),
            RequestedChange::Unbind { .. } => self.unbind(groups, operation),
            RequestedChange::Join { .. } | RequestedChange::Leave { .. } => {
                self.change_member(groups, &operation)
            }
            _ => self.submit(operation),
        }
    }

    fn bind_group(&self, groups: &GroupService, operation: Operation) -> Refused<Done> {
        let RequestedChange::BindGroup { name, .. } = &operation.wanted else {
            return self.submit(operation);
        };
        let name = name.clone();
        let context = operation.context;
        let done = self.submit(operation)?;
        let made = {
            let tree = self.tree.read();
            let (here, key) = walk_to(&*tree, context, &name, Place::Context)?;
            let target = tree.target(here, &key);
            target.map(|target| (here, key.into(), target.clone()))
        };
        let Some((here, key, target)) = made else {
            return Ok(done);
        };
        let Target::Group { context, .. } = target else {
            return Ok(done);
        };
        let Err(refusal) = self.adopted(groups, context) else {
            return Ok(done);
        };
        // One that may have been made is adopted when the group service can be reached again.
        if !may_be_done(&refusal) {
            let undone = self.remove_bindings(vec![Removal {
                context: here,
                key,
                target,
            }]);
            match undone {
                Ok(()) => groups.unbound.lock().remove(&context),
                Err(error) => {
                    tracing::warn!("a name stays bound to a group that could not be made: {error}");
                    false
                }
            };
        }
        Err(refusal)
    }

    fn change_member(&self, groups: &GroupService, operation: &Operation) -> Refused<Done> {
        for change in self.drafted_alone(operation)? {
            match change {
                Change::Bind {
                    context,
                    key,
                    target,
                } => self.join_there(groups, context, &key, &target)?,
                Change::Unbind { context, key } => {
                    let group = self.group_there(groups, context)?;
                    let location = groups.copies.location(context, &key);
                    // One that has gone meanwhile is as good as one that leaves.
                    groups.calls.leave(Some(&group), &location)?;
                    self.refresh(groups, context);
                }
                Change::Create { .. } | Change::Destroy(_) => {}
            }
        }
        Ok(Done::It)
    }

    fn join_there(
        &self,
        groups: &GroupService,
        context: ContextId,
        key: &str,
        target: &Target,
    ) -> Refused<()> {
        let group = self.group_there(groups, context)?;
        let location = groups.copies.location(context, key);
        let version = groups.calls.join(Some(&group), &location, target)?;
        // A renewal has changed nothing.
        if !groups.copies.is_of(context, version) {
            self.refresh(groups, context);
        }
        Ok(())
    }

    /// Reports the load of a member to the group service. Returns whether there is such a member.
    pub(super) fn report_there(
        &self,
        groups: &GroupService,
        context: ContextId,
        key: &str,
        load: f64,
    ) -> Refused<bool> {
        let location = groups.copies.location(context, key);
        groups.calls.report(group_of(context), &location, load)
    }

    /// Returns the reference of a group, which is made if it is not there.
    fn group_there(&self, groups: &GroupService, context: ContextId) -> Refused<ObjectRef> {
        if let Some(reference) = groups.copies.reference(context) {
            return Ok(reference);
        }
        self.adopted(groups, context)?;
        groups.copies.reference(context).ok_or(Refusal::NoMember)
    }

    /// Has the group service adopt a group with the members that the store has of it, which are removed from there.
    pub(super) fn adopted(&self, groups: &GroupService, context: ContextId) -> Refused<()> {
        let _making = groups.making.lock();
        if groups.copies.reference(context).is_some() {
            return Ok(());
        }
        let Some((choice, members)) = self.stored_group(context) else {
            // It was unbound meanwhile.
            return Ok(());
        };
        let founders = members
            .iter()
            .map(|(key, target)| (vec![component(key)], target.clone()))
            .collect();
        let id = group_of(context);
        let mut group = groups.calls.adopt(id, choice, founders)?;
        if !groups.copies.has(context) {
            if self.join_missing(groups, &group, context, &members)? {
                group = groups.calls.group(id)?.ok_or(Refusal::NoMember)?;
            }
            let stored = members.into_iter().map(|(key, target)| Removal {
                context,
                key,
                target,
            });
            // If that fails, it is adopted again, with no other effect than that they are removed.
            groups.moved.lock().insert(context);
            self.remove_bindings(stored.collect())?;
            groups.moved.lock().remove(&context);
        }
        groups.copies.put(context, group);
        self.show_copies(&[context]);
        Ok(())
    }

    /// Has those members join a group that the store has and the group service has not, though it has the group: a server that
    /// was not told the group service has added them. Returns whether there are any.
    fn join_missing(
        &self,
        groups: &GroupService,
        group: &Group,
        context: ContextId,
        members: &Bindings,
    ) -> Refused<bool> {
        let is_there = |key: &str| {
            let location = [component(key)];
            let mut there = group.the_members.iter();
            there.any(|member| member.the_location == location)
        };
        let mut missing = members.iter().filter(|(key, _)| !is_there(key)).peekable();
        // What this server has moved before has left since.
        if missing.peek().is_none() || groups.moved.lock().contains(&context) {
            return Ok(false);
        }
        if let Some(shared) = self.store.shared() {
            shared.catch_up().map_err(Refusal::Store)?;
        }
        let mut has_joined = false;
        for (key, target) in missing {
            // Another server may have moved it, and removed it from the store.
            if self.tree.read().target(context, key) == Some(target) {
                let location = vec![component(key)];
                groups
                    .calls
                    .join(group.reference.as_ref(), &location, target)?;
                has_joined = true;
            }
        }
        Ok(has_joined)
    }

    /// Returns the choice of a group, and the members that the tree has of it.
    fn stored_group(&self, context: ContextId) -> Option<(Choice, Bindings)> {
        let tree = self.tree.read();
        let home = tree.home(context)?;
        let choice = tree.from(home, "").find_map(|(_, target)| match target {
            Target::Group {
                context: of,
                choice,
            } if *of == context => Some(*choice),
            _ => None,
        })?;
        let members = tree.from(context, "");
        let members = members.map(|(key, target)| (key.into(), target.clone()));
        Some((choice, members.collect()))
    }

    /// Removes those of the given bindings that have not changed meanwhile. Blocks.
    pub(super) fn remove_bindings(&self, mut bindings: Vec<Removal>) -> Refused<()> {
        while !bindings.is_empty() {
            let rest = bindings.split_off(bindings.len().min(AT_ONCE));
            self.submit(Operation {
                context: ROOT,
                wanted: RequestedChange::Lapse(std::mem::replace(&mut bindings, rest)),
                by: Requester::Process,
            })?;
        }
        Ok(())
    }

    /// Asks for a group, so that the next who resolves its name gets what a change has made of it.
    fn refresh(&self, groups: &GroupService, context: ContextId) {
        let id = group_of(context);
        match groups.calls.group(id) {
            Ok(Some(group)) => groups.copies.update(group),
            Ok(None) => groups.copies.gone(id),
            Err(refusal) => {
                // The change is done, and will be followed as those of others are.
                tracing::debug!("group {id} has changed, and is not known anew yet: {refusal}");
                return;
            }
        };
        self.show_copies(&[context]);
    }

    /// Returns the changes of an operation, which is not performed.
    pub(super) fn drafted_alone(&self, operation: &Operation) -> Refused<Vec<Change>> {
        let draft = || {
            let (tree, limits, access) = (self.tree.read(), self.limits.read(), self.access.read());
            let mut draft = Draft::new(&tree, &limits, &access);
            draft.perform(operation).map(|_| draft.changes())
        };
        match (draft(), self.store.shared()) {
            // Another server may have made what is missing here.
            (Err(_), Some(shared)) => {
                shared.catch_up().map_err(Refusal::Store)?;
                draft()
            }
            (drafted, _) => drafted,
        }
    }

    /// Has the tree show the copies of these groups.
    pub(super) fn show_copies(&self, contexts: &[ContextId]) {
        if contexts.is_empty() {
            return;
        }
        let mut tree = self.tree.write();
        let changes = self.copy_members(&mut tree, contexts);
        drop(tree);
        self.observers.changed(&self.observers.contexts(&changes));
    }

    /// Puts the members of these groups into the tree as the copies have them, and notes their loads and lives. Returns the
    /// changes.
    pub(super) fn copy_members(&self, tree: &mut Tree, contexts: &[ContextId]) -> Vec<Change> {
        let mut all = Vec::new();
        let Some(groups) = self.group_service.get() else {
            return all;
        };
        for context in contexts.iter().copied() {
            let Some((changes, known)) = groups.copies.apply(tree, context) else {
                continue;
            };
            all.extend(changes);
            let members = InTree { tree, context };
            for (key, member) in known {
                let is_alive = member.takes_clients;
                self.groups.note_life(context, &members, &key, is_alive);
                if let Some((load, at)) = member.load {
                    let load = f64::from(load);
                    self.groups.note_load_of(context, &members, &key, load, at);
                }
            }
        }
        all
    }

    /// Does what follows for copies from changes that the store has: members in it do not count, and groups may be gone.
    pub(super) fn keep_copies(&self, tree: &mut Tree, concerned: &Concerned) {
        let Some(groups) = self.group_service.get() else {
            return;
        };
        for context in &concerned.destroyed {
            groups.name_is_unbound(*context);
        }
        self.copy_members(tree, &concerned.contexts);
    }

    /// Has a new tree show all copies, and forgets those of groups that it has not.
    pub(super) fn copy_all(&self, tree: &mut Tree) {
        let Some(groups) = self.group_service.get() else {
            return;
        };
        for context in groups.copies.contexts() {
            if !tree.groups().contains(&context) {
                groups.name_is_unbound(context);
            }
        }
        let contexts: Vec<ContextId> = tree.groups().iter().copied().collect();
        self.copy_members(tree, &contexts);
    }
}

/// Returns whether the group service may have done what it was asked for.
fn may_be_done(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::GroupService(exception) => exception.completed() != CompletionStatus::No,
        _ => false,
    }
}

/// Contexts that changes concern.
#[derive(Debug, Default)]
pub(super) struct Concerned {
    contexts: Vec<ContextId>,
    /// Those of groups that are destroyed.
    destroyed: Vec<ContextId>,
}

impl Concerned {
    /// Returns the contexts of changes that copies of groups may depend on; none without a group service.
    pub(super) fn by(state: &State, changes: &[Change]) -> Self {
        let mut concerned = Self::default();
        if state.group_service.get().is_none() {
            return concerned;
        }
        for change in changes {
            match change {
                Change::Bind { context, .. } | Change::Unbind { context, .. } => {
                    concerned.contexts.push(*context);
                }
                Change::Destroy(context) => {
                    if state.tree.read().groups().contains(context) {
                        concerned.destroyed.push(*context);
                    }
                }
                Change::Create { .. } => {}
            }
        }
        concerned.contexts.sort_unstable();
        concerned.contexts.dedup();
        concerned
    }
}
