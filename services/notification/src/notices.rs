//! Changes of types that a client has yet to hear of. Those that come while it is called are told together, so
//! that a client that does not answer has no more of them waiting than there are types.

use std::collections::BTreeMap;

use crate::census::Changes;
use crate::cos_notification::EventType;
use crate::types::Pattern;

/// Changes of which a client has not been told.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    /// Types that were added (true) or removed.
    waiting: BTreeMap<Pattern, bool>,
    is_telling: bool,
}

impl Notices {
    /// Adds changes; returns whether telling is to begin.
    pub(crate) fn add(&mut self, changes: &Changes) -> bool {
        let kinds = [(&changes.added, true), (&changes.removed, false)];
        for (types, is_added) in kinds {
            for one in types {
                self.note(one, is_added);
            }
        }
        let begins = !self.is_telling && !self.waiting.is_empty();
        self.is_telling |= begins;
        begins
    }

    /// Notes one change; it and its reverse are none.
    fn note(&mut self, one: &EventType, is_added: bool) {
        let pattern = (one.domain_name.clone(), one.type_name.clone());
        if self.waiting.get(&pattern) == Some(&!is_added) {
            self.waiting.remove(&pattern);
        } else {
            self.waiting.insert(pattern, is_added);
        }
    }

    /// Takes the changes of which a client is to be told next; `None` ends telling.
    pub(crate) fn next(&mut self) -> Option<Changes> {
        let mut changes = Changes::default();
        for (pattern, is_added) in std::mem::take(&mut self.waiting) {
            let one = crate::types::event_type(&pattern);
            match is_added {
                true => changes.added.push(one),
                false => changes.removed.push(one),
            }
        }
        self.is_telling = !changes.is_empty();
        self.is_telling.then_some(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(added: &[&str], removed: &[&str]) -> Changes {
        let types = |names: &[&str]| {
            let patterns = names
                .iter()
                .map(|name| ("A".to_owned(), (*name).to_owned()));
            patterns.map(|one| crate::types::event_type(&one)).collect()
        };
        Changes {
            added: types(added),
            removed: types(removed),
        }
    }

    #[test]
    fn changes_wait_together_while_a_client_is_told_and_reversed_ones_are_none() {
        let mut notices = Notices::default();
        assert!(notices.add(&changes(&["1"], &[])));
        assert!(!notices.add(&changes(&["2"], &["0"])));
        assert_eq!(notices.next(), Some(changes(&["1", "2"], &["0"])));
        assert!(!notices.add(&changes(&["3"], &["1"])));
        assert!(!notices.add(&changes(&[], &["3"])));
        assert_eq!(notices.next(), Some(changes(&[], &["1"])));
        assert_eq!(notices.next(), None);
        assert!(notices.add(&changes(&["3"], &[])));
        assert_eq!(notices.next(), Some(changes(&["3"], &[])));
    }
}
