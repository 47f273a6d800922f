//! Processors, and the tasks placed on each so far.

use super::super::load::{Load, WHOLE};
use super::super::rank::urgency;
use super::{Admission, Heuristic, PartitionError, Placement, Problem, by_utilisation};
use crate::analysis::Task;
use crate::analysis::fixed_priority::held_up_by;
use crate::time::Time;

/// Largest number of tasks of a processor that is tested exactly at once, before others are tested by
/// bounds.
const SMALL: usize = 32;

/// Placement in progress.
pub(super) struct Processors<'p, A> {
    problem: Problem<'p>,
    /// Load of each task.
    loads: Vec<Load>,
    admission: &'p A,
    processors: Vec<Processor>,
    /// Processor of each placed task.
    places: Vec<Option<usize>>,
    tests: u64,
}

/// Processor with its tasks.
#[derive(Clone, Default)]
struct Processor {
    /// Tasks in rising order of `D - J`, then of their index.
    tasks: Vec<usize>,
    load: Load,
    has_pinned: bool,
}

impl<'p, A: Admission> Processors<'p, A> {
    /// Places the pinned tasks.
    pub(super) fn new(problem: &Problem<'p>, admission: &'p A) -> Result<Self, PartitionError> {
        if problem.processors == 0 {
            return Err(PartitionError::NoProcessors);
        }
        let mut all = Self {
            problem: *problem,
            loads: problem.tasks.iter().map(Load::of).collect(),
            admission,
            processors: vec![Processor::default(); problem.processors],
            places: vec![None; problem.tasks.len()],
            tests: 0,
        };
        let pinned = problem.pinned.iter().take(problem.tasks.len()).enumerate();
        for (task, processor) in pinned.filter_map(|(task, place)| Some((task, (*place)?))) {
            if processor >= problem.processors {
                return Err(PartitionError::UnknownProcessor { task, processor });
            }
            if !all.admits(task, processor) {
                return Err(PartitionError::PinnedTooMuch { task, processor });
            }
            all.put(task, processor);
            all.processors[processor].has_pinned = true;
        }
        Ok(all)
    }

    /// Returns the tasks without a place, in falling order of utilisation.
    pub(super) fn free(&self) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        let free = places.filter(|(_, place)| place.is_none());
        let mut free: Vec<usize> = free.map(|(task, _)| task).collect();
        free.sort_by(|&one, &other| by_utilisation(self.task(one), self.task(other)));
        free
    }

    /// Returns the processor that a heuristic chooses for a task, if one has room.
    pub(super) fn choose(&mut self, task: usize, heuristic: Heuristic) -> Option<usize> {
        let mut order: Vec<usize> = (0..self.processors.len()).collect();
        let share = |&processor: &usize| self.processors[processor].load.share;
        match heuristic {
            Heuristic::Pinned => return None,
            Heuristic::FirstFit => {}
            Heuristic::BestFit => order.sort_by_key(|one| std::cmp::Reverse(share(one))),
            Heuristic::WorstFit => order.sort_by_key(share),
        }
        let found = order.iter().position(|&one| {
            self.surely_admits(task, one) || self.is_small(one) && self.admits(task, one)
        });
        if let Some(at) = found {
            return Some(order[at]);
        }
        order
            .into_iter()
            .find(|&one| !self.is_small(one) && self.admits(task, one))
    }

    /// Returns whether the exact test is made even if bounds show room on another processor.
    fn is_small(&self, processor: usize) -> bool {
        let is_bounded = self.admission.is_deadline_monotonic();
        !is_bounded || self.processors[processor].tasks.len() <= SMALL
    }

    /// Returns whether upper bounds of the response times show that a processor can take a task.
    ///
    /// From the least urgent task up, which is the most likely one to fail.
    fn surely_admits(&mut self, task: usize, processor: usize) -> bool {
        if !self.admission.is_deadline_monotonic() {
            return false;
        }
        self.tests += 1;
        let there = &self.processors[processor];
        let place = self.place_on(task, there);
        let (before, behind) = there.tasks.split_at(place);
        let is_held_up = !held_up_by(self.task(task)).is_zero();
        // Tasks above are affected only by sections without preemption; they passed before.
        let above = if is_held_up { before } else { &[] };
        let mut load = there.load.plus(self.loads[task]);
        let mut held_up = Time::ZERO;
        let below = behind.iter().rev().copied().chain([task]);
        below.chain(above.iter().rev().copied()).all(|one| {
            let own = self.task(one);
            load = load.minus(self.loads[one]);
            let blocking = own.blocking.max(held_up);
            held_up = held_up.max(held_up_by(own));
            load.surely_meets(own, self.loads[one], blocking)
        })
    }

    /// Returns whether a processor can take a task. An overload needs no admission test.
    pub(super) fn admits(&mut self, task: usize, processor: usize) -> bool {
        let added = self.task(task);
        let there = &self.processors[processor];
        if there.load.plus(self.loads[task]).is_overloaded() {
            return false;
        }
        self.tests += 1;
        let (before, behind) = there.tasks.split_at(self.place_on(task, there));
        let mut tasks = Vec::with_capacity(there.tasks.len() + 1);
        tasks.extend(before.iter().map(|&other| self.task(other)));
        tasks.push(added);
        tasks.extend(behind.iter().map(|&other| self.task(other)));
        self.admission.admits(&tasks)
    }

    /// Returns the place of a task among those of a processor.
    fn place_on(&self, task: usize, there: &Processor) -> usize {
        let key = |task: usize| (urgency(self.task(task)), task);
        let added = key(task);
        there.tasks.partition_point(|&other| key(other) < added)
    }

    /// Places a task on a processor.
    pub(super) fn put(&mut self, task: usize, processor: usize) {
        let load = self.loads[task];
        let at = self.place_on(task, &self.processors[processor]);
        let there = &mut self.processors[processor];
        there.load = there.load.plus(load);
        there.tasks.insert(at, task);
        self.places[task] = Some(processor);
    }

    /// Takes a task away from its processor.
    pub(super) fn take(&mut self, task: usize) {
        let Some(processor) = self.places[task].take() else {
            return;
        };
        let load = self.loads[task];
        let there = &mut self.processors[processor];
        there.load = there.load.minus(load);
        there.tasks.retain(|&other| other != task);
    }

    /// Returns whether a processor is empty and no task is pinned to it, and another one of a lower
    /// number is, too: both are alike.
    pub(super) fn is_repeated(&self, processor: usize) -> bool {
        let is_blank = |one: &Processor| one.tasks.is_empty() && !one.has_pinned;
        let (before, rest) = self.processors.split_at(processor);
        rest.first().is_some_and(is_blank) && before.iter().any(is_blank)
    }

    /// Returns the utilisation that all processors together have left.
    pub(super) fn room(&self) -> u128 {
        let room = |one: &Processor| WHOLE.saturating_sub(one.load.share);
        self.processors.iter().map(room).sum()
    }

    pub(super) fn count(&self) -> usize {
        self.processors.len()
    }

    pub(super) const fn tests(&self) -> u64 {
        self.tests
    }

    pub(super) const fn task(&self, task: usize) -> &'p Task {
        &self.problem.tasks[task]
    }

    pub(super) fn into_places(self) -> Vec<Option<usize>> {
        self.places
    }

    /// Returns the placement of all tasks, which all have a place.
    pub(super) fn into_placement(self) -> Placement {
        Placement {
            processors: self.places.into_iter().flatten().collect(),
            tests: self.tests,
        }
    }
}
