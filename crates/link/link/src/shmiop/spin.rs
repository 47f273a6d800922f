//! Looking for something for a while before sleeping, for as long as that pays.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// After this many waits that were not looked for at all, one is, to see whether it pays again.
const PROBE: u32 = 16;
/// Looks between two looks at the clock.
const LOOKS: u32 = 32;
/// A shorter look costs less than it takes to note it.
const SHORTEST: Duration = Duration::from_micros(1);

/// A budget of time that halves with each look in vain and is whole again after one that paid.
///
/// What is waited for may come late (a busy peer, a quiet client), or never while this thread holds the
/// processor that the peer needs: then a few waits bring the budget to nothing, and only one in
/// [`PROBE`] tries again.
#[derive(Debug)]
pub(super) struct Spin {
    most: Duration,
    budget: Duration,
    /// Waits since the budget came to nothing.
    idle: u32,
}

impl Spin {
    pub(super) fn new(most: Duration) -> Self {
        Self {
            most,
            budget: most,
            idle: 0,
        }
    }

    /// Whether it never looks at all.
    pub(super) fn is_off(&self) -> bool {
        self.most.is_zero()
    }

    /// Looks until `ready` or the budget is used up, and tells which.
    pub(super) fn until(&mut self, ready: impl Fn() -> bool) -> bool {
        if ready() {
            return true;
        }
        let budget = self.next_budget();
        if budget.is_zero() {
            return false;
        }
        let begin = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if ready() {
                    self.budget = self.most;
                    return true;
                }
                spin_loop();
            }
            if begin.elapsed() >= budget {
                break;
            }
        }
        let half = self.budget / 2;
        self.budget = if half < SHORTEST {
            Duration::ZERO
        } else {
            half
        };
        false
    }

    fn next_budget(&mut self) -> Duration {
        if self.budget.is_zero() {
            self.idle += 1;
            if self.idle >= PROBE {
                self.idle = 0;
                return self.most;
            }
        }
        self.budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn looking_in_vain_comes_to_nothing_and_one_that_pays_restores_it() {
        let most = Duration::from_micros(8);
        let mut spin = Spin::new(most);
        let mut waits = 0;
        while !spin.budget.is_zero() {
            assert!(!spin.until(|| false));
            waits += 1;
        }
        assert_eq!(waits, 4);
        let looks = Cell::new(0);
        for _ in 1..PROBE {
            looks.set(0);
            spin.until(|| {
                looks.set(looks.get() + 1);
                false
            });
            assert_eq!(looks.get(), 1);
        }
        looks.set(0);
        assert!(spin.until(|| {
            looks.set(looks.get() + 1);
            looks.get() > 3
        }));
        assert_eq!(spin.budget, most);
    }

    #[test]
    fn without_a_budget_there_is_one_look() {
        let looks = Cell::new(0);
        let mut spin = Spin::new(Duration::ZERO);
        assert!(!spin.until(|| {
            looks.set(looks.get() + 1);
            false
        }));
        assert_eq!(looks.get(), 1);
    }
}
