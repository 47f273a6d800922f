//! Responses of the streams of one processor, of which some levels dispatch by deadline or laxity.

use crate::analysis::blocking::{
    Blocking, CriticalSection, Locking, Protocol, blocking as blocked,
};
use crate::analysis::edf::{Sharing, band_test};
use crate::analysis::fixed_priority::{Prioritized, bound};
use crate::analysis::{Response, Task, edf};
use crate::strategy::Dispatching;
use crate::time::Time;

/// Number of streams of a processor up to which response times under EDF are computed: for many it
/// takes seconds.
const MOST_OF_EDF: usize = 24;

/// Stream on a processor.
pub(super) struct Resident<'s> {
    pub(super) task: &'s Task,
    pub(super) sections: &'s [CriticalSection],
    pub(super) level: usize,
    pub(super) jitter: Time,
    pub(super) suspended: Time,
    /// Response as it was found last.
    pub(super) before: Response,
    pub(super) blocking: Time,
}

/// Responses of one stream.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Counted from the nominal release.
    pub(super) response: Response,
    /// Counted from the actual release.
    pub(super) local: Response,
}

/// Returns the blocking of each stream by those of lower levels.
pub(super) fn blocking(residents: &[Resident<'_>], protocol: Protocol) -> Vec<Blocking> {
    let locking: Vec<_> = residents
        .iter()
        .map(|resident| Locking {
            prioritized: Prioritized {
                task: resident.task,
                priority: priority(resident.level),
            },
            sections: resident.sections,
        })
        .collect();
    blocked(&locking, protocol)
}

/// Returns the priority of a level.
fn priority(level: usize) -> i32 {
    i32::try_from(level).map_or(i32::MIN, |level| -level)
}

/// Returns the responses of all streams of a processor.
pub(super) fn responses(residents: &[Resident<'_>], levels: &[Dispatching]) -> Vec<Found> {
    // As others see them: with the jitter that a suspension adds.
    let seen: Vec<Task> = residents.iter().map(seen_by_others).collect();
    let bands: Vec<Option<Vec<Response>>> = levels
        .iter()
        .enumerate()
        .map(|(level, dispatching)| band(residents, &seen, level, *dispatching, levels.len()))
        .collect();
    let mut taken = vec![0; levels.len()];
    let mut found = Vec::with_capacity(residents.len());
    for (index, resident) in residents.iter().enumerate() {
        let response = match &bands[resident.level] {
            Some(responses) => {
                let place = &mut taken[resident.level];
                *place += 1;
                let response = responses[*place - 1];
                Found {
                    response,
                    local: response,
                }
            }
            None => of_static(residents, &seen, index),
        };
        found.push(response);
    }
    found
}

fn seen_by_others(resident: &Resident<'_>) -> Task {
    let mut task = resident.task.clone().with_jitter(resident.jitter);
    if !resident.suspended.is_zero() {
        let response = resident
            .before
            .bound()
            .unwrap_or(task.deadline)
            .min(task.deadline);
        task.jitter = task.jitter.max(response - task.wcet);
    }
    task
}

/// Returns the response of a stream of a static level.
fn of_static(residents: &[Resident<'_>], seen: &[Task], index: usize) -> Found {
    let own = &residents[index];
    let others = residents.iter().zip(seen).enumerate();
    let above: Vec<&Task> = others
        .filter(|(at, (other, _))| *at != index && other.level <= own.level)
        .map(|(_, (_, task))| task)
        .collect();
    let mut task = own.task.clone().with_jitter(own.jitter);
    task.wcet = task.wcet + own.suspended;
    let response = match task.wcet.is_zero() {
        // A conjunction, which takes no time.
        true => Response::Within(own.jitter),
        false => bound(&task, &above, own.blocking),
    };
    let local = match own.jitter.is_zero() {
        true => response,
        false => bound(&task.with_jitter(Time::ZERO), &above, own.blocking),
    };
    Found { response, local }
}

/// Returns whether the demand test covers a stream: by laxity none with sections of any kind, as a job
/// of later deadline may begin one first; beside other levels none with mutexes, as their priorities
/// may be inherited.
fn is_covered(resident: &Resident<'_>, dispatching: Dispatching, levels: usize) -> bool {
    let is_preempted_anywhere = resident.task.longest_section().is_zero();
    let locks_nothing = resident.sections.is_empty();
    match dispatching {
        Dispatching::Laxity => is_preempted_anywhere && locks_nothing,
        _ => levels == 1 || locks_nothing,
    }
}

/// Returns the responses of a level that dispatches by deadline or laxity. `None` for a static level,
/// and for streams that no test covers: they are analysed as if each were the others' superior,
/// which is safe for any order.
///
/// Where EDF has the whole processor, for few streams, they are computed. Otherwise each stream ends
/// by its deadline if the level is feasible, and more is not known.
fn band(
    residents: &[Resident<'_>],
    seen: &[Task],
    level: usize,
    dispatching: Dispatching,
    levels: usize,
) -> Option<Vec<Response>> {
    if dispatching == Dispatching::Static {
        return None;
    }
    let pairs = || residents.iter().zip(seen);
    let own = || pairs().filter(|(resident, _)| resident.level == level);
    if own().any(|(resident, _)| !is_covered(resident, dispatching, levels)) {
        return None;
    }
    let tasks: Vec<Task> = own()
        .map(|(resident, task)| demanded(resident, task))
        .collect();
    let sharing: Vec<Sharing<'_>> = tasks
        .iter()
        .zip(own())
        .map(|(task, (resident, _))| Sharing {
            task,
            sections: resident.sections,
        })
        .collect();
    if levels == 1 && dispatching == Dispatching::Deadline && tasks.len() <= MOST_OF_EDF {
        return Some(edf::responses(&sharing));
    }
    let above: Vec<&Task> = pairs()
        .filter(|(resident, _)| resident.level < level)
        .map(|(_, task)| task)
        .collect();
    let below = own().map(|(resident, _)| resident.blocking).max();
    let verdict = band_test(&sharing, &above, below.unwrap_or_default());
    let response = |task: &Task| match verdict.is_feasible() {
        true => Response::Within(task.deadline),
        false => Response::Unbounded,
    };
    Some(tasks.iter().map(response).collect())
}

/// Returns the task of a stream in the demand test: its suspension counts as execution.
fn demanded(resident: &Resident<'_>, seen: &Task) -> Task {
    let mut task = seen.clone().with_jitter(resident.jitter);
    task.wcet = task.wcet + resident.suspended;
    task
}
