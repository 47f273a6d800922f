//! Sensitivity of one processor's tasks to changes: the smallest changes that mend a set that misses
//! deadlines, and the slack of a set that meets them (Bini, Di Natale and Buttazzo 2008 give the
//! idea; here by binary search over the exact test, in whole nanoseconds).
//!
//! Every search relies on one property of the exact test: shorter execution times and longer periods
//! never make a response longer.

use super::lineup::Lineup;
use crate::analysis::edf::{Sharing, band_test};
use crate::analysis::fixed_priority::{Prioritized, responses};
use crate::analysis::{Preemption, Response, Task};
use crate::time::Time;

/// Unit of [`largest_scale`]: 1.0 is a million millionths.
pub const MILLION: u64 = 1_000_000;

/// Largest factor that [`largest_scale`] looks for: a thousand.
const LARGEST_SCALE: u64 = 1_000 * MILLION;

/// Missed deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Index of the task.
    pub task: usize,
    /// Response time of the task.
    pub response: Response,
    /// Time by which the response exceeds the deadline; `None` if the response has no bound.
    pub late: Option<Time>,
}

/// Changes of a single task after which all deadlines of its processor are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Index of the task.
    pub task: usize,
    /// Largest execution time; `None` if none mends the set.
    pub wcet: Option<Time>,
    /// Smallest period; `None` if none mends the set.
    pub period: Option<Time>,
}

/// Returns the tasks that miss their deadlines, in rising order.
#[must_use]
pub fn misses(tasks: &[Prioritized<'_>]) -> Vec<Miss> {
    let all = tasks.iter().zip(responses(tasks)).enumerate();
    all.filter(|(_, (one, response))| !response.meets(one.task.deadline))
        .map(|(index, (one, response))| Miss {
            task: index,
            response,
            late: response.bound().map(|time| time - one.task.deadline),
        })
        .collect()
}

/// Returns, for each task, by how much this task alone has to change so that the set meets its deadlines, or may
/// change so that it still does.
#[must_use]
pub fn changes(tasks: &[Prioritized<'_>]) -> Vec<Change> {
    of_priorities(tasks).changes()
}

/// Returns, for each task of a processor under EDF, by how much this task alone has to change so that the set meets its
/// deadlines, or may change so that it still does. `platform` is what the platform takes above all of them.
#[must_use]
pub fn changes_by_deadline(tasks: &[Task], platform: Option<&Task>) -> Vec<Change> {
    of_deadlines(tasks, platform).changes()
}

/// Returns the largest factor, in millionths, by which all execution times may be multiplied such
/// that all deadlines are met; `None` if none is small enough.
///
/// Below [`MILLION`], the set misses deadlines and has to shrink; above, it may grow. Blocking and
/// sections without preemption are scaled, too; products are rounded up. Interference of the platform is not.
/// At most a thousand times.
#[must_use]
pub fn largest_scale(tasks: &[Prioritized<'_>]) -> Option<u64> {
    of_priorities(tasks).largest_scale()
}

/// Returns the factor of [`largest_scale`] for the tasks of a processor under EDF, beside what the platform takes.
#[must_use]
pub fn largest_scale_by_deadline(tasks: &[Task], platform: Option<&Task>) -> Option<u64> {
    of_deadlines(tasks, platform).largest_scale()
}

/// Returns the largest execution time of one task with which all tasks meet their deadlines; `None`
/// if not even a nanosecond does.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn largest_wcet(tasks: &[Prioritized<'_>], index: usize) -> Option<Time> {
    of_priorities(tasks).largest_wcet(index)
}

/// Returns the time by which one task's execution time may grow with all deadlines met; `None` if
/// some are missed as it is.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn slack(tasks: &[Prioritized<'_>], index: usize) -> Option<Time> {
    let wcet = tasks[index].task.wcet;
    let largest = largest_wcet(tasks, index).filter(|&largest| largest >= wcet);
    largest.map(|largest| largest - wcet)
}

/// Returns the smallest period of one task with which all tasks meet their deadlines; `None` if
/// none up to [`Time::LONGEST`] does.
///
/// A deadline that is equal to the period moves with it; another one stays. Priorities stay.
///
/// # Panics
/// If `index` is not below the number of tasks.
#[must_use]
pub fn smallest_period(tasks: &[Prioritized<'_>], index: usize) -> Option<Time> {
    of_priorities(tasks).smallest_period(index)
}

/// Search among changes of a processor's tasks, by an exact test: `fits` returns whether tasks in the places of these meet
/// all deadlines.
struct Search<F> {
    tasks: Vec<Task>,
    fits: F,
}

/// Returns the search for tasks of fixed priorities.
fn of_priorities<'t>(tasks: &'t [Prioritized<'t>]) -> Search<impl Fn(&[Task]) -> bool + 't> {
    Search {
        tasks: tasks.iter().map(|one| one.task.clone()).collect(),
        fits: move |changed: &[Task]| {
            let pairs = changed.iter().zip(tasks);
            let replaced = pairs.map(|(task, one)| Prioritized {
                task,
                priority: one.priority,
            });
            Lineup::new(&replaced.collect::<Vec<_>>()).fits()
        },
    }
}

/// Returns the search for tasks under EDF, beside what the platform takes.
fn of_deadlines(tasks: &[Task], platform: Option<&Task>) -> Search<impl Fn(&[Task]) -> bool> {
    Search {
        tasks: tasks.to_vec(),
        fits: move |changed: &[Task]| {
            let sharing = changed.iter().map(|task| Sharing {
                task,
                sections: &[],
            });
            let above: Vec<&Task> = platform.into_iter().collect();
            band_test(&sharing.collect::<Vec<_>>(), &above, Time::ZERO).is_feasible()
        },
    }
}

impl<F: Fn(&[Task]) -> bool> Search<F> {
    fn changes(&self) -> Vec<Change> {
        let of = |task| Change {
            task,
            wcet: self.largest_wcet(task),
            period: self.smallest_period(task),
        };
        (0..self.tasks.len()).map(of).collect()
    }

    fn largest_scale(&self) -> Option<u64> {
        largest(1, LARGEST_SCALE, |scale| {
            let scaled = self.tasks.iter().map(|task| match task.is_interference {
                true => task.clone(),
                false => scaled(task, scale),
            });
            (self.fits)(&scaled.collect::<Vec<_>>())
        })
    }

    fn largest_wcet(&self, index: usize) -> Option<Time> {
        let own = &self.tasks[index];
        let most = (own.deadline.min(Time::LONGEST) - own.jitter).as_nanos();
        let fits = |nanos| {
            let wcet = Time::from_nanos(nanos);
            let changed = Task {
                wcet,
                ..own.clone()
            };
            self.fits_with(index, changed)
        };
        largest(1, most, fits).map(Time::from_nanos)
    }

    fn smallest_period(&self, index: usize) -> Option<Time> {
        let own = &self.tasks[index];
        let fits = |nanos| {
            let period = Time::from_nanos(nanos);
            let is_implicit = own.deadline == own.period;
            let deadline = if is_implicit { period } else { own.deadline };
            let changed = Task {
                period,
                deadline,
                ..own.clone()
            };
            self.fits_with(index, changed)
        };
        smallest(1, Time::LONGEST.as_nanos(), fits).map(Time::from_nanos)
    }

    /// Returns whether all deadlines are met with another task in the place of one.
    fn fits_with(&self, index: usize, changed: Task) -> bool {
        let mut tasks = self.tasks.clone();
        tasks[index] = changed;
        (self.fits)(&tasks)
    }
}

/// Returns a task with all execution times multiplied by millionths.
fn scaled(task: &Task, scale: u64) -> Task {
    let times = |time: Time| {
        let product = u128::from(time.as_nanos()) * u128::from(scale);
        let rounded = product.div_ceil(u128::from(MILLION));
        Time::from_nanos(u64::try_from(rounded).unwrap_or(u64::MAX))
    };
    let preemption = match task.preemption {
        Preemption::Segments { longest, last } => Preemption::Segments {
            longest: times(longest),
            last: times(last),
        },
        Preemption::Floating { longest } => Preemption::Floating {
            longest: times(longest),
        },
        Preemption::Full | Preemption::None => task.preemption,
    };
    Task {
        wcet: times(task.wcet),
        blocking: times(task.blocking),
        preemption,
        ..task.clone()
    }
}

/// Returns the largest number of a range for which a condition holds that, once false, stays false.
pub(crate) fn largest(first: u64, last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if first > last || !holds(first) {
        return None;
    }
    if holds(last) {
        return Some(last);
    }
    let (mut good, mut bad) = (first, last);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

/// Returns the smallest number of a range for which a condition holds that, once true, stays true.
fn smallest(first: u64, last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(last) {
        return None;
    }
    let mirrored = |number: u64| last - (number - first);
    largest(first, last, |number| holds(mirrored(number))).map(mirrored)
}
