//! Digest of the entries that a member has taken, by which members notice that a log has lost one for some of them.

use std::collections::VecDeque;

use punctual_groups_requests::digest_of;

use crate::records::Entry;

/// Entries since the last stored state, as far as it is known: their positions, and the digests of all up to each.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    digest: u64,
    since: VecDeque<(u64, u64)>,
}

impl Taken {
    /// Begins with a state that has this digest.
    pub(crate) fn begin(&mut self, digest: u64) {
        self.digest = digest;
        self.since.clear();
    }

    /// Returns the digest of all entries.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, position: u64, entry: &Entry) {
        let words = [self.digest, position, entry.run, entry.number];
        self.digest = digest_of(words.into_iter().flat_map(u64::to_be_bytes));
        self.since.push_back((position, self.digest));
    }

    /// Returns whether a stored state has other entries up to its position, which are in part still known here.
    pub(crate) fn differs(&self, position: u64, digest: u64) -> bool {
        // A member that lags behind has not come to the position of the state yet.
        let is_known = self.since.front().is_some_and(|one| one.0 <= position)
            && self.since.back().is_some_and(|one| position <= one.0);
        let found = self.since.binary_search_by_key(&position, |one| one.0);
        let own = found.ok().and_then(|at| self.since.get(at));
        is_known && own.is_none_or(|own| own.1 != digest)
    }

    /// Forgets the entries up to a position, which a stored state has.
    pub(crate) fn forget_to(&mut self, stored: u64) {
        let count = self.since.partition_point(|one| one.0 <= stored);
        self.since.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Content, StoredState};

    fn entry(number: u64) -> Entry {
        Entry {
            run: 7,
            number,
            what: Content::TheState(StoredState {
                position: 0,
                digest: 0,
            }),
        }
    }

    fn with(positions: &[u64]) -> Taken {
        let mut taken = Taken::default();
        for position in positions {
            taken.add(*position, &entry(*position));
        }
        taken
    }

    #[test]
    fn a_member_that_lacks_an_entry_differs_from_the_stored_state() {
        let (whole, lacking) = (with(&[3, 5, 6]), with(&[3, 6]));
        let stored = with(&[3, 5]).digest();
        assert!(!whole.differs(5, stored));
        assert!(lacking.differs(5, stored), "the last one is missing");
        assert!(lacking.differs(6, whole.digest()), "one before is missing");
        assert!(!whole.differs(6, whole.digest()));
    }

    #[test]
    fn what_is_not_known_any_more_does_not_differ() {
        let mut taken = with(&[3, 5, 6]);
        taken.forget_to(5);
        assert!(!taken.differs(5, 1) && !taken.differs(2, 1));
        assert!(taken.differs(6, 1));
        assert!(!taken.differs(7, 1), "it lags behind that state");
        let mut other = Taken::default();
        other.begin(with(&[3, 5]).digest());
        other.add(6, &entry(6));
        assert_eq!(other.digest(), taken.digest());
    }
}
