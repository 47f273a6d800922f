//! Timing wheel: timers by the ticks of a clock, hierarchical (Varghese and Lauck 1987).
//!
//! The wheel of level `n` has 64 slots of 64ⁿ ticks each. A timer stands in the level of the highest digit, to base 64,
//! in which its tick differs from now; when time gets there, the slot's timers move to lower levels. Starting and
//! stopping a timer take constant time, and so does passing time in which none is due.

use super::slots::{Key, Slots};

/// Number of levels: 64 ticks to the power of these are more than 64 bits can count.
const LEVELS: usize = 11;
/// Bits of a digit.
const DIGIT: u32 = 6;

/// Timing wheel with values of type `T`. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Wheel<T> {
    resolution: u64,
    /// Tick up to which time has passed.
    now: u64,
    timers: Slots<T>,
    levels: [Level; LEVELS],
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// Slots that hold timers, one bit each.
    occupied: u64,
    /// First timer of each slot.
    first: [Option<u32>; 64],
}

/// Timer that has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expired<T> {
    /// Time at which it was due.
    pub(crate) at: u64,
    /// Key of the timer, by which it may be restarted.
    pub(crate) key: Key,
    /// Value that was stored with the timer.
    pub(crate) value: T,
}

impl<T: Clone> Wheel<T> {
    /// Makes a wheel with ticks of `resolution` nanoseconds, at least 1, as of a time.
    pub(crate) fn new(resolution: u64, now: u64) -> Self {
        let resolution = resolution.max(1);
        Self {
            resolution,
            now: now / resolution,
            timers: Slots::new(),
            levels: [Level {
                occupied: 0,
                first: [None; 64],
            }; LEVELS],
        }
    }

    /// Adds a timer that is not started.
    pub(crate) fn add(&mut self, value: T) -> Key {
        self.timers.add(value)
    }

    /// Starts or restarts a timer, which is due at `at`. Does nothing for a timer that has been removed.
    pub(crate) fn start(&mut self, key: Key, at: u64) {
        self.stop(key);
        // Rounded up, so that no timer expires early; one that is due already expires at the next tick.
        let tick = at.div_ceil(self.resolution).max(self.now.saturating_add(1));
        let (level, slot) = self.place(tick);
        let first = &mut self.levels[level].first[slot];
        if let Some(index) = self.timers.started(key, at, tick, *first) {
            *first = Some(index);
            self.levels[level].occupied |= 1 << slot;
        }
    }

    /// Removes a timer.
    pub(crate) fn remove(&mut self, key: Key) {
        self.stop(key);
        self.timers.remove(key);
    }

    /// Passes time up to `now`, and appends the timers that are due, by their ticks and keys. They stay, without being started.
    /// An earlier time than before changes nothing.
    pub(crate) fn advance(&mut self, now: u64, expired: &mut Vec<Expired<T>>) {
        let until = now / self.resolution;
        let from = expired.len();
        while let Some((level, slot, tick)) = self.next_slot().filter(|next| next.2 <= until) {
            self.now = tick;
            self.empty(level, slot, expired);
        }
        self.now = self.now.max(until);
        let resolution = self.resolution;
        expired[from..].sort_by_key(|timer| (timer.at.div_ceil(resolution), timer.key));
    }

    /// Returns a time at which a timer may be due; none is before it.
    pub(crate) fn next(&self) -> Option<u64> {
        let (_, _, tick) = self.next_slot()?;
        Some(tick.saturating_mul(self.resolution))
    }

    fn stop(&mut self, key: Key) {
        if let Some((tick, links)) = self.timers.stopped(key)
            && links.previous.is_none()
        {
            // It was the first of its slot.
            let (level, slot) = self.place(tick);
            self.levels[level].first[slot] = links.next;
            if links.next.is_none() {
                self.levels[level].occupied &= !(1 << slot);
            }
        }
    }

    /// Returns level and slot of a tick that is later than now.
    fn place(&self, tick: u64) -> (usize, usize) {
        let differing = (tick ^ self.now) | 1;
        let level = differing.ilog2() / DIGIT;
        let slot = (tick >> (level * DIGIT)) & 63;
        (level as usize, slot as usize)
    }

    /// Returns the first slot that holds timers, and its first tick. Those of lower levels are earlier.
    fn next_slot(&self) -> Option<(usize, usize, u64)> {
        let level = self.levels.iter().position(|level| level.occupied != 0)?;
        let slot = self.levels[level].occupied.trailing_zeros();
        let shift = level as u32 * DIGIT;
        // Digits above the level are those of now.
        let above = self.now.checked_shr(shift + DIGIT).unwrap_or(0);
        let above = above.checked_shl(shift + DIGIT).unwrap_or(0);
        Some((level, slot as usize, above | (u64::from(slot) << shift)))
    }

    /// Moves the timers of a slot to lower levels. Those of the current tick have expired.
    fn empty(&mut self, level: usize, slot: usize, expired: &mut Vec<Expired<T>>) {
        self.levels[level].occupied &= !(1 << slot);
        let mut next = self.levels[level].first[slot].take();
        while let Some(index) = next {
            let Some((key, at, tick, links)) = self.timers.unlink(index) else {
                break;
            };
            next = links.next;
            if tick > self.now {
                self.start(key, at);
            } else if let Some(value) = self.timers.value(key) {
                let value = value.clone();
                expired.push(Expired { at, key, value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers (Marsaglia's xorshift).
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn timers_expire_by_their_times_and_never_early() {
        let mut wheel = Wheel::new(1000, 5_500);
        let times = [6_000, 5_501, 70_000, 6_001, 4_200_000, 17_000_000_000];
        for at in times {
            let key = wheel.add(at);
            wheel.start(key, at);
        }
        let mut expired = Vec::new();
        let mut now = 5_500;
        while let Some(next) = wheel.next() {
            now = now.max(next);
            wheel.advance(now, &mut expired);
            let is_late = |timer: &Expired<u64>| timer.at <= now && now < timer.at + 2_000;
            assert!(expired.iter().all(is_late), "{now}: {expired:?}");
            expired.clear();
        }
        assert!(now >= 17_000_000_000);
    }

    #[test]
    fn a_wheel_agrees_with_a_sorted_list() {
        let mut seed = 11;
        for resolution in [1, 7, 1_000_000] {
            let mut wheel = Wheel::new(resolution, 0);
            let mut list: Vec<(u64, Key)> = Vec::new();
            let mut now = 0_u64;
            for _ in 0..20_000 {
                match random(&mut seed) % 5 {
                    0..=2 => {
                        let key = wheel.add(());
                        let length = random(&mut seed) >> (random(&mut seed) % 64);
                        let at = now.saturating_add(length).max(now + 1);
                        wheel.start(key, at);
                        list.push((at, key));
                    }
                    3 if !list.is_empty() => {
                        let place = random(&mut seed) as usize % list.len();
                        wheel.remove(list.swap_remove(place).1);
                    }
                    _ => {
                        let step = random(&mut seed) >> (16 + random(&mut seed) % 48);
                        now = now.saturating_add(step);
                        let mut expired = Vec::new();
                        wheel.advance(now, &mut expired);
                        let is_due = |at: u64| at.div_ceil(resolution) <= now / resolution;
                        let mut due: Vec<_> =
                            list.iter().filter(|one| is_due(one.0)).copied().collect();
                        due.sort_by_key(|one| (one.0.div_ceil(resolution), one.1));
                        list.retain(|one| !is_due(one.0));
                        let expired: Vec<_> = expired.iter().map(|one| (one.at, one.key)).collect();
                        assert_eq!(expired, due);
                    }
                }
            }
        }
    }

    #[test]
    fn a_clock_that_goes_back_changes_nothing() {
        let mut wheel = Wheel::new(10, 1_000);
        let key = wheel.add(());
        wheel.start(key, 1_100);
        let mut expired = Vec::new();
        wheel.advance(500, &mut expired);
        wheel.advance(0, &mut expired);
        assert!(expired.is_empty());
        wheel.advance(1_100, &mut expired);
        assert_eq!(expired.len(), 1);
    }

    #[test]
    fn the_latest_time_never_comes() {
        for resolution in [1, 1_000_000] {
            let mut wheel = Wheel::new(resolution, 0);
            let key = wheel.add(());
            wheel.start(key, u64::MAX);
            let mut expired = Vec::new();
            wheel.advance(u64::MAX - 1, &mut expired);
            assert!(expired.is_empty());
            assert!(wheel.next().is_some());
        }
    }

    #[test]
    fn a_timer_that_was_removed_is_not_started() {
        let mut wheel = Wheel::new(1, 0);
        let key = wheel.add(1);
        wheel.remove(key);
        let other = wheel.add(2);
        wheel.start(key, 5);
        wheel.start(other, 6);
        let mut expired = Vec::new();
        wheel.advance(10, &mut expired);
        assert_eq!(expired.iter().map(|one| one.value).collect::<Vec<_>>(), [2]);
    }
}
