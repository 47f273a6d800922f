//! Processor demand of intervals, from the longest to the shortest that can exceed its time.

use std::collections::BTreeMap;

use super::{Excess, Sharing, Verdict};
use crate::analysis::fixed_priority::held_up_by;
use crate::analysis::occupancy::{Occupancy, occupancy};
use crate::analysis::reservation::Reservation;
use crate::analysis::search::{Effort, Requests, fixed_point};
use crate::analysis::task::Task;
use crate::time::Time;

/// Demand of tasks under EDF, in a band below other tasks.
#[derive(Debug)]
pub(in crate::analysis) struct Demand<'t> {
    tasks: &'t [Sharing<'t>],
    above: &'t [&'t Task],
    /// Blocking from a length of the interval on, up to the next one.
    steps: Vec<(Time, Time)>,
    reservation: Option<Reservation>,
}

impl<'t> Demand<'t> {
    /// Makes the demand of tasks that lower bands hold up.
    pub(in crate::analysis) fn new(
        tasks: &'t [Sharing<'t>],
        above: &'t [&'t Task],
        blocking: Time,
    ) -> Self {
        let steps = steps(tasks, blocking);
        Self {
            tasks,
            above,
            steps,
            reservation: None,
        }
    }

    /// Makes the demand of tasks that share a reservation.
    pub(in crate::analysis) fn within(mut self, reservation: Reservation) -> Self {
        self.reservation = Some(reservation);
        self
    }

    /// Returns the verdict.
    pub(in crate::analysis) fn verdict(&self) -> Verdict {
        let rest = self.reservation.map(|reservation| reservation.rest());
        let shares = self.all().map(|task| (task.wcet, task.period));
        let load = occupancy(shares.chain(rest));
        if load == Occupancy::Over {
            return Verdict::Overloaded;
        }
        if load != Occupancy::Near && self.is_implicit() {
            return Verdict::Feasible;
        }
        if load == Occupancy::Full && self.is_behind() {
            // The longest busy period has no end.
            return Verdict::Undecided;
        }
        let effort = &mut Effort::new();
        let verdict = self
            .busy(effort)
            .and_then(|length| self.search(length, effort));
        verdict.unwrap_or(Verdict::Undecided)
    }

    /// Returns all tasks of the band, and above it.
    fn all(&self) -> impl Iterator<Item = &'t Task> + Clone {
        let own = self.tasks.iter().map(|sharing| sharing.task);
        own.chain(self.above.iter().copied())
    }

    /// Returns whether the load alone decides (Liu and Layland 1973).
    fn is_implicit(&self) -> bool {
        let implicit = |sharing: &Sharing<'_>| sharing.task.deadline >= sharing.task.period;
        let alone = self.above.is_empty() && self.reservation.is_none();
        alone && !self.is_behind() && self.tasks.iter().all(implicit)
    }

    /// Returns whether jitter, blocking or a reservation delay the work at first.
    fn is_behind(&self) -> bool {
        let late = |task: &Task| !task.jitter.is_zero() && !task.wcet.is_zero();
        let blocked = self.steps.iter().any(|(_, blocking)| !blocking.is_zero());
        let away = self.reservation.map(|reservation| reservation.rest().0);
        blocked || away.is_some_and(|time| !time.is_zero()) || self.all().any(late)
    }

    /// Returns the longest busy period; a longer interval exceeds its time only if a shorter does.
    fn busy(&self, effort: &mut Effort) -> Option<Time> {
        let blocking = self.steps.iter().map(|(_, blocking)| *blocking).max();
        let blocking = blocking.unwrap_or_default();
        let mut all = Requests::of(self.all());
        fixed_point(Time::from_nanos(1), effort, |length| {
            self.time_for(blocking + all.within(length))
        })
    }

    /// Searches an interval that exceeds its time, from a length down.
    fn search(&self, length: Time, effort: &mut Effort) -> Option<Verdict> {
        let mut next = self.due_before(length + Time::from_nanos(1));
        while let Some(interval) = next {
            let (from, blocking) = self.step_at(interval);
            let work = self.due_within(interval) + blocking;
            match self.finish(work, interval, effort)? {
                None => return Some(Verdict::Exceeded(self.excess(interval))),
                // Up to the time at which all work is done, no interval of this step exceeds its own.
                Some(done) if done < interval && done >= from => next = Some(done),
                Some(done) => next = self.due_before(if done < from { from } else { interval }),
            }
        }
        Some(Verdict::Feasible)
    }

    /// Returns when some work is done below higher bands: `Some(None)` if that is after a limit,
    /// `None` if the effort ends.
    fn finish(&self, work: Time, limit: Time, effort: &mut Effort) -> Option<Option<Time>> {
        let mut above = Requests::of(self.above.iter().copied());
        let mut time = self.time_for(work);
        while time <= limit {
            effort.step()?;
            let needed = self.time_for(work + above.within(time));
            if needed <= time {
                return Some(Some(time));
            }
            time = needed;
        }
        Some(None)
    }

    /// Returns the terms of the demand at the last deadline of an interval.
    fn excess(&self, interval: Time) -> Excess {
        let last = self.due_before(interval + Time::from_nanos(1));
        let interval = last.unwrap_or(interval);
        Excess {
            interval,
            demand: self.due_within(interval),
            blocking: self.step_at(interval).1,
            above: Requests::of(self.above.iter().copied()).within(interval),
        }
    }

    /// Returns the execution time of jobs that are released, and fall due, in an interval.
    fn due_within(&self, interval: Time) -> Time {
        let due = |sharing: &Sharing<'_>| {
            let task = sharing.task;
            let reach = interval + task.jitter;
            if reach < task.deadline {
                return Time::ZERO;
            }
            let later = (reach - task.deadline).as_nanos() / task.period.as_nanos().max(1);
            task.wcet * later.saturating_add(1)
        };
        self.tasks.iter().map(due).sum()
    }

    /// Returns the last deadline before the end of an interval.
    fn due_before(&self, end: Time) -> Option<Time> {
        let last = |sharing: &Sharing<'_>| {
            let task = sharing.task;
            let reach = (end + task.jitter - Time::from_nanos(1)).as_nanos();
            let rest = reach.checked_sub(task.deadline.as_nanos())?;
            let later = rest / task.period.as_nanos().max(1);
            Some(task.period * later + task.deadline - task.jitter)
        };
        let last = self.tasks.iter().filter_map(last).max();
        last.filter(|_| !end.is_zero())
    }

    /// Returns the blocking in an interval, and the interval length from which this blocking applies.
    fn step_at(&self, interval: Time) -> (Time, Time) {
        let after = self.steps.partition_point(|(from, _)| *from <= interval);
        self.steps[after - 1]
    }

    /// Returns the longest time that some work takes.
    fn time_for(&self, work: Time) -> Time {
        self.reservation
            .map_or(work, |reservation| reservation.time_for(work))
    }
}

/// Returns the shortest time from a job's release to its deadline.
pub(super) fn first_due(task: &Task) -> Time {
    task.deadline - task.jitter
}

/// Returns the blocking in intervals from each length on; the first is zero.
fn steps(tasks: &[Sharing<'_>], blocking: Time) -> Vec<(Time, Time)> {
    let floors = floors(tasks);
    let turns = tasks.iter().map(|sharing| first_due(sharing.task));
    let mut starts: Vec<Time> = turns.chain([Time::ZERO]).collect();
    starts.sort_unstable();
    starts.dedup();
    let step = |from: Time| {
        let within = tasks.iter().map(|sharing| blocked(sharing, from, &floors));
        (from, within.max().unwrap_or_default().max(blocking))
    };
    starts.into_iter().map(step).collect()
}

/// Returns the shortest time, from release to deadline, of the tasks that lock each mutex.
fn floors(tasks: &[Sharing<'_>]) -> BTreeMap<usize, Time> {
    let mut floors = BTreeMap::new();
    for sharing in tasks {
        for section in sharing.sections {
            let floor = floors.entry(section.mutex).or_insert(Time::MAX);
            *floor = first_due(sharing.task).min(*floor);
        }
    }
    floors
}

/// Returns the blocking that a task causes in an interval, or suffers by its own account.
///
/// A job that blocks falls due after the interval, and so do all later jobs of its task: a task
/// blocks in place of its demand, which is longer.
fn blocked(sharing: &Sharing<'_>, interval: Time, floors: &BTreeMap<usize, Time>) -> Time {
    let task = sharing.task;
    if first_due(task) <= interval {
        return task.blocking;
    }
    let floor = |mutex| floors.get(mutex).copied().unwrap_or(Time::MAX);
    let locked = sharing.sections.iter();
    let locked = locked.filter(|section| floor(&section.mutex) <= interval);
    let locked = locked.map(|section| section.length).max();
    locked.unwrap_or_default().max(held_up_by(task))
}
