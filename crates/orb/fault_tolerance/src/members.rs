//! Members of object groups that an ORB serves, by their object keys.

use crate::member::GroupMember;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;

/// Members by the part of their keys that identifies the object. Reading takes no lock.
#[derive(Debug, Default)]
pub(crate) struct Members(ArcSwap<HashMap<Box<[u8]>, Arc<GroupMember>>>);

/// Error of a reference whose object the ORB does not serve, so that it cannot join a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAMember;

impl std::fmt::Display for NotAMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "the reference has no profile that this ORB can read, or the ORB has no object adapter",
        )
    }
}

impl std::error::Error for NotAMember {}

impl Members {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load().is_empty()
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<Arc<GroupMember>> {
        self.0.load().get(name).cloned()
    }

    /// Adds a member, in place of another one of the same object.
    pub(crate) fn add(&self, name: &[u8], member: &Arc<GroupMember>) {
        self.change(|all| {
            all.insert(name.into(), member.clone());
        });
    }

    pub(crate) fn remove(&self, name: &[u8]) {
        self.change(|all| {
            all.remove(name);
        });
    }

    fn change(&self, change: impl Fn(&mut HashMap<Box<[u8]>, Arc<GroupMember>>)) {
        self.0.rcu(|all| {
            let mut all = HashMap::clone(all);
            change(&mut all);
            all
        });
    }
}
