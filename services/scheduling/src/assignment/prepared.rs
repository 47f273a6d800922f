//! Responses of a placed set, kept up to date: a change of one task costs the analysis of the tasks
//! that it can affect, on its own processor.

use std::collections::BTreeMap;

use crate::analysis::fixed_priority::{Prioritized, held_up_by, response};
use crate::analysis::{Response, Task};

/// Task with its processor and priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Task.
    pub task: Task,
    /// Number of the processor.
    pub processor: usize,
    /// Priority; larger numbers are served first.
    pub priority: i32,
}

/// Set of tasks on processors, with the response time of each.
#[derive(Clone, Debug)]
pub struct Prepared {
    tasks: Vec<Placed>,
    responses: Vec<Response>,
    /// Tasks of each processor.
    processors: BTreeMap<usize, Vec<usize>>,
    /// Position of each task among those of its processor.
    positions: Vec<usize>,
}

/// Effect of a change of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Response times that were recomputed, by index of the task; all others stay.
    pub responses: Vec<(usize, Response)>,
    /// Tasks that meet their deadlines now, and would not with the change.
    pub broken: Vec<usize>,
    /// Tasks that miss their deadlines now, and would not with the change.
    pub mended: Vec<usize>,
}

impl Prepared {
    /// Analyses a placed set.
    #[must_use]
    pub fn new(tasks: Vec<Placed>) -> Self {
        let mut processors: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut positions = Vec::with_capacity(tasks.len());
        for (index, one) in tasks.iter().enumerate() {
            let on_it = processors.entry(one.processor).or_default();
            positions.push(on_it.len());
            on_it.push(index);
        }
        let mut responses = vec![Response::Unbounded; tasks.len()];
        for indices in processors.values() {
            let on_it = prioritized(&tasks, indices);
            for (at, &index) in indices.iter().enumerate() {
                responses[index] = response(&on_it, at);
            }
        }
        Self {
            tasks,
            responses,
            processors,
            positions,
        }
    }

    /// Returns the tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Placed] {
        &self.tasks
    }

    /// Returns the response time of each task.
    #[must_use]
    pub fn responses(&self) -> &[Response] {
        &self.responses
    }

    /// Returns whether all tasks meet their deadlines.
    #[must_use]
    pub fn fits(&self) -> bool {
        let mut all = self.tasks.iter().zip(&self.responses);
        all.all(|(one, response)| response.meets(one.task.deadline))
    }

    /// Returns the effect of giving one task other parameters, without applying it. Its processor and
    /// priority stay.
    ///
    /// # Panics
    /// If `index` is not below the number of tasks.
    #[must_use]
    pub fn what_if(&self, index: usize, task: &Task) -> Effect {
        let processor = &self.processors[&self.tasks[index].processor];
        let mut on_it = prioritized(&self.tasks, processor);
        on_it[self.positions[index]].task = task;
        let affected = self.affected(index, task);
        let responses = affected
            .into_iter()
            .map(|other| (other, response(&on_it, self.positions[other])))
            .collect();
        self.effect(index, task, responses)
    }

    /// Gives one task other parameters, and returns the effect.
    ///
    /// # Panics
    /// If `index` is not below the number of tasks.
    pub fn change(&mut self, index: usize, task: Task) -> Effect {
        let effect = self.what_if(index, &task);
        self.tasks[index].task = task;
        for &(other, response) in &effect.responses {
            self.responses[other] = response;
        }
        effect
    }

    /// Returns the tasks whose response time can differ after a change: those at or below the
    /// priority if the demand differs, those above if the time differs for which it holds them up.
    fn affected(&self, index: usize, task: &Task) -> Vec<usize> {
        let Placed {
            task: old,
            processor,
            priority,
        } = &self.tasks[index];
        let demand = |one: &Task| (one.wcet, one.period, one.jitter);
        let is_other_demand = demand(old) != demand(task);
        let is_other_hold = held_up_by(old) != held_up_by(task);
        // A deadline alone changes no response.
        let is_own =
            is_other_demand || old.blocking != task.blocking || old.preemption != task.preemption;
        let is_affected = |&other: &usize| {
            if other == index {
                return is_own;
            }
            let is_above = self.tasks[other].priority > *priority;
            if is_above {
                is_other_hold
            } else {
                is_other_demand
            }
        };
        let on_it = self.processors[processor].iter().copied();
        on_it.filter(is_affected).collect()
    }

    fn effect(&self, index: usize, task: &Task, responses: Vec<(usize, Response)>) -> Effect {
        let (mut broken, mut mended) = (Vec::new(), Vec::new());
        let mut note = |other: usize, after: Response| {
            let old = &self.tasks[other].task;
            let new = if other == index { task } else { old };
            let met = self.responses[other].meets(old.deadline);
            match (met, after.meets(new.deadline)) {
                (true, false) => broken.push(other),
                (false, true) => mended.push(other),
                _ => {}
            }
        };
        for &(other, after) in &responses {
            note(other, after);
        }
        // Its deadline may differ where its response does not.
        if responses.iter().all(|(other, _)| *other != index) {
            note(index, self.responses[index]);
        }
        Effect {
            responses,
            broken,
            mended,
        }
    }
}

/// Returns some of the tasks, with their priorities.
fn prioritized<'t>(tasks: &'t [Placed], indices: &[usize]) -> Vec<Prioritized<'t>> {
    let tasks = indices.iter().map(|&index| &tasks[index]);
    tasks
        .map(|one| Prioritized {
            task: &one.task,
            priority: one.priority,
        })
        .collect()
}
