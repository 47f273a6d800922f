//! Types that clients of a channel offer or subscribe to at present.

use std::collections::BTreeMap;

use crate::cos_notification::EventType;
use crate::types::{Pattern, Types, event_type};

/// Types, each with the number of clients that state it.
#[derive(Debug, Default)]
pub(crate) struct Census(BTreeMap<Pattern, usize>);

/// Types that were stated first, and those that no client states any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Changes {
    pub(crate) added: Vec<EventType>,
    pub(crate) removed: Vec<EventType>,
}

impl Census {
    /// Replaces the types of one client; `None` is a client that is not connected.
    pub(crate) fn replace(&mut self, old: Option<&Types>, new: Option<&Types>) -> Changes {
        let patterns = |types: Option<&Types>| types.map(Types::patterns).unwrap_or_default();
        let mut changes = Changes::default();
        for pattern in patterns(new) {
            let count = self.0.entry(pattern.clone()).or_default();
            *count += 1;
            if *count == 1 {
                changes.added.push(event_type(&pattern));
            }
        }
        for pattern in patterns(old) {
            let Some(count) = self.0.get_mut(&pattern) else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                self.0.remove(&pattern);
                changes.removed.push(event_type(&pattern));
            }
        }
        changes
    }

    /// Returns all types.
    pub(crate) fn all(&self) -> Vec<EventType> {
        self.0.keys().map(event_type).collect()
    }
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_changes_with_its_first_and_its_last_client() {
        let one = event_type(&("A".to_owned(), "1".to_owned()));
        let types = Types::All
            .changed(std::slice::from_ref(&one), &[], 9)
            .unwrap();
        let mut census = Census::default();
        let added = census.replace(None, Some(&types));
        assert_eq!(
            (added.added.as_slice(), added.removed.len()),
            (&[one.clone()][..], 0)
        );
        assert!(census.replace(None, Some(&types)).is_empty());
        assert!(census.replace(Some(&types), Some(&types)).is_empty());
        assert_eq!(census.all(), std::slice::from_ref(&one));
        assert!(census.replace(Some(&types), None).is_empty());
        let removed = census.replace(Some(&types), Some(&Types::All));
        assert_eq!(removed.removed, [one]);
        assert_eq!(census.all(), [crate::types::all()]);
    }
}
