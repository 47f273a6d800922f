//! Groups whose numbers others choose, with their members: those of the Naming Service.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use punctual::about_to_block;
use punctual_groups_client::punctual_groups::{self as own, Founder};

use super::groups::{check_length, insert};
use super::{Engine, failover, records};
use crate::location;
use crate::properties::{Properties, of_strategy};
use crate::refusal::{Refusal, Refused};
use crate::state::Group;
use crate::storage::{FIRST_CHOSEN, Kept};

impl Engine {
    /// Makes a balanced group with members, or returns the group of that number.
    ///
    /// # Errors
    /// Refused for a number that is not the caller's to choose, a group that is not balanced, a bad strategy, lease or
    /// location, and a nil member; IMP_LIMIT, PERSIST_STORE. Nothing has changed then.
    pub(crate) fn adopt(
        &self,
        id: u64,
        type_id: &str,
        strategy: &str,
        founders: &[Founder],
    ) -> Refused<own::Group> {
        if id < FIRST_CHOSEN {
            return Err(Refusal::refused("numbers below 2^63 are the service's"));
        }
        let _ = about_to_block();
        let in_order = self.0.changes.lock();
        let existing = self.with(|state| state.groups.get(&id).cloned());
        if let Some(group) = existing {
            return match group.is_balanced {
                true => Ok(self.shown(id, &group)),
                false => Err(Refusal::refused(
                    "the group of this number is one of replicas",
                )),
            };
        }
        let group = Arc::new(self.founded(type_id, strategy, founders)?);
        self.store(vec![Kept::Group(id, Some(records::group(&group)?))])?;
        self.with(|state| state.put(id, group.clone(), Instant::now()));
        drop(in_order);
        self.wake();
        Ok(self.shown(id, &group))
    }

    /// Returns a group of these members, within the limits.
    fn founded(&self, type_id: &str, strategy: &str, founders: &[Founder]) -> Refused<Group> {
        let limits = self.with(|state| {
            let members = state.groups.values().map(|group| group.members.len());
            if members.sum::<usize>() + founders.len() > state.limits.all_members {
                return Err(Refusal::limit("members of all groups"));
            }
            if state.groups.len() >= state.limits.groups {
                return Err(Refusal::limit("groups"));
            }
            Ok(state.limits)
        })?;
        if type_id.len() > limits.name_bytes {
            return Err(Refusal::bad_parameter("the type's id is too long"));
        }
        if founders.len() > limits.members {
            return Err(Refusal::limit("members"));
        }
        let mut of_its_own = Properties::default();
        let property = of_strategy(strategy);
        of_its_own.set(property.as_slice(), &limits)?;
        let mut group = Group {
            settings: self.with(|state| state.settings(type_id, &of_its_own)),
            type_id: type_id.to_owned(),
            is_balanced: true,
            own: of_its_own,
            version: 1,
            primary: None,
            next_token: 1,
            former_lease: None,
            members: BTreeMap::new(),
        };
        for founder in founders {
            let key = location::key(&founder.the_location, limits.name_bytes)?;
            let reference = founder.reference.as_ref();
            let reference = reference.ok_or_else(|| Refusal::refused("a member is nil"))?;
            check_length(reference, limits.name_bytes)?;
            let lease = failover::lease(founder.lease_ms, limits.shortest_lease)?;
            insert(&mut group, &key, reference, lease, None);
        }
        Ok(group)
    }
}
