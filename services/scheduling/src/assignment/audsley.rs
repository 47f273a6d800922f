//! Optimal priority assignment (Audsley 1991, 2001): finds an order that meets all deadlines if there
//! is one, also with jitter, blocking, non-preemptive sections and deadlines beyond periods, where no
//! monotonic order is optimal.
//!
//! The response time of a task depends on the set of the tasks above it, not on their order. So any
//! task that meets its deadline at the lowest place can have it, and the rest is a smaller problem.

use std::cmp::Reverse;

use super::decision::meets_exactly;
use super::load::{Load, Verdict};
use super::rank::{Candidate, Order, urgency};
use crate::analysis::Task;
use crate::analysis::fixed_priority::held_up_by;
use crate::time::Time;

/// Rule that chooses among tasks that could all take the lowest place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The task with the longest `D - J` takes it; then the least critical, then the least
    /// important. The order stays close to the deadline monotonic one.
    #[default]
    Deadline,
    /// The least critical task takes it, so that critical tasks get the highest places that leave
    /// all deadlines met; then the one with the longest `D - J`, then the least important.
    Criticality,
}

/// Reason why there is no order: from some place on, no task can take the next one.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no order of priorities meets all deadlines: none of {} tasks can be the least urgent of them",
    stuck.len()
)]
pub struct NoOrder {
    /// Tasks that have a place, the least urgent first.
    pub placed: Vec<usize>,
    /// Tasks of which none meets its deadline below the others, in rising order.
    pub stuck: Vec<usize>,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for NoOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Returns an order of priority in which all tasks of a processor meet their deadlines.
///
/// Takes up to `n * n / 2` tests of one task, of which bounds in constant time decide most.
///
/// # Errors
/// [`NoOrder`] if no order of these tasks meets all deadlines.
pub fn assign(candidates: &[Candidate], preference: Preference) -> Result<Order, NoOrder> {
    let candidates: Vec<&Candidate> = candidates.iter().collect();
    assign_below(None, &candidates, preference)
}

/// Returns an order as [`assign`], below the time that the platform takes.
pub(crate) fn assign_below(
    platform: Option<&Task>,
    candidates: &[&Candidate],
    preference: Preference,
) -> Result<Order, NoOrder> {
    let mut search = Search::new(platform, candidates, preference);
    while !search.waiting.is_empty() {
        let Some(at) = search.lowest() else {
            return Err(search.stuck());
        };
        search.place(at);
    }
    search.placed.reverse();
    Ok(Order::of(search.placed))
}

/// State of the search: the lowest places are taken.
struct Search<'c> {
    /// Time that the platform takes, above all tasks.
    platform: Option<&'c Task>,
    candidates: &'c [&'c Candidate],
    /// Tasks without a place, in order of preference for the lowest.
    waiting: Vec<usize>,
    /// Load of all waiting tasks, and of the platform.
    load: Load,
    /// Tasks with a place, the least urgent first.
    placed: Vec<usize>,
    /// Longest time for which a placed task holds up others.
    held_up: Time,
}

impl<'c> Search<'c> {
    fn new(
        platform: Option<&'c Task>,
        candidates: &'c [&'c Candidate],
        preference: Preference,
    ) -> Self {
        let mut waiting: Vec<usize> = (0..candidates.len()).rev().collect();
        let late = |candidate: &Candidate| Reverse(urgency(&candidate.task));
        waiting.sort_by_key(|&index| {
            let one = candidates[index];
            match preference {
                Preference::Deadline => (None, late(one), Some(one.criticality), one.importance),
                Preference::Criticality => (Some(one.criticality), late(one), None, one.importance),
            }
        });
        let tasks = candidates.iter().map(|candidate| &candidate.task);
        Self {
            platform,
            candidates,
            waiting,
            load: Load::sum(platform.into_iter().chain(tasks)),
            placed: Vec::new(),
            held_up: Time::ZERO,
        }
    }

    /// Returns the first waiting task, as a position, that meets its deadline below all others.
    fn lowest(&self) -> Option<usize> {
        (0..self.waiting.len()).find(|&at| self.is_met(at))
    }

    fn is_met(&self, at: usize) -> bool {
        let own = self.task(self.waiting[at]);
        let blocking = own.blocking.max(self.held_up);
        let load = self.load.without(own);
        match load.verdict(own, blocking) {
            Verdict::Meets => true,
            Verdict::Misses => false,
            Verdict::Unknown => {
                let others = self.waiting.iter().enumerate();
                let others = others
                    .filter(|(other, _)| *other != at)
                    .map(|(_, &index)| self.task(index));
                let above: Vec<&Task> = self.platform.into_iter().chain(others).collect();
                meets_exactly(own, &above, load, blocking)
            }
        }
    }

    /// Gives the lowest place to a waiting task.
    fn place(&mut self, at: usize) {
        let index = self.waiting.remove(at);
        let task = self.task(index);
        self.load = self.load.without(task);
        self.held_up = self.held_up.max(held_up_by(task));
        self.placed.push(index);
    }

    fn task(&self, index: usize) -> &'c Task {
        &self.candidates[index].task
    }

    fn stuck(mut self) -> NoOrder {
        self.waiting.sort_unstable();
        NoOrder {
            placed: self.placed,
            stuck: self.waiting,
        }
    }
}
