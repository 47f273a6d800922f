//! Requests of one client by their numbers.
//!
//! A client numbers its requests upwards, and they come nearly in that order and expire in it: so they stand in a queue, where
//! the newest is found without a search, others by bisection. The few that come later than one with a higher number are in a
//! tree. The numbers are a peer's, which can choose them so that a table of hashes becomes a list; queue and tree are bounded
//! by the logarithm, whatever the numbers.

use super::table::Request;
use std::collections::{BTreeMap, VecDeque};

/// Capacity of a queue up to which its memory is kept.
const SMALL: usize = 64;

/// Requests of one client.
#[derive(Default)]
pub(super) struct Requests {
    /// Requests by rising distance of their numbers from the first one's, which wraps around as the numbers do.
    in_order: VecDeque<Place>,
    /// Number of the places in the queue whose requests are removed. Neither the first nor the last is one.
    empty: usize,
    late: BTreeMap<i32, Request>,
}

struct Place {
    number: i32,
    request: Option<Request>,
}

impl Requests {
    /// Returns the number of requests.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.in_order.len() - self.empty + self.late.len()
    }

    /// Returns the request of a number.
    #[inline]
    pub(super) fn get_mut(&mut self, number: i32) -> Option<&mut Request> {
        // The request that is answered is nearly always the one that came last.
        if self
            .in_order
            .back()
            .is_some_and(|last| last.number == number)
        {
            return self.in_order.back_mut()?.request.as_mut();
        }
        match self.late.is_empty() && self.is_newest(number) {
            true => None,
            false => self.search(number),
        }
    }

    fn search(&mut self, number: i32) -> Option<&mut Request> {
        if let Ok(at) = self.position(number)
            && let Some(Place {
                request: Some(request),
                ..
            }) = self.in_order.get_mut(at)
        {
            return Some(request);
        }
        self.late.get_mut(&number)
    }

    /// Adds a request. There is none of this number.
    #[inline]
    pub(super) fn insert(&mut self, number: i32, request: Request) {
        if self.is_newest(number) {
            let request = Some(request);
            self.in_order.push_back(Place { number, request });
            return;
        }
        self.insert_late(number, request);
    }

    /// Returns whether a number is behind all of the queue.
    #[inline]
    fn is_newest(&self, number: i32) -> bool {
        self.in_order.back().is_none_or(|last| {
            number.wrapping_sub(last.number) > 0
                && self.distance(number) > self.distance(last.number)
        })
    }

    #[cold]
    fn insert_late(&mut self, number: i32, request: Request) {
        match self.position(number) {
            Ok(at) => {
                if let Some(place) = self.in_order.get_mut(at) {
                    place.request = Some(request);
                    self.empty -= 1;
                }
            }
            Err(_) => {
                self.late.insert(number, request);
            }
        }
    }

    /// Removes the request of a number. The memory stays in proportion to the number of requests.
    pub(super) fn remove(&mut self, number: i32) -> Option<Request> {
        let at = match self.in_order.front() {
            // Requests expire nearly in the order in which they came.
            Some(first) if first.number == number => Ok(0),
            _ => self.position(number),
        };
        let Some(place) = at.ok().and_then(|at| self.in_order.get_mut(at)) else {
            return self.late.remove(&number);
        };
        let Some(request) = place.request.take() else {
            return self.late.remove(&number);
        };
        self.empty += 1;
        self.trim();
        Some(request)
    }

    /// Frees empty places, and the memory of many.
    fn trim(&mut self) {
        let is_empty = |place: Option<&Place>| place.is_some_and(|place| place.request.is_none());
        while is_empty(self.in_order.front()) {
            self.in_order.pop_front();
            self.empty -= 1;
        }
        while is_empty(self.in_order.back()) {
            self.in_order.pop_back();
            self.empty -= 1;
        }
        if self.empty > SMALL && self.empty > self.in_order.len() / 2 {
            self.in_order.retain(|place| place.request.is_some());
            self.empty = 0;
        }
        shrink(&mut self.in_order);
    }

    fn position(&self, number: i32) -> Result<usize, usize> {
        let distance = self.distance(number);
        self.in_order
            .binary_search_by_key(&distance, |place| self.distance(place.number))
    }

    /// Returns how far a number is behind the first one, in the order of the queue.
    #[inline]
    fn distance(&self, number: i32) -> u32 {
        let first = self.in_order.front().map_or(number, |first| first.number);
        number.wrapping_sub(first).cast_unsigned()
    }
}

/// Frees memory of a queue that is nearly empty: the cost is in proportion to what was removed before.
#[inline]
pub(super) fn shrink<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() > SMALL && queue.len() < queue.capacity() / 4 {
        queue.shrink_to(queue.capacity() / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::State;
    use super::*;
    use std::collections::BTreeSet;

    fn request(expires: u64) -> Request {
        Request {
            expires,
            state: State::NotKept,
        }
    }

    /// Numbers without a pattern, the same at each run.
    fn scattered(seed: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(seed), |last| {
            Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
        })
        .map(|number| number >> 8)
    }

    /// Checks that all requests are found, and no others.
    fn check(requests: &mut Requests, known: &BTreeSet<i32>, others: impl Iterator<Item = i32>) {
        assert_eq!(requests.len(), known.len());
        for number in others.chain(known.iter().copied()) {
            let there = requests.get_mut(number).map(|one| one.expires);
            let expected = known
                .contains(&number)
                .then(|| u64::from(number.cast_unsigned()));
            assert_eq!(there, expected, "{number}");
        }
    }

    #[test]
    fn requests_are_found_whatever_the_order_in_which_they_come_and_go() {
        for seed in 0..40 {
            let mut requests = Requests::default();
            let mut known = BTreeSet::new();
            // Around the numbers' end, too.
            let begin = i32::MAX - 20;
            let near = |random: u32| begin.wrapping_add((random % 60).cast_signed());
            let mut newest = begin;
            for random in scattered(seed).take(600) {
                let number = match random % 3 {
                    0 => near(random / 3),
                    _ => newest.wrapping_add(1),
                };
                newest = newest.max(number);
                let is_known = known.contains(&number);
                match is_known && random % 5 != 0 {
                    true => {
                        let removed = requests.remove(number).map(|one| one.expires);
                        assert_eq!(removed, Some(u64::from(number.cast_unsigned())));
                        assert!(requests.remove(number).is_none());
                        known.remove(&number);
                    }
                    false if !is_known => {
                        requests.insert(number, request(number.cast_unsigned().into()));
                        known.insert(number);
                    }
                    false => {}
                }
                check(&mut requests, &known, (0..60).map(near));
            }
        }
    }

    #[test]
    fn numbers_in_order_take_the_queue_alone_and_wrap_around() {
        let mut requests = Requests::default();
        for count in 0..10_000 {
            let number = i32::MAX.wrapping_sub(5_000).wrapping_add(count);
            requests.insert(number, request(number.cast_unsigned().into()));
            if count >= 100 {
                assert!(requests.remove(number.wrapping_sub(100)).is_some());
            }
        }
        assert_eq!((requests.len(), requests.late.len()), (100, 0));
    }

    #[test]
    fn memory_is_in_proportion_to_the_requests_that_are_there() {
        let mut requests = Requests::default();
        for number in 0..10_000 {
            requests.insert(number, request(0));
        }
        // The first stays long, so that none can be removed from the queue's begin.
        for number in 1..10_000 {
            assert!(requests.remove(number).is_some());
            let bound = 4 * requests.len() + 4 * SMALL;
            assert!(
                requests.in_order.capacity() <= 2 * bound.max(SMALL),
                "{number}"
            );
        }
        assert_eq!(requests.len(), 1);
        assert!(requests.get_mut(0).is_some());
    }
}
