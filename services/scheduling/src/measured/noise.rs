//! Time that a platform took of a processor, seen by a thread that only reads the clock.

use crate::time::Time;

/// Interval in which a processor did not execute the thread that watched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Begin of the interval, on any clock that does not step.
    pub from: Time,
    /// End of the interval.
    pub to: Time,
}

impl Gap {
    /// Returns the length of the interval.
    #[must_use]
    pub fn length(self) -> Time {
        self.to.saturating_sub(self.from)
    }
}

/// Returns the longest time that gaps take together in any window of a length, wherever it begins. The gaps do not
/// overlap, and are in the order of their times.
///
/// The sum is largest where the window begins with a gap, or ends with one.
#[must_use]
pub fn most_taken(gaps: &[Gap], window: Time) -> Time {
    let latest = gaps.last().map_or(Time::ZERO, |gap| gap.to);
    let mirrored = gaps.iter().rev().map(|gap| Gap {
        from: latest - gap.to,
        to: latest - gap.from,
    });
    let mirrored: Vec<Gap> = mirrored.collect();
    most_from_begins(gaps, window).max(most_from_begins(&mirrored, window))
}

/// Returns the longest time that gaps take in the windows that begin with one.
fn most_from_begins(gaps: &[Gap], window: Time) -> Time {
    let (mut most, mut inside, mut next) = (Time::ZERO, Time::ZERO, 0);
    for (at, gap) in gaps.iter().enumerate() {
        let end = gap.from + window;
        while let Some(later) = gaps.get(next).filter(|later| later.to <= end) {
            inside = inside + later.length();
            next += 1;
        }
        let cut = gaps.get(next).map_or(Time::ZERO, |later| end - later.from);
        most = most.max(inside + cut);
        if next > at {
            inside = inside - gap.length();
        } else {
            // It is longer than the window.
            next = at + 1;
        }
    }
    most
}
