//! Tasks of one processor in falling order of priority, and the test that all of them meet their
//! deadlines: bounds first, the exact decision where they leave it open.

use super::decision::meets_exactly;
use super::load::{Load, Verdict};
use crate::analysis::Task;
use crate::analysis::fixed_priority::{Prioritized, held_up_by, tail};
use crate::time::Time;

/// Returns whether all tasks of a processor meet their deadlines: as
/// [`responses`](crate::analysis::fixed_priority::responses) says, but without computing response
/// times that cheap bounds decide.
#[must_use]
pub fn fits(tasks: &[Prioritized<'_>]) -> bool {
    Lineup::new(tasks).fits()
}

/// Tasks in falling order of priority.
pub(crate) struct Lineup<'t> {
    /// Tasks, the most urgent first.
    pub(crate) tasks: Vec<&'t Task>,
    /// End of each task's group of equal priority, as a position.
    ends: Vec<usize>,
    /// Longest time for which the tasks from a position on hold up those before them.
    held_up: Vec<Time>,
    /// `true` if the platform takes time: from sections without preemption, too, which the bounds do not know.
    is_interrupted: bool,
}

impl<'t> Lineup<'t> {
    /// Sorts tasks by priority.
    pub(crate) fn new(tasks: &[Prioritized<'t>]) -> Self {
        let mut sorted = tasks.to_vec();
        sorted.sort_by_key(|task| std::cmp::Reverse(task.priority));
        let mut ends = vec![sorted.len(); sorted.len()];
        for at in (1..sorted.len()).rev() {
            let is_last = sorted[at - 1].priority != sorted[at].priority;
            ends[at - 1] = if is_last { at } else { ends[at] };
        }
        Self::with_ends(sorted.into_iter().map(|task| task.task).collect(), ends)
    }

    /// Takes tasks that are sorted, and of which no two have one priority.
    pub(crate) fn in_order(tasks: Vec<&'t Task>) -> Self {
        let ends = (1..=tasks.len()).collect();
        Self::with_ends(tasks, ends)
    }

    fn with_ends(tasks: Vec<&'t Task>, ends: Vec<usize>) -> Self {
        let mut held_up = vec![Time::ZERO; tasks.len() + 1];
        for at in (0..tasks.len()).rev() {
            held_up[at] = held_up[at + 1].max(held_up_by(tasks[at]));
        }
        Self {
            is_interrupted: tasks.iter().any(|task| task.is_interference),
            tasks,
            ends,
            held_up,
        }
    }

    /// Returns whether all tasks meet their deadlines.
    pub(crate) fn fits(&self) -> bool {
        let Some(open) = self.open() else {
            return false;
        };
        // The least urgent tasks are the most likely ones to fail.
        open.into_iter()
            .rev()
            .all(|(at, load)| self.meets(at, self.ends[at], load))
    }

    /// Returns the positions that the bounds leave undecided, with the load above them; `None` if a
    /// task misses its deadline.
    fn open(&self) -> Option<Vec<(usize, Load)>> {
        let (mut load, mut end, mut open) = (Load::default(), 0, Vec::new());
        for (at, own) in self.tasks.iter().enumerate() {
            while end < self.ends[at] {
                load = load.with(self.tasks[end]);
                end += 1;
            }
            let above = load.without(own);
            match self.verdict(at, end, above) {
                Verdict::Meets => {}
                Verdict::Misses => return None,
                Verdict::Unknown => open.push((at, above)),
            }
        }
        Some(open)
    }

    /// Returns what the bounds say of a task if the others before `end`, of the given load, are its superiors.
    pub(crate) fn verdict(&self, at: usize, end: usize, load: Load) -> Verdict {
        let own = self.tasks[at];
        match load.verdict(own, self.blocking(at, end)) {
            Verdict::Meets if self.is_interrupted && !tail(own).is_zero() => Verdict::Unknown,
            verdict => verdict,
        }
    }

    /// Returns whether a task meets its deadline if the others before `end`, of the given load, are
    /// its superiors.
    pub(crate) fn meets(&self, at: usize, end: usize, load: Load) -> bool {
        let own = self.tasks[at];
        let (before, behind) = (&self.tasks[..at], &self.tasks[at + 1..end]);
        let blocking = self.blocking(at, end);
        if behind.is_empty() {
            return meets_exactly(own, before, load, blocking);
        }
        meets_exactly(own, &[before, behind].concat(), load, blocking)
    }

    /// Returns the time for which lower priorities hold up a task, those from `end` on.
    pub(crate) fn blocking(&self, at: usize, end: usize) -> Time {
        match self.tasks[at].is_interference {
            true => Time::ZERO,
            false => self.tasks[at].blocking.max(self.held_up[end]),
        }
    }
}
