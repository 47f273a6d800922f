//! State of pulling from one supplier.

use std::time::Duration;

use crate::limits::Limits;

/// State of pulling from one supplier.
#[derive(Debug)]
pub(super) struct Pull {
    pub(super) is_suspended: bool,
    /// States that a call is under way, or is to begin, or that its events are being passed on.
    is_under_way: bool,
    back_off: Duration,
    /// States that the events of the last call wait for foreign filters before the next call, which follows at once or not.
    pub(super) waits_with: Option<bool>,
    /// Number of the turn that is waited for: earlier ones do not count any more.
    turn: u64,
}

impl Pull {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            is_suspended: false,
            is_under_way: false,
            back_off: limits.retry,
            waits_with: None,
            turn: 0,
        }
    }

    /// Notes that a call begins; returns whether one may.
    pub(super) fn begin(&mut self) -> bool {
        let begins = !self.is_under_way && !self.is_suspended;
        self.is_under_way |= begins;
        begins
    }

    /// Returns whether the call that has begun is to be made; if pulling has been suspended meanwhile, it ends.
    pub(super) fn goes_on(&mut self) -> bool {
        self.is_under_way &= !self.is_suspended;
        self.is_under_way
    }

    /// Notes that no call is under way any more.
    pub(super) fn end(&mut self) {
        self.is_under_way = false;
    }

    /// Begins to wait for another turn, in place of the one that was waited for. Returns its number.
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// Returns whether a turn is the one that is waited for.
    pub(super) fn is_turn(&self, turn: u64) -> bool {
        self.turn == turn
    }

    /// Notes that a call was answered.
    pub(super) fn reset_back_off(&mut self, limits: &Limits) {
        self.back_off = limits.retry;
    }

    /// Returns the time to wait after a call that failed, which is twice as long the next time.
    pub(super) fn back_off(&mut self, limits: &Limits) -> Duration {
        let time = self.back_off;
        self.back_off = limits.next_retry(time);
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_is_under_way_and_one_turn_is_waited_for() {
        let mut pull = Pull::new(&Limits::default());
        assert!(pull.begin());
        assert!(!pull.begin());
        pull.end();
        let first = pull.next_turn();
        assert!(pull.is_turn(first));
        // A supplier that is resumed is called at once, and the turn after that call counts alone.
        assert!(pull.begin());
        pull.end();
        let second = pull.next_turn();
        assert!(!pull.is_turn(first) && pull.is_turn(second));
        pull.is_suspended = true;
        assert!(!pull.begin());
    }

    #[test]
    fn a_call_that_is_suspended_before_it_is_made_ends_and_the_next_one_begins() {
        let mut pull = Pull::new(&Limits::default());
        assert!(pull.begin() && pull.goes_on());
        pull.is_suspended = true;
        assert!(!pull.goes_on());
        pull.is_suspended = false;
        assert!(pull.begin() && pull.goes_on());
    }
}
