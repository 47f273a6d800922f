//! Changes by administrators and members: groups, members, properties.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, Instant};

use punctual::{Interface, ObjectRef, about_to_block};
use punctual_groups_client::portable_group::{MemberAlreadyPresent, ObjectNotAdded, Property};
use punctual_groups_client::punctual_groups as own;

use super::{Engine, failover, records};
use crate::forward::Routes;
use crate::names::{Key, location};
use crate::properties::Properties;
use crate::refusal::{Refusal, Refused};
use crate::state::{Creation, Group, Member};
use crate::storage::{Kept, removals, update_number};

/// Number of members after which a list ends.
pub(super) const MOST_LISTED: usize = 1_000;

/// Which properties are meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of<'t> {
    AllTypes,
    Type(&'t str),
}

impl Engine {
    /// Makes a group without members.
    ///
    /// # Errors
    /// Those of properties; IMP_LIMIT, PERSIST_STORE.
    pub(crate) fn create(
        &self,
        type_id: &str,
        is_balanced: bool,
        properties: &[Property],
    ) -> Refused<(u64, Arc<Group>)> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        let (id, group) = self.with(|state| {
            if type_id.len() > state.limits.name_bytes {
                return Err(Refusal::bad_parameter("the type's id is too long"));
            }
            if state.groups.len() >= state.limits.groups {
                return Err(Refusal::limit("groups"));
            }
            let mut of_its_own = Properties::default();
            of_its_own.set(properties, &state.limits)?;
            let group = Group {
                settings: state.settings(type_id, &of_its_own),
                type_id: type_id.to_owned(),
                is_balanced,
                own: of_its_own,
                version: 1,
                primary: None,
                next_token: 1,
                former_lease: None,
                members: BTreeMap::new(),
            };
            Ok((state.next, Arc::new(group)))
        })?;
        self.store(vec![
            Kept::Next(id + 1),
            Kept::Group(id, Some(records::group(&group)?)),
        ])?;
        self.with(|state| {
            state.next = id + 1;
            state.put(id, group.clone(), Instant::now());
        });
        drop(in_order);
        self.wake();
        Ok((id, group))
    }

    /// Removes a group with its members and its state.
    ///
    /// # Errors
    /// ObjectGroupNotFound, PERSIST_STORE.
    pub(crate) fn remove_group(&self, id: u64) -> Refused<Arc<Group>> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        let group = self.group(id)?;
        let slots = self.with(|state| state.states.get(&id).map_or(0, |stored| stored.slots));
        let mut changes = vec![Kept::Group(id, None), Kept::State(id, None)];
        if slots > 0 {
            changes.push(Kept::Log(id, None));
        }
        self.store(changes)?;
        // They count no more, and those that stay are removed at the next start.
        for few in removals(
            &(0..slots)
                .filter_map(|slot| update_number(id, slot))
                .collect::<Vec<_>>(),
        ) {
            let _stays = self.store(few);
        }
        let waiting = self.with(|state| state.remove(id));
        self.0.knowledge.forget(&id);
        drop(in_order);
        self.wake();
        for pending in waiting {
            crate::forward::answer(pending, self.route(id));
        }
        Ok(group)
    }

    /// Adds a member without a lease.
    ///
    /// # Errors
    /// ObjectGroupNotFound; MemberAlreadyPresent at its location; ObjectNotAdded of one that is nil; IMP_LIMIT, PERSIST_STORE.
    pub(crate) fn add(
        &self,
        id: u64,
        key: &Key,
        object: Option<&ObjectRef>,
        creation: Option<Creation>,
    ) -> Refused<Arc<Group>> {
        let object = object.ok_or(Refusal::ObjectNotAdded(ObjectNotAdded))?;
        let most = self.check_reference(id, key, object)?;
        let (_, group) = self.change(id, |group| {
            if group.members.contains_key(key) {
                return Err(Refusal::MemberAlreadyPresent(MemberAlreadyPresent));
            }
            if group.members.len() >= most {
                return Err(Refusal::limit("members"));
            }
            insert(group, key, object, None, creation);
            Ok(())
        })?;
        Ok(group)
    }

    /// Adds a member with a lease, in place of one at its location. In a balanced group, one that lives and is the same object with
    /// the same lease is renewed: it stays drained if it is, and nothing is stored.
    ///
    /// # Errors
    /// ObjectGroupNotFound; Refused for a bad lease, a nil member, and beyond the limit; PERSIST_STORE.
    pub(crate) fn join(
        &self,
        id: u64,
        key: &Key,
        object: Option<&ObjectRef>,
        lease_ms: u32,
    ) -> Refused<(u64, Arc<Group>)> {
        let object = object.ok_or_else(|| Refusal::refused("the member is nil"))?;
        let most = self.check_reference(id, key, object)?;
        let shortest = self.with(|state| state.limits.shortest_lease);
        let lease = failover::lease(lease_ms, shortest)?;
        if let Some(token) = self.same_member(id, key, object, lease)?
            && self.renew(id, key, token, &[]).is_ok()
        {
            return Ok((token, self.group(id)?));
        }
        self.change(id, |group| {
            if !group.members.contains_key(key) && group.members.len() >= most {
                return Err(Refusal::refused("the limit of members is reached"));
            }
            if group.primary.as_ref() == Some(key) {
                // The process before may still run.
                group.primary = None;
            }
            Ok(insert(group, key, object, lease, None))
        })
    }

    /// Returns the token of the member at a location of a balanced group, if it lives and is this object with this lease. A
    /// member of replicas that joins again has begun anew: it has no state, and is not primary.
    fn same_member(
        &self,
        id: u64,
        key: &Key,
        object: &ObjectRef,
        lease: Option<Duration>,
    ) -> Refused<Option<u64>> {
        let group = self.group(id)?;
        let member = group.members.get(key).filter(|_| group.is_balanced);
        let same = member.filter(|one| {
            let lives = || self.with(|state| state.lives(id, key, Instant::now()));
            one.lease == lease && one.reference.ior() == object.ior() && lives()
        });
        Ok(same.map(|member| member.token))
    }

    /// Returns the maximum number of members of a group, if there may be another member and a reference may be its own.
    fn check_reference(&self, id: u64, key: &Key, object: &ObjectRef) -> Refused<usize> {
        let (limits, members) = self.with(|state| {
            let members = state.groups.values().map(|group| group.members.len());
            let group = state.groups.get(&id);
            let replaced = group.is_some_and(|group| group.members.contains_key(key));
            (state.limits, members.sum::<usize>() - usize::from(replaced))
        });
        check_length(object, limits.name_bytes)?;
        match members >= limits.all_members {
            true => Err(Refusal::limit("members of all groups")),
            false => Ok(limits.members),
        }
    }

    /// Removes a member: of this token, or of any.
    ///
    /// # Errors
    /// ObjectGroupNotFound, MemberNotFound, PERSIST_STORE.
    pub(crate) fn remove_member(
        &self,
        id: u64,
        key: &Key,
        token: Option<u64>,
    ) -> Refused<Arc<Group>> {
        if let Some(token) = token {
            // A member that leaves by itself serves no more; of another, the lease has to end first.
            self.with(|state| {
                let live = state.live_mut(id, key).filter(|live| live.token == token);
                if let Some(live) = live.filter(|live| live.until.is_some()) {
                    live.until = Some(Instant::now());
                }
            });
        }
        let (removed, group) = self.change(id, |group| {
            let member = group.members.get(key).cloned();
            let member = member.filter(|member| token.is_none_or(|token| member.token == token));
            let member = member.ok_or_else(Refusal::no_member)?;
            failover::remove(group, key);
            Ok(member)
        })?;
        if let Some(creation) = removed.creation {
            self.delete_soon(creation);
        }
        Ok(group)
    }

    /// Leads no new clients to a member, or leads them there again. A primary hands over first, if another member lives.
    ///
    /// # Errors
    /// ObjectGroupNotFound, MemberNotFound, PERSIST_STORE.
    pub(crate) fn drain(&self, id: u64, key: &Key, is_draining: bool) -> Refused<()> {
        let (was_primary, group) = self.change(id, |group| {
            let was_primary = group.primary.as_ref() == Some(key);
            let member = group.members.get_mut(key).ok_or_else(Refusal::no_member)?;
            member.is_draining = is_draining;
            group.version = group.version.wrapping_add(1);
            Ok(was_primary)
        })?;
        let now = Instant::now();
        let has_other = self.with(|state| {
            let mut others = group.members.iter().filter(|(other, _)| *other != key);
            others.any(|(other, member)| !member.is_draining && state.lives(id, other, now))
        });
        match was_primary && is_draining && has_other {
            true => self.hand_over(id, Some(key), None),
            false => Ok(()),
        }
    }

    /// Changes properties of one type, or of all; those of groups follow at once.
    ///
    /// # Errors
    /// Those of `edit`; IMP_LIMIT, PERSIST_STORE.
    pub(crate) fn change_type(
        &self,
        of: Of<'_>,
        edit: impl FnOnce(&mut Properties, &crate::limits::Limits) -> Refused<()>,
    ) -> Refused<()> {
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        let (number, type_id, properties) = self.with(|state| {
            let last = state.types.values().map(|(number, _)| *number).max();
            let (number, type_id, mut properties) = match of {
                Of::AllTypes => (0, "", state.defaults.clone()),
                Of::Type(type_id) => match state.types.get(type_id) {
                    Some((number, properties)) => (*number, type_id, properties.clone()),
                    None => (last.unwrap_or(0) + 1, type_id, Properties::default()),
                },
            };
            if matches!(of, Of::Type(id) if id.is_empty() || id.len() > state.limits.name_bytes) {
                return Err(Refusal::bad_parameter("the type's id is empty or too long"));
            }
            edit(&mut properties, &state.limits)?;
            let is_new = number > 0 && !state.types.contains_key(type_id);
            if is_new && !properties.0.is_empty() && state.types.len() >= state.limits.types {
                return Err(Refusal::limit("types with properties"));
            }
            Ok((number, type_id.to_owned(), properties))
        })?;
        let record = match properties.0.is_empty() {
            true => None,
            false => Some(crate::kept::OfType {
                type_id: type_id.clone(),
                props: records::properties(&properties)?,
            }),
        };
        self.store(vec![Kept::Type(number, record)])?;
        self.with(|state| {
            match (number, properties.0.is_empty()) {
                (0, _) => state.defaults = properties,
                (_, true) => {
                    state.types.remove(&type_id);
                }
                (_, false) => {
                    state.types.insert(type_id.clone(), (number, properties));
                }
            }
            let now = Instant::now();
            let of_type = |group: &Group| number == 0 || group.type_id == type_id;
            let groups: Vec<_> = state
                .groups
                .iter()
                .filter(|(_, group)| of_type(group))
                .collect();
            let groups: Vec<(u64, Arc<Group>)> = groups
                .into_iter()
                .map(|(id, group)| (*id, group.clone()))
                .collect();
            for (id, group) in groups {
                let mut group = Group::clone(&group);
                group.settings = state.settings(&group.type_id, &group.own);
                state.put(id, Arc::new(group), now);
            }
        });
        drop(in_order);
        self.wake();
        Ok(())
    }

    /// Returns what clients see of groups whose ids are above one: so many at most, and fewer if they have many members.
    pub(crate) fn list(&self, after: u64, how_many: usize) -> own::Groups {
        let mut members = 0;
        let groups: Vec<(u64, Arc<Group>)> = self.with(|state| {
            let above = (Bound::Excluded(after), Bound::Unbounded);
            let groups = state.groups.range(above).take(how_many);
            let groups = groups.take_while(|(_, group)| {
                let is_within = members < MOST_LISTED;
                members += group.members.len();
                is_within
            });
            groups.map(|(id, group)| (*id, group.clone())).collect()
        });
        groups
            .iter()
            .map(|(id, group)| self.shown(*id, group))
            .collect()
    }

    pub(super) fn shown(&self, id: u64, group: &Group) -> own::Group {
        let now = Instant::now();
        let the_members = self.with(|state| {
            let member = |(key, member): (&Key, &Member)| {
                let live = state.live.get(&id).and_then(|live| live.get(key));
                let age = self.0.knowledge.age_of_load(&id, key);
                let load = live.and_then(|live| live.load).filter(|_| age.is_some());
                let millis = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
                own::Member {
                    the_location: location(key),
                    reference: Some(member.reference.clone()),
                    is_primary: group.primary.as_ref() == Some(key),
                    is_alive: state.lives(id, key, now),
                    is_draining: member.is_draining,
                    is_alerted: state.alerts.get(key).is_some_and(|alert| alert.is_enabled),
                    lease_ms: member.lease.map_or(0, millis),
                    is_loaded: load.is_some(),
                    load: load.unwrap_or_default(),
                    load_age_ms: age.map_or(0, millis),
                    chosen: live.map_or(0, |live| live.chosen),
                }
            };
            group.members.iter().map(member).collect()
        });
        let (state_bytes, updates, update_bytes) = self.with(|state| {
            let stored = state.states.get(&id);
            stored.map_or((0, 0, 0), |stored| {
                let updates = u32::try_from(stored.updates().len()).unwrap_or(u32::MAX);
                let bytes = stored.update_bytes() as u64;
                (stored.state().len() as u64, updates, bytes)
            })
        });
        own::Group {
            id,
            type_id: group.type_id.clone(),
            style: match group.is_balanced {
                true => "balanced".to_owned(),
                false => group.settings.style.name().to_owned(),
            },
            strategy: match group.is_balanced {
                true => group.settings.strategy.name().to_owned(),
                false => String::new(),
            },
            version: group.version,
            reference: self
                .reference(id, group)
                .ok()
                .map(|one| one.as_object().clone()),
            the_members,
            state_bytes,
            updates,
            update_bytes,
        }
    }
}

/// Refuses a member whose reference is longer than so many bytes.
pub(super) fn check_length(object: &ObjectRef, most: usize) -> Refused<()> {
    let profiles = object.ior().profiles.iter();
    let bytes: usize = profiles.map(|profile| profile.data.len()).sum();
    match bytes > most {
        true => Err(Refusal::limit("bytes of a member's reference")),
        false => Ok(()),
    }
}

/// Inserts a member, or replaces it; returns its token.
pub(super) fn insert(
    group: &mut Group,
    key: &Key,
    object: &ObjectRef,
    lease: Option<Duration>,
    creation: Option<Creation>,
) -> u64 {
    let token = group.next_token;
    group.next_token += 1;
    group.version = group.version.wrapping_add(1);
    let member = Member {
        reference: object.clone(),
        token,
        lease,
        is_draining: false,
        creation,
    };
    group.members.insert(key.clone(), member);
    token
}
