//! Latest changes of groups' members, for those who look at them. They are kept in memory, and end with the process.

use std::collections::VecDeque;
use std::time::Instant;

use crate::names::Key;

/// Maximum number of changes that are kept, of all groups.
const MOST: usize = 1000;

/// Maximum length of all locations of kept changes, in bytes.
const MOST_BYTES: usize = 256 * 1024;

/// Kind of a change of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// It has become a member.
    Joined,
    /// It is a member again, in place of the one before at its location.
    JoinedAgain,
    /// It is no member any more.
    Left,
    /// Its lease has ended, or it does not answer.
    Died,
    /// It has become the primary.
    BecamePrimary,
    /// It is not the primary any more.
    WasPrimary,
}

/// Change of a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Time of the change.
    pub at: Instant,
    /// Number of the group.
    pub group: u64,
    /// Location of the member, as text.
    pub location: Key,
    /// Kind of the change.
    pub kind: ChangeKind,
}

/// Latest changes of all groups.
#[derive(Debug, Default)]
pub(crate) struct History {
    changes: VecDeque<Change>,
    /// Length of their locations.
    bytes: usize,
}

impl History {
    /// Removes the changes of a group that is none any more.
    pub(crate) fn forget(&mut self, group: u64) {
        self.changes.retain(|change| change.group != group);
        self.bytes = self.changes.iter().map(|one| one.location.len()).sum();
    }

    /// Returns the changes of a group, the latest first.
    pub(crate) fn of(&self, group: u64) -> Vec<Change> {
        let latest_first = self.changes.iter().rev();
        let of_it = latest_first.filter(|change| change.group == group);
        of_it.cloned().collect()
    }

    /// Notes a change that happens now.
    pub(crate) fn note(&mut self, group: u64, location: &Key, kind: ChangeKind) {
        self.bytes += location.len();
        self.changes.push_back(Change {
            at: Instant::now(),
            group,
            location: location.clone(),
            kind,
        });
        while self.changes.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.changes.pop_front() else {
                return;
            };
            self.bytes -= oldest.location.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(history: &mut History, number: usize, length: usize) {
        let location: Key = format!("{number}{}", "x".repeat(length)).into();
        history.note(7, &location, ChangeKind::Died);
    }

    #[test]
    fn the_latest_changes_are_kept_and_their_number_and_length_are_bounded() {
        let mut history = History::default();
        for number in 0..MOST + 5 {
            noted(&mut history, number, 0);
        }
        let kept = history.of(7);
        assert_eq!(kept.len(), MOST);
        assert_eq!(&*kept[0].location, (MOST + 4).to_string());
        for number in 0..9 {
            noted(&mut history, number, MOST_BYTES / 4 - 1);
        }
        assert_eq!(history.of(7).len(), 4);
        assert!(history.of(8).is_empty());
        history.forget(7);
        assert_eq!((history.of(7).len(), history.bytes), (0, 0));
    }
}
