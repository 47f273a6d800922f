//! Random sets of tasks, the same in every run.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::fixed_priority::{Prioritized, responses};
use punctual_scheduling::analysis::{Preemption, Task};

/// Generator of random numbers (Marsaglia's xorshift).
pub(crate) struct Random(u64);

/// Properties of random tasks.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    /// Sum of utilisations that the sets are near to, in percent.
    pub(crate) utilisation: u64,
    /// Deadlines may be longer than periods.
    pub(crate) has_late_deadlines: bool,
    /// Tasks have release jitter.
    pub(crate) has_jitter: bool,
    /// Tasks have blocking, and sections without preemption.
    pub(crate) has_sections: bool,
}

impl Kind {
    /// Makes preemptive tasks with deadlines up to their periods.
    pub(crate) const fn plain(utilisation: u64) -> Self {
        Self {
            utilisation,
            has_late_deadlines: false,
            has_jitter: false,
            has_sections: false,
        }
    }

    /// Makes tasks of all properties.
    pub(crate) const fn all(utilisation: u64) -> Self {
        Self {
            utilisation,
            has_late_deadlines: true,
            has_jitter: true,
            has_sections: true,
        }
    }
}

/// Returns the number of random sets of one test.
pub(crate) fn count() -> u64 {
    let given = std::env::var("PUNCTUAL_SCHEDULING_SETS");
    given.map_or(200, |count| count.parse().unwrap())
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Returns a number of a range.
    pub(crate) fn within(&mut self, first: u64, last: u64) -> u64 {
        first + self.next() % (last - first + 1)
    }

    /// Returns tasks in nanoseconds, of short periods, so that exhaustive checks are quick.
    pub(crate) fn tasks(&mut self, count: u64, kind: Kind) -> Vec<Task> {
        (0..count)
            .map(|_| self.task(kind.utilisation / count, kind))
            .collect()
    }

    fn task(&mut self, share: u64, kind: Kind) -> Task {
        let period = self.within(8, 60);
        let wcet = (period * self.within(share / 2, share * 3 / 2) / 100).max(1);
        let last = if kind.has_late_deadlines {
            2 * period
        } else {
            period
        };
        let nanos = Time::from_nanos;
        let mut task = Task::new(nanos(wcet), nanos(period))
            .with_deadline(nanos(self.within((wcet + period) / 2, last)));
        if kind.has_jitter {
            task = task.with_jitter(nanos(self.within(0, period / 3)));
        }
        if kind.has_sections {
            let longest = nanos(self.within(1, wcet));
            task = task.with_blocking(nanos(self.within(0, 2)));
            task = task.with_preemption(match self.within(0, 5) {
                0 => Preemption::None,
                1 => Preemption::Segments {
                    longest,
                    last: longest,
                },
                2 => Preemption::Floating { longest },
                _ => Preemption::Full,
            });
        }
        task
    }
}

/// Gives priorities to tasks that are in falling order of priority.
pub(crate) fn in_order<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> Vec<Prioritized<'t>> {
    let with_priority = |(task, priority)| Prioritized { task, priority };
    tasks
        .into_iter()
        .zip((0..1000).rev())
        .map(with_priority)
        .collect()
}

/// Returns whether all deadlines are met, by the response times.
pub(crate) fn meets(tasks: &[Prioritized<'_>]) -> bool {
    let mut all = tasks.iter().zip(responses(tasks));
    all.all(|(one, response)| response.meets(one.task.deadline))
}

/// Returns all orders of the first numbers.
pub(crate) fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for next in 0..count {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let insert = |at| {
                let mut order = order.clone();
                order.insert(at, next);
                order
            };
            (0..=order.len()).map(insert).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
