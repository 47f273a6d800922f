//! Random sets of tasks, in small whole numbers.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::{Preemption, Task};

/// Periods whose least common multiple is 720: simulations end.
const PERIODS: [u64; 16] = [4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 40, 48];

/// Pseudo-random numbers (SplitMix64, Steele et al. 2014), the same from each seed on any machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

/// Kinds of tasks that a set may have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds {
    pub(super) jitter: bool,
    pub(super) late_deadlines: bool,
    pub(super) unpreempted: bool,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xA24B_AED4_963E_E407))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Draws a number from a closed range.
    pub(crate) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// Draws with a chance of one in `of`.
    pub(crate) fn one_in(&mut self, of: u64) -> bool {
        self.within(1, of) == 1
    }

    #[expect(clippy::cast_precision_loss, reason = "a number from 0 to 1")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a set, with utilisations by UUniFast (Bini and Buttazzo 2005) of a sum around 0.8.
    pub(super) fn set(&mut self, kinds: Kinds) -> Vec<Task> {
        let count = self.within(2, 5);
        let mut rest = 0.45 + 0.65 * self.unit();
        let task = |left: u64| {
            let share = if left == 1 {
                rest
            } else {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let next = rest * self.unit().powf(((left - 1) as f64).recip());
                std::mem::replace(&mut rest, next) - next
            };
            self.task(share, kinds)
        };
        (1..=count).rev().map(task).collect()
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small numbers above zero"
    )]
    fn task(&mut self, share: f64, kinds: Kinds) -> Task {
        let period = PERIODS[self.within(0, 15) as usize];
        let wcet = ((share * period as f64).round() as u64).clamp(1, period);
        let latest = if kinds.late_deadlines { 3 } else { 1 } * period;
        let deadline = if self.one_in(2) {
            period
        } else {
            self.within(wcet, latest)
        };
        let mut task = Task::new(time(wcet), time(period)).with_deadline(time(deadline));
        if kinds.jitter && self.one_in(2) {
            task.jitter = time(self.within(0, period * 3 / 2));
        }
        if kinds.unpreempted {
            task.preemption = self.preemption(wcet);
        }
        task
    }

    pub(super) fn preemption(&mut self, wcet: u64) -> Preemption {
        match self.within(1, 4) {
            1 => Preemption::Full,
            2 => Preemption::None,
            3 if wcet > 1 => {
                let last = self.within(1, wcet / 2);
                let longest = time(self.within(last, wcet - last));
                let last = time(last);
                Preemption::Segments { longest, last }
            }
            _ => Preemption::Floating {
                longest: time(self.within(1, wcet)),
            },
        }
    }
}

pub(super) fn time(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}
