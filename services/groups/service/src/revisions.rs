//! Which groups have changed since when, as long as the service runs: a number for each change, and for each group that of its
//! last one. So those who follow the groups get each of them once, however often it has changed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;

/// Maximum number of removed groups that are remembered.
const MOST_REMOVED: usize = 10_000;

/// Numbers of the latest changes of groups.
#[derive(Debug)]
pub(crate) struct Revisions {
    /// Number of this start of the service, not 0.
    epoch: u64,
    last: u64,
    by_group: HashMap<u64, u64>,
    groups: BTreeMap<u64, u64>,
    /// Groups that were removed, in order.
    removed: VecDeque<(u64, u64)>,
    /// Revision up to which removals are forgotten.
    forgotten: u64,
}

/// Changes after a revision.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) epoch: u64,
    /// Revision up to which these are the changes.
    pub(crate) revision: u64,
    /// True if these are the first of all groups.
    pub(crate) is_anew: bool,
    /// True if more changes follow.
    pub(crate) has_more: bool,
    pub(crate) changed: Vec<u64>,
    /// One that was made again since has changed, too.
    pub(crate) removed: Vec<u64>,
}

impl Default for Revisions {
    fn default() -> Self {
        Self {
            epoch: getrandom::u64().unwrap_or_default().max(1),
            last: 0,
            by_group: HashMap::new(),
            groups: BTreeMap::new(),
            removed: VecDeque::new(),
            forgotten: 0,
        }
    }
}

impl Revisions {
    /// Notes that a group was made, or has changed.
    pub(crate) fn touch(&mut self, id: u64) {
        self.last += 1;
        if let Some(before) = self.by_group.insert(id, self.last) {
            self.groups.remove(&before);
        }
        self.groups.insert(self.last, id);
    }

    /// Notes that a group was removed.
    pub(crate) fn remove(&mut self, id: u64) {
        self.last += 1;
        if let Some(before) = self.by_group.remove(&id) {
            self.groups.remove(&before);
        }
        self.removed.push_back((self.last, id));
        if self.removed.len() > MOST_REMOVED
            && let Some((revision, _)) = self.removed.pop_front()
        {
            self.forgotten = revision;
        }
    }

    /// Returns the changes after a revision, `how_many` groups at most, and at least one if there is one: as long as `is_within`
    /// says of the next one.
    pub(crate) fn since(
        &self,
        epoch: u64,
        revision: u64,
        how_many: usize,
        mut is_within: impl FnMut(u64) -> bool,
    ) -> Since {
        let is_known = epoch == self.epoch && (self.forgotten..=self.last).contains(&revision);
        let after = if is_known { revision } else { 0 };
        let later = (Bound::Excluded(after), Bound::Unbounded);
        let later = self.groups.range(later).enumerate();
        let some = later.take_while(|(at, (_, id))| *at < how_many.max(1) && is_within(**id));
        let some: Vec<(u64, u64)> = some.map(|(_, (revision, id))| (*revision, *id)).collect();
        let last = some.last().map_or(after, |(revision, _)| *revision);
        let has_more = self
            .groups
            .range((Bound::Excluded(last), Bound::Unbounded))
            .next()
            .is_some();
        let upto = if has_more { last } else { self.last };
        let removed = self.removed.iter();
        let removed = removed.filter(|(at, _)| is_known && *at > after && *at <= upto);
        Since {
            epoch: self.epoch,
            revision: upto,
            is_anew: !is_known,
            has_more,
            changed: some.into_iter().map(|(_, id)| id).collect(),
            removed: removed.map(|(_, id)| *id).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(revisions: &Revisions, epoch: u64, revision: u64, how_many: usize) -> Since {
        revisions.since(epoch, revision, how_many, |_| true)
    }

    #[test]
    fn a_follower_gets_each_changed_group_once_and_what_was_removed() {
        let mut revisions = Revisions::default();
        for id in [7, 8, 7, 9, 7] {
            revisions.touch(id);
        }
        let first = since(&revisions, 0, 0, 10);
        assert_eq!((first.is_anew, first.has_more), (true, false));
        assert_eq!(first.changed, [8, 9, 7]);
        let none = since(&revisions, first.epoch, first.revision, 10);
        assert_eq!((none.changed.len(), none.is_anew), (0, false));
        revisions.remove(8);
        revisions.remove(9);
        revisions.touch(9);
        let next = since(&revisions, none.epoch, none.revision, 10);
        assert_eq!((next.changed, next.removed), (vec![9], vec![8, 9]));
    }

    #[test]
    fn many_changes_come_in_parts_that_go_on_where_the_last_has_ended() {
        let mut revisions = Revisions::default();
        (1..=5).for_each(|id| revisions.touch(id));
        let (mut epoch, mut revision, mut all) = (0, 0, Vec::new());
        loop {
            let part = since(&revisions, epoch, revision, 2);
            assert_eq!(part.is_anew, epoch == 0);
            (epoch, revision) = (part.epoch, part.revision);
            all.extend(part.changed);
            if !part.has_more {
                break;
            }
        }
        assert_eq!(all, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn who_asks_for_another_epoch_or_for_forgotten_removals_begins_anew() {
        let mut revisions = Revisions::default();
        revisions.touch(1);
        let epoch = revisions.epoch;
        assert!(since(&revisions, epoch ^ 1, 1, 9).is_anew);
        assert!(since(&revisions, epoch, 2, 9).is_anew);
        for id in 0..=MOST_REMOVED as u64 {
            revisions.touch(id + 10);
            revisions.remove(id + 10);
        }
        assert!(since(&revisions, epoch, 1, 9).is_anew);
        assert!(!since(&revisions, epoch, revisions.forgotten, 9).is_anew);
    }
}
