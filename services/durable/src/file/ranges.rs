//! Sets of positions, as ranges.

use std::collections::BTreeMap;

/// Set of numbers in which neighbours are kept as one range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Returns the set of all numbers below `end`.
    pub(super) fn below(end: u64) -> Self {
        let mut ranges = Self::default();
        ranges.fill_below(end);
        ranges
    }

    /// Returns the set of ranges `start..end` that are in order and do not meet; `None` for others.
    pub(super) fn from_sorted(pairs: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        let mut ranges = BTreeMap::new();
        let mut last = None;
        for (start, end) in pairs {
            if start >= end || last.is_some_and(|last| start <= last) {
                return None;
            }
            last = Some(end);
            ranges.insert(start, end);
        }
        Some(Self(ranges))
    }

    pub(super) fn contains(&self, number: u64) -> bool {
        let range = self.0.range(..=number).next_back();
        range.is_some_and(|(_, end)| number < *end)
    }

    /// Adds a number. Returns false if the set contains it.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let before = self.0.range(..=number).next_back();
        let before = before.map(|(start, end)| (*start, *end));
        if before.is_some_and(|(_, end)| number < end) {
            return false;
        }
        let start = before.filter(|(_, end)| *end == number);
        let start = start.map_or(number, |(start, _)| start);
        let next = number.saturating_add(1);
        let end = self.0.remove(&next).unwrap_or(next);
        self.0.insert(start, end);
        true
    }

    /// Adds all numbers below `end`.
    pub(super) fn fill_below(&mut self, end: u64) {
        if end == 0 {
            return;
        }
        let rest = self.0.split_off(&end.saturating_add(1));
        let last = self.0.values().next_back().copied();
        self.0 = rest;
        self.0.insert(0, last.unwrap_or(0).max(end));
    }

    /// Returns the number of ranges.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the ranges in order, as start and end.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(start, end)| (*start, *end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pairs(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges.iter().collect()
    }

    #[test]
    fn neighbours_become_one_range() {
        let mut ranges = Ranges::default();
        for number in [5, 3, 9, 4] {
            assert!(ranges.insert(number));
        }
        assert!(!ranges.insert(4));
        assert_eq!(pairs(&ranges), [(3, 6), (9, 10)]);
        ranges.fill_below(3);
        assert_eq!(pairs(&ranges), [(0, 6), (9, 10)]);
        ranges.fill_below(8);
        assert_eq!(pairs(&ranges), [(0, 8), (9, 10)]);
        assert!(ranges.insert(8));
        assert_eq!(pairs(&ranges), [(0, 10)]);
    }

    #[test]
    fn the_set_has_what_was_put_into_it_in_any_order() {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % 200
        };
        let (mut ranges, mut expected) = (Ranges::default(), BTreeSet::new());
        for round in 0..400 {
            let number = next();
            if round % 50 == 49 {
                ranges.fill_below(number / 4);
                expected.extend(0..number / 4);
            }
            assert_eq!(ranges.insert(number), expected.insert(number));
        }
        for number in 0..210 {
            assert_eq!(
                ranges.contains(number),
                expected.contains(&number),
                "{number}"
            );
        }
        assert_eq!(Ranges::from_sorted(pairs(&ranges)), Some(ranges));
    }

    #[test]
    fn ranges_that_meet_or_are_empty_are_no_set() {
        for bad in [vec![(3, 3)], vec![(1, 4), (4, 6)], vec![(5, 6), (1, 2)]] {
            assert_eq!(Ranges::from_sorted(bad), None);
        }
    }
}
