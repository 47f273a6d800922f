//! Times at which kept replies expire.
//!
//! Nearly all requests last equally long, so that they expire in the order in which they are answered: those are in a queue.
//! Others are in a heap.

use super::requests::shrink;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Keys by the times at which they expire.
#[derive(Default)]
pub(super) struct Expiries {
    /// Keys by rising times.
    in_order: VecDeque<(u64, u64)>,
    others: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Expiries {
    /// Adds a key that expires at a time.
    #[inline]
    pub(super) fn add(&mut self, time: u64, key: u64) {
        match self.in_order.back() {
            Some((last, _)) if *last > time => self.others.push(Reverse((time, key))),
            _ => self.in_order.push_back((time, key)),
        }
    }

    /// Removes a key that has expired, and returns it.
    #[inline]
    pub(super) fn pop(&mut self, now: u64) -> Option<u64> {
        if let Some((time, key)) = self.in_order.front().copied()
            && time <= now
        {
            self.in_order.pop_front();
            shrink(&mut self.in_order);
            return Some(key);
        }
        if self.others.is_empty() {
            return None;
        }
        self.pop_other(now)
    }

    fn pop_other(&mut self, now: u64) -> Option<u64> {
        let Reverse((time, _)) = self.others.peek()?;
        if *time > now {
            return None;
        }
        self.others.pop().map(|Reverse((_, key))| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_expire_at_their_times_whatever_the_order_in_which_they_came() {
        let times = [5, 9, 9, 3, 20, 1, 20, 12, 30, 4, 0];
        let mut expiries = Expiries::default();
        for (key, time) in times.into_iter().enumerate() {
            expiries.add(time, key as u64);
        }
        let mut left = times.len();
        for now in 0..=30 {
            let expired: Vec<_> = std::iter::from_fn(|| expiries.pop(now)).collect();
            for key in &expired {
                assert_eq!(times[*key as usize], now);
            }
            left -= expired.len();
            assert_eq!(left, times.iter().filter(|time| **time > now).count());
        }
    }
}
