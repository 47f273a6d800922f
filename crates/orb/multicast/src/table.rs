//! Groups and their members in an ORB.

use arc_swap::ArcSwap;
use punctual_ior::GroupInfo;
use punctual_poa::ObjectId;
use std::collections::HashMap;
use std::sync::Arc;

/// Member of a group: an object of this ORB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// Id of the POA.
    pub(crate) poa: Box<[u8]>,
    /// Id of the object in its POA.
    pub(crate) id: ObjectId,
    /// Key by which the ORB's adapter finds the object.
    pub(crate) key: Box<[u8]>,
    /// Address at which the ORB has joined the group for it.
    pub(crate) place: Box<str>,
}

/// Members of one group, in the order in which they were added.
type Members = Arc<[Member]>;

/// Members by domain and id of their groups. Reading takes no lock.
#[derive(Debug, Default)]
pub(crate) struct Groups(ArcSwap<HashMap<(String, u64), Members>>);

impl Groups {
    /// Returns the members of a group; none of an unknown one.
    pub(crate) fn members(&self, group: &GroupInfo) -> Members {
        let groups = self.0.load();
        let found = groups.get(&(group.domain.clone(), group.id));
        found.cloned().unwrap_or_default()
    }

    /// Adds a member; returns `false` if it is one already.
    pub(crate) fn add(&self, group: &GroupInfo, member: &Member) -> bool {
        self.change(group, |members| {
            let is_new = !members.iter().any(|one| one.is_same_object(member));
            if is_new {
                members.push(member.clone());
            }
            is_new
        })
    }

    /// Removes a member, and returns it; `None` if it is none.
    pub(crate) fn remove(&self, group: &GroupInfo, poa: &[u8], id: &ObjectId) -> Option<Member> {
        self.change(group, |members| {
            let is_meant = |one: &Member| *one.poa == *poa && one.id == *id;
            let place = members.iter().position(is_meant)?;
            Some(members.remove(place))
        })
    }

    fn change<T: Default>(&self, group: &GroupInfo, change: impl Fn(&mut Vec<Member>) -> T) -> T {
        let mut outcome = T::default();
        self.0.rcu(|groups| {
            let mut groups = HashMap::clone(groups);
            let name = (group.domain.clone(), group.id);
            let mut members = groups.remove(&name).unwrap_or_default().to_vec();
            outcome = change(&mut members);
            if !members.is_empty() {
                groups.insert(name, members.into());
            }
            groups
        });
        outcome
    }
}

impl Member {
    fn is_same_object(&self, other: &Self) -> bool {
        self.poa == other.poa && self.id == other.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(poa: &str, id: &str) -> Member {
        Member {
            poa: poa.as_bytes().into(),
            id: id.into(),
            key: format!("{poa}/{id}").into_bytes().into(),
            place: "239.255.0.1:5555".into(),
        }
    }

    #[test]
    fn members_are_of_a_domain_and_an_id_whatever_the_version() {
        let groups = Groups::default();
        let group = GroupInfo::new("d", 1);
        assert!(groups.add(&group, &member("p", "a")));
        assert!(groups.add(&group, &member("q", "a")));
        assert!(!groups.add(&group, &member("p", "a")));
        let newer = GroupInfo {
            reference_version: 9,
            ..group.clone()
        };
        assert_eq!(groups.members(&newer).len(), 2);
        for other in [GroupInfo::new("d", 2), GroupInfo::new("e", 1)] {
            assert!(groups.members(&other).is_empty());
            assert_eq!(groups.remove(&other, b"p", &"a".into()), None);
        }
        let removed = groups.remove(&newer, b"p", &"a".into());
        assert_eq!(removed, Some(member("p", "a")));
        assert_eq!(groups.remove(&group, b"p", &"a".into()), None);
        assert_eq!(*groups.members(&group), [member("q", "a")]);
    }
}
