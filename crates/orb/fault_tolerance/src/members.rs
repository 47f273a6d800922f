//! Members of object groups that an ORB serves, by their object keys.

use crate::member::GroupMember;
use arc_swap::ArcSwap;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// Members by the part of their keys that identifies the object. Reading takes no lock.
#[derive(Debug, Default)]
pub(crate) struct Members {
    by_name: ArcSwap<HashMap<Box<[u8]>, Arc<GroupMember>>>,
    /// Number of the last change, unique in the process; 0 before the first.
    change: AtomicU64,
}

/// Number of the next change to the members of any ORB.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Longest object key that a thread remembers.
const LONGEST: usize = 64;

/// Result of the last search of a thread: most requests are for the same object as the one before.
struct Last {
    /// Number of the last change then.
    change: u64,
    key: [u8; LONGEST],
    length: usize,
    /// Weak: a thread does not keep a member alive.
    member: Option<Weak<GroupMember>>,
}

thread_local! {
    static LAST: RefCell<Last> = const {
        RefCell::new(Last {
            change: 0,
            key: [0; LONGEST],
            length: 0,
            member: None,
        })
    };
}

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
    /// Returns the member of an object key, whose part that identifies the object is `name`.
    #[inline]
    pub(crate) fn find<'k>(
        &self,
        key: &[u8],
        name: impl FnOnce() -> Cow<'k, [u8]>,
    ) -> Option<Arc<GroupMember>> {
        // Acquire pairs with the Release in `change`: what is found is no older than this number.
        let change = self.change.load(Ordering::Acquire);
        if change == 0 {
            return None;
        }
        let remembered = LAST.try_with(|last| {
            let last = last.borrow();
            let is_it = last.change == change && last.key.get(..last.length) == Some(key);
            is_it.then(|| last.member.as_ref().map(Weak::upgrade))
        });
        match remembered {
            Ok(Some(None)) => None,
            Ok(Some(Some(Some(member)))) => Some(member),
            _ => self.search(key, &name(), change),
        }
    }

    fn search(&self, key: &[u8], name: &[u8], change: u64) -> Option<Arc<GroupMember>> {
        let member = self.by_name.load().get(name).cloned();
        let _ = LAST.try_with(|last| {
            let mut last = last.borrow_mut();
            if let Some(place) = last.key.get_mut(..key.len()) {
                place.copy_from_slice(key);
                last.length = key.len();
                last.member = member.as_ref().map(Arc::downgrade);
                last.change = change;
            }
        });
        member
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
        self.by_name.rcu(|all| {
            let mut all = HashMap::clone(all);
            change(&mut all);
            all
        });
        // Only uniqueness matters of the numbers themselves.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.change.store(number, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(members: &Members, key: &[u8]) -> Option<Arc<GroupMember>> {
        members.find(key, || Cow::Borrowed(&key[..key.len().min(3)]))
    }

    fn is(found: Option<Arc<GroupMember>>, member: &Arc<GroupMember>) -> bool {
        found.is_some_and(|found| Arc::ptr_eq(&found, member))
    }

    #[test]
    fn members_are_found_by_their_names_and_changes_are_seen_at_once() {
        let (one, other) = (Members::default(), Members::default());
        let member = |id| GroupMember::new("plant", id);
        let (first, second) = (member(1), member(2));
        assert!(found(&one, b"abc").is_none());
        one.add(b"abc", &first);
        for _ in 0..2 {
            assert!(is(found(&one, b"abc"), &first));
            assert!(is(found(&one, b"abcd"), &first));
            assert!(found(&one, b"xyz").is_none());
            assert!(found(&other, b"abc").is_none(), "those of another ORB");
            assert!(is(found(&one, &[b"abc", &[7; 100][..]].concat()), &first));
        }
        other.add(b"abc", &second);
        assert!(is(found(&one, b"abc"), &first));
        assert!(is(found(&other, b"abc"), &second));
        one.add(b"abc", &second);
        assert!(is(found(&one, b"abc"), &second));
        one.remove(b"abc");
        assert!(found(&one, b"abc").is_none());
        one.add(b"abc", &first);
        assert!(is(found(&one, b"abc"), &first));
    }

    #[test]
    fn a_member_that_has_left_is_not_kept_by_the_threads_that_have_served_it() {
        let members = Members::default();
        let member = GroupMember::new("plant", 1);
        members.add(b"abc", &member);
        assert!(is(found(&members, b"abc"), &member));
        members.remove(b"abc");
        assert_eq!(Arc::strong_count(&member), 1);
    }
}
