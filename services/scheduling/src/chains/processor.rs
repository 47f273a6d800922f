//! Responses of the streams of one processor, of which some levels dispatch by deadline or laxity.

use crate::analysis::blocking::{
    Blocking, CriticalSection, Locking, Protocol, blocking as blocked,
};
use crate::analysis::edf::{Sharing, band_test};
use crate::analysis::fixed_priority::{Prioritized, bound, tail};
use crate::analysis::{Preemption, Response, Task, edf};
use crate::strategy::Dispatching;
use crate::time::Time;

/// Number of streams of a processor up to which response times under EDF are computed: for many it
/// takes seconds.
const MOST_OF_EDF: usize = 24;

/// Stream on a processor.
pub(super) struct Resident<'s> {
    pub(super) task: &'s Task,
    /// Number of jobs in a release.
    pub(super) jobs: u64,
    pub(super) sections: &'s [CriticalSection],
    pub(super) level: usize,
    pub(super) jitter: Time,
    pub(super) suspended: Time,
    /// Most recent result of the response-time analysis.
    pub(super) before: Response,
    /// Longest blocking by lower levels, before each of its parts.
    pub(super) blocking: Time,
    /// Number of replies after which lower levels may hold up a job again.
    pub(super) replies: u64,
}

/// Responses of one stream.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Counted from the nominal release.
    pub(super) response: Response,
    /// Counted from the actual release of one job, for a caller that awaits it.
    pub(super) local: Response,
}

/// Returns the blocking of each stream by streams of lower levels.
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

/// Responses of streams of levels that are analysed as a whole; `None` for the others.
pub(super) type Bands = Vec<Option<Response>>;

/// Processor of streams.
#[derive(Clone, Copy)]
pub(super) struct On<'p> {
    pub(super) levels: &'p [Dispatching],
    pub(super) protocol: Protocol,
    /// Time that the platform takes.
    pub(super) platform: Option<&'p Task>,
}

/// Returns the responses of the levels that dispatch by deadline or laxity.
pub(super) fn bands(residents: &[Resident<'_>], on: On<'_>) -> Bands {
    let seen: Vec<Task> = residents.iter().map(Resident::seen_by_others).collect();
    let mut found = vec![None; residents.len()];
    for (level, &dispatching) in on.levels.iter().enumerate() {
        let kind = Kind {
            dispatching,
            is_alone: on.levels.len() == 1,
            protocol: on.protocol,
            platform: on.platform,
        };
        let Some(responses) = band(residents, &seen, level, kind) else {
            continue;
        };
        let own = residents.iter().enumerate();
        let own = own.filter(|(_, resident)| resident.level == level);
        for ((index, _), response) in own.zip(responses) {
            found[index] = Some(response);
        }
    }
    found
}

/// Kind of a level.
#[derive(Clone, Copy)]
struct Kind<'p> {
    dispatching: Dispatching,
    /// `true` if the processor has no other level.
    is_alone: bool,
    protocol: Protocol,
    platform: Option<&'p Task>,
}

/// Returns the task for the analysis of other tasks: with its release jitter, and, if it is suspended, the jitter of
/// its last part, whose latest known end is `response`.
pub(crate) fn seen_by_others(
    task: &Task,
    jitter: Time,
    suspended: Time,
    response: Response,
) -> Task {
    let mut jitter = jitter;
    if !suspended.is_zero() {
        let response = response.bound().unwrap_or(task.deadline);
        jitter = jitter.max(response.min(task.deadline) - task.wcet);
    }
    task.clone().with_jitter(jitter)
}

impl Resident<'_> {
    fn seen_by_others(&self) -> Task {
        seen_by_others(self.task, self.jitter, self.suspended, self.before)
    }

    /// Returns the task for its own analysis. Each job is blocked again after each reply, which
    /// counts as a longer suspension.
    fn by_itself(&self) -> Task {
        let suspended = self.suspended + self.blocking * self.replies;
        by_itself(self.task, suspended).with_jitter(self.jitter)
    }

    fn locker(&self) -> Locker<'_> {
        Locker {
            sections: self.sections,
            level: self.level,
        }
    }
}

/// Mutexes that the jobs of a stream lock.
#[derive(Clone, Copy)]
pub(crate) struct Locker<'s> {
    pub(crate) sections: &'s [CriticalSection],
    pub(crate) level: usize,
}

/// Returns the task of a stream for its own analysis, of which a job without preemption is perhaps not done in one go: it
/// has to wait if another of its level or a lower one holds a mutex that it locks, and those of higher levels run
/// meanwhile. Under immediate ceilings it does not begin before the others have unlocked.
pub(crate) fn if_interrupted<'s>(
    task: Task,
    own: Locker<'_>,
    mut others: impl Iterator<Item = Locker<'s>>,
    protocol: Protocol,
) -> Task {
    let begins_with_all = own.sections.is_empty() || protocol == Protocol::ImmediateCeiling;
    if begins_with_all || tail(&task).is_zero() {
        return task;
    }
    match others.any(|other| other.level >= own.level && !other.sections.is_empty()) {
        true => floating(task),
        false => task,
    }
}

/// Returns the response of a stream of a static level, or of a level in which any order is possible.
pub(super) fn of_static(residents: &[Resident<'_>], index: usize, on: On<'_>) -> Found {
    let own = &residents[index];
    let others = || {
        let all = residents.iter().enumerate();
        all.filter(|(at, _)| *at != index).map(|(_, other)| other)
    };
    // As others see them: with the jitter that a suspension adds.
    let above: Vec<Task> = others()
        .filter(|other| other.level <= own.level)
        .map(Resident::seen_by_others)
        .collect();
    let above: Vec<&Task> = above.iter().chain(on.platform).collect();
    let lockers = others().map(Resident::locker);
    let task = if_interrupted(own.by_itself(), own.locker(), lockers, on.protocol);
    let response = match task.wcet.is_zero() {
        // A conjunction, which takes no time.
        true => Response::Within(own.jitter),
        false => bound(&task, &above, own.blocking),
    };
    let local = match own.jitter.is_zero() && own.jobs == 1 {
        true => response,
        false => bound(&one_call(&task, own.jobs), &above, own.blocking),
    };
    Found { response, local }
}

/// Returns the task of a single call that is awaited: one call comes after the reply to the one before,
/// perhaps at once.
///
/// Then others, which the last part of the job before has held off, go first. So they have as much time
/// to arrive as if they might preempt the job's own last part.
fn one_call(task: &Task, jobs: u64) -> Task {
    let mut one = task.clone().with_jitter(Time::ZERO);
    one.wcet = Time::from_nanos(task.wcet.as_nanos().div_ceil(jobs.max(1)));
    floating(one)
}

/// Returns a task that may be preempted at any time up to its end, but for its sections without preemption: no
/// section is known to be the last part of a job.
fn floating(mut task: Task) -> Task {
    let longest = task.longest_section();
    if !longest.is_zero() {
        task.preemption = Preemption::Floating { longest };
    }
    task
}

/// Returns a task for its own analysis: its suspension counts as execution, during which
/// others run, so that no part of it is certain to be its last.
pub(crate) fn by_itself(task: &Task, suspended: Time) -> Task {
    if suspended.is_zero() {
        return task.clone();
    }
    let mut task = floating(task.clone());
    task.wcet = task.wcet + suspended;
    task
}

/// Returns whether the demand test covers the streams of a level.
///
/// By laxity none with sections of any kind, as a job of later deadline may begin one first, and none that
/// is suspended, as its laxity does not count the suspension. By deadline none with mutexes under
/// priority inheritance or beside other levels. Where a stream is suspended, none with sections of any
/// kind: any of them may hold it up again after each reply, and the test counts one blocking.
fn are_covered<'r>(
    residents: impl Iterator<Item = &'r Resident<'r>> + Clone,
    kind: Kind<'_>,
) -> bool {
    let is_suspended = residents.clone().any(|one| !one.suspended.is_zero());
    let locks_nothing = residents.clone().all(|one| one.sections.is_empty());
    let mut residents = residents;
    let has_no_sections =
        locks_nothing && residents.all(|one| one.task.longest_section().is_zero());
    let has_ceilings = kind.is_alone && kind.protocol != Protocol::Inheritance;
    match kind.dispatching {
        Dispatching::Laxity => has_no_sections && !is_suspended,
        _ if is_suspended => has_no_sections,
        _ => locks_nothing || has_ceilings,
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
    kind: Kind<'_>,
) -> Option<Vec<Response>> {
    if kind.dispatching == Dispatching::Static {
        return None;
    }
    let pairs = || residents.iter().zip(seen);
    let own = || pairs().filter(|(resident, _)| resident.level == level);
    if !are_covered(own().map(|(resident, _)| resident), kind) {
        return None;
    }
    let tasks: Vec<Task> = own().map(|(resident, _)| resident.by_itself()).collect();
    let sharing: Vec<Sharing<'_>> = tasks
        .iter()
        .zip(own())
        .map(|(task, (resident, _))| Sharing {
            task,
            sections: resident.sections,
        })
        .collect();
    let mut known = None;
    if kind.is_alone && kind.dispatching == Dispatching::Deadline && tasks.len() <= MOST_OF_EDF {
        let responses = edf::responses_beside(kind.platform, &sharing);
        if responses.iter().all(|response| response.bound().is_some()) {
            return Some(responses);
        }
        // Given up, perhaps: the demand test takes fewer steps.
        known = Some(responses);
    }
    let above: Vec<&Task> = pairs()
        .filter(|(resident, _)| resident.level < level)
        .map(|(_, task)| task)
        .chain(kind.platform)
        .collect();
    let below = own().map(|(resident, _)| resident.blocking).max();
    let verdict = band_test(&sharing, &above, below.unwrap_or_default());
    if let Some(responses) = known.filter(|_| !verdict.is_feasible()) {
        return Some(responses);
    }
    let response = |task: &Task| match verdict.is_feasible() {
        true => Response::Within(task.deadline),
        false => Response::Unbounded,
    };
    Some(tasks.iter().map(response).collect())
}
