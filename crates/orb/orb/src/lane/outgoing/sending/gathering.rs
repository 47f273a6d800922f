//! Gathering of one-ways in quick succession by the transport; so are deferred calls whose callers do
//! not wait ([`super::row`]).
//!
//! Over TCP a small message costs its sender several microseconds, and as much again each time that
//! the receiver is woken; a packet with many messages costs little more. In a *flood*, several
//! one-ways in quick succession, most messages are sent with a hint that more follow
//! ([`punctual_link::Gatherer`]). The operating system has accepted them, like any others
//! (SYNC_WITH_TRANSPORT), and their packet is sent
//!
//! - with the first message that is sent without that hint: a one-way when `longest` has passed,
//!   any other request at once;
//! - or by the flusher, which checks connections in a flood, as it cannot be known which one-way is
//!   the last.
//!
//! One-ways that each follow from the one before, such as events that a channel passes on one at a time,
//! are in quick succession, too, but the sender waits until each has arrived. Of these the flusher finds
//! few held back; it then takes twice as many one-ways in quick succession to make the next flood.

use std::time::{Duration, Instant};

/// Maximum interval between two one-ways that count as being in quick succession.
const CLOSE: Duration = Duration::from_micros(20);
/// Number of one-ways in quick succession that make a flood.
const FLOOD: u32 = 8;
/// Maximum number of one-ways in quick succession that make a flood, after floods that were none.
const LATEST_FLOOD: u32 = 1 << 16;
/// Time between two checks of a connection in a flood by the flusher, in multiples of `longest`.
const BETWEEN_LOOKS: u32 = 4;
/// Maximum length of messages that are gathered, in bytes.
pub(in crate::lane::outgoing) const LONGEST_MESSAGE: usize = 4096;

/// Recent one-ways of a connection, by which floods are recognised.
#[derive(Debug)]
pub(in crate::lane::outgoing) struct Gathering {
    /// Maximum time for which a one-way may be held back while others follow; zero disables it.
    longest: Duration,
    last: Option<Instant>,
    /// Number of one-way requests sent so far in quick succession.
    close: u32,
    /// Number of one-ways in quick succession that make the next flood.
    flood: u32,
    /// Number of one-ways of the current flood that were held back.
    kept: u32,
    /// Send time of the first one-way that may currently be held back.
    kept_since: Option<Instant>,
    /// True if the flusher thread is scheduled to check the connection.
    is_watched: bool,
}

/// Way in which a one-way request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane::outgoing) enum Leaving {
    AtOnce,
    /// With the hint that more follow. Contains the time within which the flusher is to check the
    /// connection, if it does not yet do so.
    BeforeMore(Option<Duration>),
}

/// Work that the flusher thread has to do for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane::outgoing) struct Look {
    /// True if the flusher must send the messages that are held back.
    pub(in crate::lane::outgoing) pushes: bool,
    /// Time after which the flusher thread checks the connection again, if at all.
    pub(in crate::lane::outgoing) again: Option<Duration>,
}

impl Gathering {
    pub(in crate::lane::outgoing) fn new(longest: Duration) -> Self {
        Self {
            longest,
            last: None,
            close: 0,
            flood: FLOOD,
            kept: 0,
            kept_since: None,
            is_watched: false,
        }
    }

    /// Returns how the one-way that is sent at `now` is to be sent.
    #[inline]
    pub(in crate::lane::outgoing) fn next(&mut self, now: Instant) -> Leaving {
        let before = self.last.replace(now);
        let is_close = before.is_some_and(|before| now.saturating_duration_since(before) < CLOSE);
        if !is_close {
            self.close = 0;
            self.kept = 0;
            self.kept_since = None;
            return Leaving::AtOnce;
        }
        self.close = self.close.saturating_add(1);
        if self.close < self.flood || self.longest.is_zero() {
            return Leaving::AtOnce;
        }
        let since = *self.kept_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= self.longest {
            self.kept_since = None;
            return Leaving::AtOnce;
        }
        self.kept = self.kept.saturating_add(1);
        let was_watched = std::mem::replace(&mut self.is_watched, true);
        Leaving::BeforeMore((!was_watched).then(|| self.between_looks()))
    }

    /// Returns what the flusher is to do for the connection at `now`.
    pub(in crate::lane::outgoing) fn look(&mut self, now: Instant) -> Look {
        let age = |since: Instant| now.saturating_duration_since(since);
        let pushes = self
            .kept_since
            .is_some_and(|since| age(since) >= self.longest);
        if pushes {
            self.kept_since = None;
            self.judge_flood();
        }
        let goes_on = self.last.is_some_and(|last| age(last) < CLOSE);
        let again = match (goes_on, self.kept_since.is_some()) {
            (true, _) => Some(self.between_looks()),
            (false, true) => Some(self.longest),
            (false, false) => None,
        };
        self.is_watched = again.is_some();
        Look { pushes, again }
    }

    /// Decides how many one-ways make the next flood, as this one has ended with a pause. To be called when the
    /// flusher sends what was held back.
    fn judge_flood(&mut self) {
        self.flood = match self.kept < FLOOD {
            true => self.flood.saturating_mul(2).min(LATEST_FLOOD),
            false => FLOOD,
        };
    }

    /// Records that the flusher does not check the connection: the next one-way that is held back
    /// must schedule a check.
    pub(in crate::lane::outgoing) fn set_unwatched(&mut self) {
        self.is_watched = false;
        self.close = 0;
    }

    /// Records that nothing is held back any more; returns `true` if anything was.
    pub(in crate::lane::outgoing) fn push(&mut self) -> bool {
        self.kept_since.take().is_some()
    }

    fn between_looks(&self) -> Duration {
        self.longest.saturating_mul(BETWEEN_LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_micros(50);
    const STEP: Duration = Duration::from_micros(1);

    struct Sender {
        gathering: Gathering,
        now: Instant,
    }

    impl Sender {
        fn new(longest: Duration) -> Self {
            Self {
                gathering: Gathering::new(longest),
                now: Instant::now(),
            }
        }

        fn sends_after(&mut self, pause: Duration) -> Leaving {
            self.now += pause;
            self.gathering.next(self.now)
        }

        /// Sends `count` one-ways, one microsecond apart; returns the number of those that were not
        /// held back.
        fn floods(&mut self, count: usize) -> usize {
            let leaves = |_: &usize| self.sends_after(STEP) == Leaving::AtOnce;
            (0..count).filter(leaves).count()
        }

        fn looks_after(&mut self, pause: Duration) -> Look {
            self.now += pause;
            self.gathering.look(self.now)
        }
    }

    #[test]
    fn one_ways_with_time_between_them_leave_at_once() {
        let mut sender = Sender::new(LONGEST);
        for _ in 0..100 {
            assert_eq!(sender.sends_after(CLOSE), Leaving::AtOnce);
        }
    }

    #[test]
    fn in_a_flood_one_leaves_whenever_the_longest_time_has_passed() {
        let mut sender = Sender::new(LONGEST);
        assert_eq!(sender.floods(8), 8);
        // 50 are kept back, and the next one takes them along.
        assert_eq!(sender.floods(51 * 10), 10);
        assert_eq!(sender.sends_after(CLOSE), Leaving::AtOnce);
        assert_eq!(sender.floods(7), 7, "another flood begins");
    }

    #[test]
    fn the_flusher_is_told_once_and_pushes_what_the_last_one_has_left() {
        let mut sender = Sender::new(LONGEST);
        sender.floods(8);
        assert_eq!(
            sender.sends_after(STEP),
            Leaving::BeforeMore(Some(LONGEST * BETWEEN_LOOKS))
        );
        assert_eq!(sender.sends_after(STEP), Leaving::BeforeMore(None));
        let goes_on = Look {
            pushes: false,
            again: Some(LONGEST * BETWEEN_LOOKS),
        };
        assert_eq!(sender.looks_after(STEP), goes_on);
        let is_young = Look {
            pushes: false,
            again: Some(LONGEST),
        };
        assert_eq!(sender.looks_after(CLOSE), is_young);
        let is_last = Look {
            pushes: true,
            again: None,
        };
        assert_eq!(sender.looks_after(LONGEST), is_last);
    }

    #[test]
    fn one_ways_that_wait_for_each_other_are_held_back_less_and_less() {
        let mut sender = Sender::new(LONGEST);
        let mut held = 0;
        for _ in 0..100_000 {
            if sender.sends_after(STEP) != Leaving::AtOnce {
                held += 1;
                // The next one is sent when this one has arrived.
                assert!(sender.looks_after(LONGEST * BETWEEN_LOOKS).pushes);
            }
        }
        assert_eq!(held, 13, "one of 8, one of 16, and so on");
        // A real flood is gathered later, and the one behind it as early as ever.
        sender.floods(LATEST_FLOOD as usize);
        while sender.sends_after(STEP) == Leaving::AtOnce {}
        assert!(sender.looks_after(LONGEST).pushes);
        assert_eq!(sender.sends_after(CLOSE), Leaving::AtOnce);
        assert_eq!(sender.floods(8), 7);
    }

    #[test]
    fn a_look_at_a_connection_that_keeps_nothing_is_the_last_one() {
        let mut sender = Sender::new(LONGEST);
        sender.floods(20);
        assert!(sender.gathering.push());
        let nothing = Look {
            pushes: false,
            again: None,
        };
        assert_eq!(sender.looks_after(LONGEST), nothing);
        assert!(!sender.gathering.push());
    }

    #[test]
    fn where_nothing_may_be_kept_all_leave_at_once() {
        assert_eq!(Sender::new(Duration::ZERO).floods(100), 100);
    }
}
