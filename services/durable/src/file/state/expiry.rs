//! Blocks with events that expire.

use std::collections::BTreeSet;

use crate::contract::Moment;

/// Blocks with events that expire, by the earliest of the moments at which they do.
#[derive(Debug, Default)]
pub(super) struct Expiry(BTreeSet<(u64, u64)>);

impl Expiry {
    /// Adds a block with the earliest moment of its events, if any of them expires.
    pub(super) fn add(&mut self, earliest: Option<u64>, block: u64) {
        self.0.extend(earliest.map(|moment| (moment, block)));
    }

    /// Removes a block that was added with this moment.
    pub(super) fn remove(&mut self, earliest: Option<u64>, block: u64) {
        if let Some(moment) = earliest {
            self.0.remove(&(moment, block));
        }
    }

    /// Removes and returns a block of which an event has expired.
    pub(super) fn take_due(&mut self, now: Moment) -> Option<u64> {
        let (moment, _) = self.0.first()?;
        let is_due = is_past(*moment, now);
        let due = is_due.then(|| self.0.pop_first()).flatten();
        due.map(|(_, block)| block)
    }
}

/// Returns the earliest of the moments that are not past; 0 stands for never.
pub(super) fn earliest(moments: &[u64], now: Moment) -> Option<u64> {
    let moments = moments.iter().copied();
    moments.filter(|moment| *moment > now.0).min()
}

/// Returns true if an event has expired.
pub(super) fn is_past(moment: u64, now: Moment) -> bool {
    moment > 0 && moment <= now.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_due_by_their_earliest_moments_and_not_once_they_are_removed() {
        let mut expiry = Expiry::default();
        assert_eq!(earliest(&[0, 7, 5], Moment(0)), Some(5));
        assert_eq!(earliest(&[0, 7, 5], Moment(5)), Some(7));
        assert_eq!(earliest(&[0, 7, 5], Moment(7)), None);
        for (moment, block) in [(Some(7), 1), (Some(5), 2), (None, 3), (Some(6), 4)] {
            expiry.add(moment, block);
        }
        expiry.remove(Some(6), 4);
        expiry.remove(None, 3);
        assert_eq!(expiry.take_due(Moment(4)), None);
        assert_eq!(expiry.take_due(Moment(7)), Some(2));
        assert_eq!(expiry.take_due(Moment(7)), Some(1));
        assert_eq!(expiry.take_due(Moment(u64::MAX)), None);
    }
}
