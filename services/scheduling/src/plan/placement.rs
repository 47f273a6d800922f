//! Places streams on the processors of their hosts.

use super::priorities::candidate;
use crate::analysis::Task;
use crate::analysis::edf::{Sharing, band_test};
use crate::assignment::lineup::Lineup;
use crate::assignment::partition::{
    Admission, DeadlineMonotonic, Heuristic, PartitionError, Placement, Problem, partition,
    place as by,
};
use crate::model::{Interference, Model};
use crate::release::Stream;
use crate::strategy::{Dispatching, Strategy};
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// Number of admission tests after which the search for a placement ends.
const SEARCH: u64 = 20_000;

/// Processor of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Index of the host.
    pub host: usize,
    /// Number of the processor on its host.
    pub number: usize,
}

/// Returns the processors of all hosts.
pub(super) fn processors(model: &Model) -> Vec<Processor> {
    let hosts = model.hosts.iter().enumerate();
    hosts
        .flat_map(|(host, described)| {
            (0..described.processors).map(move |number| Processor { host, number })
        })
        .collect()
}

/// Returns the time that the platform takes of each processor.
pub(super) fn interference(model: &Model, processors: &[Processor]) -> Vec<Option<Task>> {
    let of = |one: &Processor| model.hosts[one.host].interference.map(Interference::task);
    processors.iter().map(of).collect()
}

/// Returns the processor of each stream: where it is pinned, or where there is room.
pub(super) fn place(
    model: &Model,
    streams: &[Stream],
    processors: &[Processor],
    strategy: &dyn Strategy,
) -> Vec<usize> {
    let mut homes = vec![0; streams.len()];
    for (host, described) in model.hosts.iter().enumerate() {
        let here: Vec<usize> = (0..streams.len())
            .filter(|&index| model.operations[streams[index].operation].host == host)
            .collect();
        let tasks: Vec<Task> = here
            .iter()
            .map(|&index| streams[index].task.clone())
            .collect();
        let pinned = here
            .iter()
            .map(|&index| model.operations[streams[index].operation].processor);
        let mut pinned: Vec<_> = pinned.collect();
        let sharing: Vec<&Stream> = here.iter().map(|&index| &streams[index]).collect();
        keep_together(&sharing, described.processors, &mut pinned);
        let problem = Problem {
            tasks: &tasks,
            pinned: &pinned,
            processors: described.processors,
        };
        let is_static = sharing
            .iter()
            .all(|stream| strategy.dispatching(&candidate(model, stream)) == Dispatching::Static);
        let platform = described.interference.map(Interference::task);
        let placed = spread(&problem, is_static, platform.as_ref());
        let first = processors
            .iter()
            .position(|one| one.host == host)
            .unwrap_or(0);
        for (at, index) in here.into_iter().enumerate() {
            homes[index] = first + placed.get(at).copied().unwrap_or(0);
        }
    }
    homes
}

/// Pins streams that share mutexes to one processor: where one of them is pinned, else where the pinned
/// streams take least.
fn keep_together(streams: &[&Stream], processors: usize, pinned: &mut [Option<usize>]) {
    let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, stream) in streams.iter().enumerate() {
        for section in &stream.sections {
            users.entry(section.mutex).or_default().push(at);
        }
    }
    for users in users.values().filter(|users| users.len() > 1) {
        let home = users.iter().find_map(|&at| pinned[at]);
        let home = home.unwrap_or_else(|| least_loaded(streams, processors, pinned));
        for &at in users {
            pinned[at].get_or_insert(home);
        }
    }
}

fn least_loaded(streams: &[&Stream], processors: usize, pinned: &[Option<usize>]) -> usize {
    let mut loads = vec![0.0; processors];
    for (stream, home) in streams.iter().zip(pinned) {
        if let Some(load) = home.and_then(|home| loads.get_mut(home)) {
            *load += stream.task.wcet.ratio(stream.task.period);
        }
    }
    least_of(&loads)
}

/// Returns the first processor of the least load.
fn least_of(loads: &[f64]) -> usize {
    let loads = loads.iter().enumerate();
    let least = loads.min_by(|(_, one), (_, other)| one.total_cmp(other));
    least.map_or(0, |(processor, _)| processor)
}

/// Spreads the load evenly if all deadlines are met so, else as the heuristics and the search find,
/// else evenly all the same.
fn spread(problem: &Problem<'_>, is_static: bool, platform: Option<&Task>) -> Vec<usize> {
    if problem.processors == 1 {
        return vec![0; problem.tasks.len()];
    }
    let tested = match (is_static, platform) {
        (true, None) => tested(problem, &DeadlineMonotonic),
        _ => tested(problem, &|tasks: &[&Task]| {
            admits(tasks, is_static, platform)
        }),
    };
    tested.map_or_else(|_| evenly(problem), |found: Placement| found.processors)
}

/// Places pinned tasks at their processors, and the others, in falling order of utilisation, at the least loaded
/// processor, even if they do not fit.
fn evenly(problem: &Problem<'_>) -> Vec<usize> {
    let share = |task: &Task| task.wcet.ratio(task.period);
    let mut places: Vec<Option<usize>> = problem.pinned.to_vec();
    places.resize(problem.tasks.len(), None);
    let mut loads = vec![0.0; problem.processors];
    for (task, place) in problem.tasks.iter().zip(&places) {
        if let Some(load) = place.and_then(|place| loads.get_mut(place)) {
            *load += share(task);
        }
    }
    let mut free: Vec<usize> = (0..places.len())
        .filter(|&at| places[at].is_none())
        .collect();
    free.sort_by(|&one, &other| {
        share(&problem.tasks[other]).total_cmp(&share(&problem.tasks[one]))
    });
    for task in free {
        let least = least_of(&loads);
        loads[least] += share(&problem.tasks[task]);
        places[task] = Some(least);
    }
    places.into_iter().map(|place| place.unwrap_or(0)).collect()
}

fn tested(problem: &Problem<'_>, admission: &impl Admission) -> Result<Placement, PartitionError> {
    by(problem, Heuristic::WorstFit, admission).or_else(|_| partition(problem, admission, SEARCH))
}

/// Returns whether a processor by itself has room for tasks, which are in deadline monotonic order.
pub(super) fn admits(tasks: &[&Task], is_static: bool, platform: Option<&Task>) -> bool {
    match (is_static, platform) {
        (true, None) => DeadlineMonotonic.admits(tasks),
        (true, Some(platform)) => fits_beside(platform, tasks),
        (false, _) => has_feasible_demand(tasks, platform),
    }
}

/// Returns whether tasks in deadline monotonic order meet their deadlines where the platform takes time.
fn fits_beside(platform: &Task, tasks: &[&Task]) -> bool {
    let all = std::iter::once(platform).chain(tasks.iter().copied());
    Lineup::in_order(all.collect()).fits()
}

fn has_feasible_demand(tasks: &[&Task], platform: Option<&Task>) -> bool {
    let alone = |task| Sharing {
        task,
        sections: &[],
    };
    let sharing: Vec<_> = tasks.iter().copied().map(alone).collect();
    let above: Vec<&Task> = platform.into_iter().collect();
    band_test(&sharing, &above, Time::ZERO).is_feasible()
}

/// Checks that no two processors share a mutex: no bound of blocking holds for that.
pub(super) fn check_mutexes(
    model: &Model,
    streams: &[Stream],
    homes: &[usize],
) -> Result<(), Vec<Diagnostic>> {
    let mut first: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut faults: BTreeMap<usize, Diagnostic> = BTreeMap::new();
    for (stream, &home) in streams.iter().zip(homes) {
        for section in &stream.sections {
            let &mut (there, other) = first
                .entry(section.mutex)
                .or_insert((home, stream.operation));
            if there == home || faults.contains_key(&section.mutex) {
                continue;
            }
            let name = |operation: usize| &model.operations[operation].name;
            let message = format!(
                "`{}` and `{}` lock mutex `{}` on different processors",
                name(other),
                name(stream.operation),
                model.mutexes[section.mutex]
            );
            let fault = model
                .error_at(stream.operation, message, "on another processor")
                .with_help("pin both to one processor by the key `processor`");
            faults.insert(section.mutex, fault);
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.into_values().collect()),
    }
}
