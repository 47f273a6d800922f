//! What a group has stored for its next primary: a state, and the log of updates since.
//!
//! States and updates of a group have places: each has the place after the one before. A state replaces all that was before it. An
//! update counts only on what has the place before its own.

use std::sync::Arc;

/// State of a group, and the updates since. There are no updates without a state.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    /// Place of the state.
    place: u64,
    state: Arc<[u8]>,
    /// Updates with the places after that of the state, without gaps.
    updates: Vec<Arc<[u8]>>,
    update_bytes: usize,
    /// Number of updates that the store may have of this log and of those before. If there are any, the bounds of the log have to be
    /// written with each state.
    pub(crate) slots: usize,
}

/// What a member lacks of what is stored.
#[derive(Debug)]
pub(crate) struct Lacking {
    /// State that comes before the updates; `None` if the member has it.
    pub(crate) state: Option<Arc<[u8]>>,
    pub(crate) updates: Vec<Arc<[u8]>>,
    /// Place that the member has then.
    pub(crate) end: u64,
}

impl Stored {
    /// Returns a state at a place.
    pub(crate) fn at(place: u64, state: Arc<[u8]>) -> Self {
        Self {
            place,
            state,
            updates: Vec::new(),
            update_bytes: 0,
            slots: 0,
        }
    }

    /// Returns a state that replaces this one and its updates.
    pub(crate) fn replaced_by(&self, state: Arc<[u8]>) -> Self {
        Self {
            slots: self.slots,
            ..Self::at(self.end() + 1, state)
        }
    }

    /// Adds an update at the next place.
    pub(crate) fn add(&mut self, update: Arc<[u8]>) {
        self.update_bytes += update.len();
        self.updates.push(update);
    }

    pub(crate) fn state(&self) -> &Arc<[u8]> {
        &self.state
    }

    pub(crate) fn updates(&self) -> &[Arc<[u8]>] {
        &self.updates
    }

    pub(crate) fn update_bytes(&self) -> usize {
        self.update_bytes
    }

    /// Returns the length of the state and of all updates.
    pub(crate) fn bytes(&self) -> usize {
        self.state.len() + self.update_bytes
    }

    /// Returns the place of the state.
    pub(crate) fn place(&self) -> u64 {
        self.place
    }

    /// Returns the place of the last update, or of the state if there is none.
    pub(crate) fn end(&self) -> u64 {
        self.place + self.updates.len() as u64
    }

    /// Returns what a member lacks that has all up to a place; everything for `None`, or a place before the state.
    pub(crate) fn lacking(&self, has: Option<u64>) -> Lacking {
        let end = self.end();
        let within = has.filter(|has| (self.place..=end).contains(has));
        let known = within.map_or(0, |has| usize::try_from(has - self.place).unwrap_or(0));
        Lacking {
            state: within.is_none().then(|| self.state.clone()),
            updates: self.updates.get(known..).unwrap_or_default().to_vec(),
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Stored {
        let mut stored = Stored::at(7, Arc::from(&b"state"[..]));
        for update in [b"a", b"b", b"c"] {
            stored.add(Arc::from(&update[..]));
        }
        stored
    }

    fn lacking(has: Option<u64>) -> (bool, Vec<u8>) {
        let lacking = three().lacking(has);
        assert_eq!(lacking.end, 10);
        (lacking.state.is_some(), lacking.updates.concat())
    }

    #[test]
    fn a_member_gets_what_it_lacks_and_all_where_that_is_not_known() {
        assert_eq!(lacking(None), (true, b"abc".to_vec()));
        assert_eq!(lacking(Some(7)), (false, b"abc".to_vec()));
        assert_eq!(lacking(Some(9)), (false, b"c".to_vec()));
        assert_eq!(lacking(Some(10)), (false, Vec::new()));
        for no_place in [6, 11] {
            assert_eq!(lacking(Some(no_place)), (true, b"abc".to_vec()));
        }
    }

    #[test]
    fn a_state_takes_the_next_place_and_ends_the_log() {
        let mut before = three();
        assert_eq!(before.bytes(), 8);
        before.slots = 3;
        let after = before.replaced_by(Arc::from(&b"new"[..]));
        assert_eq!((after.place(), after.end(), after.bytes()), (11, 11, 3));
        assert_eq!(after.slots, 3);
    }
}
