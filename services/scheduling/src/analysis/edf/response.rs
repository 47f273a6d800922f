//! Response times under EDF, by the verified analysis of Bozhko and Brandenburg (2020) in the crate
//! `response-time-analysis`.
//!
//! The crate counts deadlines from actual releases. Of tasks with jitter, an interfering job is
//! taken to fall due earlier by its jitter, and to be blocked by all sections of tasks whose
//! deadlines may be later: safe, not exact.
//!
//! Interference of the platform falls due before any job, and may come between the parts of a job that
//! cannot be preempted: then such a job is taken for one that is preempted anywhere, too.
//!
//! The analysis visits each release in the busy period, for each task: a verdict costs far less by
//! [`demand_test`](super::demand_test). More than 20,000 releases are given up.

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::edf::limited_preemptive::{
    InterferingTask, TaskUnderAnalysis, dedicated_uniproc_rta,
};
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

use super::Sharing;
use super::demand::first_due;
use crate::analysis::fixed_priority::{held_up_by, tail};
use crate::analysis::occupancy::{Occupancy, occupancy_of};
use crate::analysis::search::{Effort, Requests, fixed_point, releases};
use crate::analysis::task::{Response, Task};
use crate::time::Time;

/// Number of releases in a busy period above which the analysis is given up.
const RELEASES: u64 = 20_000;

/// Number of releases above which they are not even listed: in a busy period, and the time by which
/// deadlines differ.
const STEPS: u64 = 1_000_000;

/// Request bound of a sporadic task.
type Bound = RBF<Sporadic, Scalar>;

/// Returns the response times of all tasks of a processor under EDF, in their order.
#[must_use]
pub fn responses(tasks: &[Sharing<'_>]) -> Vec<Response> {
    responses_beside(None, tasks)
}

/// Returns the response times of all tasks of a processor of which the platform takes time
/// ([`Task::interference`]), in their order.
#[must_use]
pub fn responses_beside(platform: Option<&Task>, tasks: &[Sharing<'_>]) -> Vec<Response> {
    // Due at once: before any job.
    let due = |task: &Task| task.clone().with_deadline(Time::ZERO);
    let platform = platform.map(due);
    let taken = platform.iter().map(|task| Sharing {
        task,
        sections: &[],
    });
    let all: Vec<_> = tasks.iter().copied().chain(taken).collect();
    if !is_bounded(&all) {
        return vec![Response::Unbounded; tasks.len()];
    }
    (0..tasks.len())
        .map(|index| by_crate(&all, index))
        .collect()
}

/// Returns the response time of one task among the tasks of its processor under EDF.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn response(tasks: &[Sharing<'_>], index: usize) -> Response {
    assert!(index < tasks.len(), "no task {index}");
    if !is_bounded(tasks) {
        return Response::Unbounded;
    }
    by_crate(tasks, index)
}

/// Returns whether the crate's analysis ends within the effort, and without overflow.
fn is_bounded(tasks: &[Sharing<'_>]) -> bool {
    let all = || tasks.iter().map(|sharing| sharing.task);
    let in_range = |task: &Task| {
        let times = [task.wcet, task.period, task.deadline, task.jitter];
        let sections = task.blocking.max(task.longest_section());
        !task.period.is_zero() && times.into_iter().chain([sections]).max() <= Some(Time::LONGEST)
    };
    if !all().all(in_range) {
        return false;
    }
    let Some(length) = busy(tasks) else {
        return false;
    };
    let first = all().map(first_due).min().unwrap_or_default();
    let last = all().map(|task| task.deadline + task.jitter).max();
    let spread = last.unwrap_or_default() - first;
    let jobs = |length| {
        let jobs = all().map(|task| releases(task, length));
        jobs.fold(0, u64::saturating_add)
    };
    jobs(length) <= RELEASES && jobs(length + spread + ahead_of_all(tasks)) <= STEPS
}

/// Returns the longest busy period with the longest blocking; `None` if it has no bound.
fn busy(tasks: &[Sharing<'_>]) -> Option<Time> {
    let worked: Vec<Task> = tasks.iter().map(|sharing| at_work(sharing.task)).collect();
    let holds = tasks
        .iter()
        .map(|sharing| longest_hold(sharing).max(sharing.task.blocking));
    let blocking = holds
        .max()
        .filter(|_| !is_native(tasks))
        .unwrap_or_default();
    let behind = !blocking.is_zero() || worked.iter().any(|task| !task.jitter.is_zero());
    match occupancy_of(worked.iter()) {
        Occupancy::Over => return None,
        Occupancy::Full if behind => return None,
        _ => (),
    }
    let mut requests = Requests::of(worked.iter());
    fixed_point(Time::from_nanos(1), &mut Effort::new(), |length| {
        blocking + requests.within(length)
    })
}

/// Returns the time by which the platform's work has to fall due before that of all tasks, so that all of it in a
/// busy period goes before any job: the length of the period. Zero if the platform takes no time.
fn ahead_of_all(tasks: &[Sharing<'_>]) -> Time {
    match is_interrupted(tasks) {
        true => busy(tasks).unwrap_or_default(),
        false => Time::ZERO,
    }
}

fn is_interrupted(tasks: &[Sharing<'_>]) -> bool {
    tasks.iter().any(|sharing| sharing.task.is_interference)
}

/// Makes the task with the execution time that the crate wants, above zero.
fn at_work(task: &Task) -> Task {
    Task {
        wcet: task.wcet.max(Time::from_nanos(1)),
        ..task.clone()
    }
}

/// Returns whether the tasks are as the crate models them.
fn is_native(tasks: &[Sharing<'_>]) -> bool {
    tasks.iter().all(|sharing| {
        let task = sharing.task;
        let is_plain = !task.is_interference && task.blocking.is_zero();
        is_plain && task.jitter.is_zero() && sharing.sections.is_empty()
    })
}

/// Returns the longest time for which a task may hold up another.
fn longest_hold(sharing: &Sharing<'_>) -> Time {
    let sections = sharing.sections.iter().map(|section| section.length);
    sections
        .chain([held_up_by(sharing.task)])
        .max()
        .unwrap_or_default()
}

/// Returns the response time of one task, by the crate's analysis.
fn by_crate(tasks: &[Sharing<'_>], index: usize) -> Response {
    let own = tasks[index].task;
    let native = is_native(tasks);
    let blocking = if native {
        Time::ZERO
    } else {
        blocking(tasks, index)
    };
    let ahead = tasks
        .iter()
        .map(|sharing| sharing.task.jitter - sharing.task.deadline);
    let shift = ahead.max().unwrap_or_default() + ahead_of_all(tasks);
    let bounds: Vec<Bound> = tasks.iter().map(|sharing| requests(sharing.task)).collect();
    let others = (0..tasks.len()).filter(|&at| at != index);
    let mut others: Vec<InterferingTask<'_, Bound>> = others
        .map(|at| interfering(tasks[at].task, &bounds[at], shift, native))
        .collect();
    let once = requests(&Task::new(blocking, Time::LONGEST * 16));
    if !blocking.is_zero() {
        others.push(InterferingTask {
            rbf: &once,
            deadline: Duration::zero(),
            max_np_segment: Service::none(),
        });
    }
    let arrivals = arrivals(own);
    let last = match is_interrupted(tasks) {
        true => Time::ZERO,
        false => tail(own),
    };
    let under_analysis = TaskUnderAnalysis {
        wcet: cost(own),
        arrivals: &arrivals,
        deadline: duration(own.deadline + shift),
        last_np_segment: service(last.max(Time::from_nanos(1))),
    };
    match dedicated_uniproc_rta(&under_analysis, &others, duration(Time::LONGEST)) {
        Ok(bound) => Response::Within(Time::from_nanos(bound.into()) + own.jitter),
        Err(_) => Response::Unbounded,
    }
}

/// Makes the interference of another task, with its earliest deadline.
fn interfering<'a>(
    task: &Task,
    bound: &'a Bound,
    shift: Time,
    native: bool,
) -> InterferingTask<'a, Bound> {
    let section = if native {
        task.longest_section()
    } else {
        Time::ZERO
    };
    let due = match task.is_interference {
        true => Time::ZERO,
        false => task.deadline + shift - task.jitter,
    };
    InterferingTask {
        rbf: bound,
        deadline: duration(due),
        max_np_segment: service(section),
    }
}

/// Returns the longest time for which jobs with later deadlines may hold a task up.
fn blocking(tasks: &[Sharing<'_>], index: usize) -> Time {
    let own = tasks[index].task;
    let others = tasks.iter().enumerate().filter(|(at, _)| *at != index);
    let later = others.filter(|(_, other)| other.task.deadline > first_due(own));
    let longest = later.map(|(_, other)| longest_hold(other)).max();
    own.blocking.max(longest.unwrap_or_default())
}

/// Makes the request bound of a task.
fn requests(task: &Task) -> Bound {
    RBF::new(arrivals(task), cost(task))
}

/// Makes the arrivals of a task.
fn arrivals(task: &Task) -> Sporadic {
    Sporadic::new(duration(task.period), duration(task.jitter))
}

/// Makes the cost of a job, which the crate wants to be above zero.
fn cost(task: &Task) -> Scalar {
    Scalar::new(service(at_work(task).wcet))
}

fn duration(time: Time) -> Duration {
    Duration::from(time.as_nanos())
}

fn service(time: Time) -> Service {
    Service::from(time.as_nanos())
}
