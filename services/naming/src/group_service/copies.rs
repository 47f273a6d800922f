//! Copies of groups of the group service.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::ObjectRef;
use punctual::stub::{Block, ByteOrder, Coding, Encoder, Nilable};
use punctual_groups_client::punctual_groups::{Group, Member};

use super::group_of;
use crate::cos_naming::{Name, NameComponent};
use crate::name::{component, key, to_text};
use crate::store::{Change, ContextId, Target, Ttl};
use crate::tree::{Tree, View};

/// Copies of the groups that names are bound to, by the contexts of these groups.
#[derive(Debug, Default)]
pub(crate) struct Copies(Mutex<BTreeMap<ContextId, Copied>>);

#[derive(Debug, Default)]
struct Copied {
    /// Number that grows with the changes of the group's members.
    version: u32,
    reference: Option<ObjectRef>,
    /// True if the group was removed at the group service.
    is_gone: bool,
    members: Members,
}

/// Members of a group, by the keys of their bindings.
pub(crate) type Members = BTreeMap<Box<str>, Known>;

/// What is known of a member.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    location: Name,
    pub(crate) target: Target,
    /// True if clients may be led to it: it is alive, and neither draining nor, if there are others, shedding load.
    pub(crate) takes_clients: bool,
    /// Its load, and when it was reported.
    pub(crate) load: Option<(f32, Instant)>,
}

impl Copies {
    /// Puts a group in place of its copy, whatever that is.
    pub(crate) fn put(&self, context: ContextId, group: Group) {
        self.0.lock().insert(context, Copied::of(group));
    }

    /// Replaces the copy of a group, if there is one that is not of a later state. Returns the group's context then.
    pub(crate) fn update(&self, group: Group) -> Option<ContextId> {
        self.replace(group, |copy, group| {
            let age = group.version.wrapping_sub(copy.version).cast_signed();
            age >= 0 || copy.is_gone
        })
    }

    /// Replaces the copy of a group, if there is one. Returns the group's context then.
    pub(crate) fn renew(&self, group: Group) -> Option<ContextId> {
        self.replace(group, |_, _| true)
    }

    fn replace(&self, group: Group, may: impl Fn(&Copied, &Group) -> bool) -> Option<ContextId> {
        let mut copies = self.0.lock();
        let context = context_of(&copies, group.id)?;
        let copy = copies.get_mut(&context).filter(|copy| may(copy, &group))?;
        *copy = Copied::of(group);
        Some(context)
    }

    /// Notes that a group is not at the group service any more. Returns its context, if there is a copy.
    pub(crate) fn gone(&self, id: u64) -> Option<ContextId> {
        let mut copies = self.0.lock();
        let context = context_of(&copies, id)?;
        let gone = Copied {
            is_gone: true,
            ..Copied::default()
        };
        copies.insert(context, gone);
        Some(context)
    }

    /// Removes the copy of a group whose name is unbound.
    pub(crate) fn forget(&self, context: ContextId) {
        self.0.lock().remove(&context);
    }

    /// Returns whether there is a copy of a group, be it of one that is gone.
    pub(crate) fn has(&self, context: ContextId) -> bool {
        self.0.lock().contains_key(&context)
    }

    /// Returns the contexts of all groups with copies.
    pub(crate) fn contexts(&self) -> Vec<ContextId> {
        self.0.lock().keys().copied().collect()
    }

    /// Returns the numbers of all groups with copies that are not gone.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let copies = self.0.lock();
        let present = copies.iter().filter(|(_, copy)| !copy.is_gone);
        present.map(|(context, _)| group_of(*context)).collect()
    }

    /// Returns the reference of a group that is at the group service.
    pub(crate) fn reference(&self, context: ContextId) -> Option<ObjectRef> {
        self.0.lock().get(&context)?.reference.clone()
    }

    /// Returns the location of a member, or the one at which an object of that key joins.
    pub(crate) fn location(&self, context: ContextId, key: &str) -> Name {
        let copies = self.0.lock();
        let member = copies.get(&context).and_then(|copy| copy.members.get(key));
        member.map_or_else(|| vec![component(key)], |member| member.location.clone())
    }

    /// Returns whether the copy of a group is of this version.
    pub(crate) fn is_of(&self, context: ContextId, version: u32) -> bool {
        let copies = self.0.lock();
        let copy = copies.get(&context).filter(|copy| !copy.is_gone);
        copy.is_some_and(|copy| copy.version == version)
    }

    /// Makes the bindings of a group's context those of its members. Returns the changes that this took, and the members;
    /// `None` if there is no such group, or no copy of it.
    pub(crate) fn apply(
        &self,
        tree: &mut Tree,
        context: ContextId,
    ) -> Option<(Vec<Change>, Members)> {
        if !tree.groups().contains(&context) {
            return None;
        }
        let members = self.0.lock().get(&context)?.members.clone();
        let bound = tree.from(context, "");
        let left = bound.filter(|(key, _)| !members.contains_key(*key));
        let unbind = |(key, _): (&str, _)| Change::Unbind {
            context,
            key: key.into(),
        };
        let mut changes: Vec<Change> = left.map(unbind).collect();
        for (key, member) in &members {
            if tree.target(context, key) != Some(&member.target) {
                changes.push(Change::Bind {
                    context,
                    key: key.clone(),
                    target: member.target.clone(),
                });
            }
        }
        tree.apply(changes.clone());
        Some((changes, members))
    }
}

impl Copied {
    fn of(group: Group) -> Self {
        Self {
            version: group.version,
            reference: group.reference,
            is_gone: false,
            members: known(group.the_members),
        }
    }
}

fn context_of(copies: &BTreeMap<ContextId, Copied>, id: u64) -> Option<ContextId> {
    // A context differs from its group in the highest bit at most.
    let contexts = [id, id & !super::FIRST_CHOSEN];
    contexts.into_iter().find(|one| copies.contains_key(one))
}

fn known(members: Vec<Member>) -> Members {
    let takes = |one: &Member| one.is_alive && !one.is_draining;
    let all_shed = members.iter().all(|one| !takes(one) || one.is_alerted);
    // A location of one component has its id for a key, whatever text others have.
    let is_id = |one: &Member| matches!(&one.the_location[..], [one] if one.kind.is_empty());
    let (ids, others): (Vec<Member>, Vec<Member>) = members.into_iter().partition(is_id);
    let mut all = Members::new();
    for one in ids.into_iter().chain(others) {
        let age = Duration::from_millis(one.load_age_ms.into());
        let loaded_at = Instant::now().checked_sub(age);
        let takes_clients = takes(&one) && (all_shed || !one.is_alerted);
        let (Some(mut key), Some(target)) = (
            key_of(&one.the_location),
            target(one.reference.as_ref(), one.lease_ms),
        ) else {
            continue;
        };
        while all.contains_key(&*key) {
            key.insert(0, '/');
        }
        let known = Known {
            target,
            location: one.the_location,
            takes_clients,
            load: loaded_at.filter(|_| one.is_loaded).map(|at| (one.load, at)),
        };
        all.insert(key.into(), known);
    }
    all
}

/// Returns the key of a member: the id of a location of one component without a kind, or else the location as text.
fn key_of(location: &[NameComponent]) -> Option<String> {
    match location {
        [] => None,
        [one] if one.kind.is_empty() => Some(key(one).into_owned()),
        location => Some(to_text(location)),
    }
}

/// Returns the binding of a member.
fn target(object: Option<&ObjectRef>, lease_ms: u32) -> Option<Target> {
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    ObjectRef::marshal_nilable(object, &mut out).ok()?;
    let reference = out.into_block().to_vec().into();
    Some(match Ttl::from_millis(lease_ms) {
        Some(ttl) => Target::Temporary { reference, ttl },
        // A shorter lease is none that a binding may have.
        None => Target::Object(reference),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(ids: &[&str]) -> Member {
        let component = |id: &&str| component(id);
        Member {
            the_location: ids.iter().map(component).collect(),
            reference: None,
            is_primary: false,
            is_alive: true,
            is_draining: false,
            is_alerted: false,
            lease_ms: 0,
            is_loaded: true,
            load: 1.5,
            load_age_ms: 20_000,
            chosen: 0,
        }
    }

    #[test]
    fn members_at_locations_of_equal_texts_have_keys_of_their_own() {
        let (two, id) = (&["host", "m"][..], &["host/m"][..]);
        let members = known(vec![member(two), member(id)]);
        let keys: Vec<(&str, usize)> = members
            .iter()
            .map(|(key, known)| (&**key, known.location.len()))
            .collect();
        assert_eq!(keys, [("/host/m", 2), ("host/m", 1)]);
        assert!(known(vec![member(two)]).contains_key("host/m"));
    }

    #[test]
    fn a_load_is_as_old_as_the_group_service_says() {
        let (load, at) = known(vec![member(&["m"])])["m"].load.unwrap();
        assert_eq!(load, 1.5);
        assert!(at.elapsed() >= Duration::from_secs(20));
    }
}
