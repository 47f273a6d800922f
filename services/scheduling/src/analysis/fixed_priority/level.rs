//! Busy period of one priority: the interval in which the processor always has work of this
//! priority or a higher one.

use crate::analysis::occupancy::{Occupancy, occupancy};
use crate::analysis::reservation::Reservation;
use crate::analysis::search::{Effort, Requests, fixed_point, releases};
use crate::analysis::task::{Preemption, Response, Task};
use crate::time::Time;

/// Processor for the analysis of one task: the tasks that may delay it.
#[derive(Debug)]
pub(in crate::analysis) struct Level<'t> {
    own: &'t Task,
    above: &'t [&'t Task],
    blocking: Time,
    tail: Time,
    reservation: Option<Reservation>,
}

/// Job with the worst response time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worst {
    /// Number of the job in the busy period; the first is 0.
    pub(super) job: u64,
    /// Time in which requests of higher priorities delay the job, from the start of the period.
    pub(super) exposed: Time,
    /// Time in which the platform delays the job, from the start of the period: up to its end.
    pub(super) interrupted: Time,
    /// Response time from the nominal release.
    pub(super) response: Time,
}

impl<'t> Level<'t> {
    /// Makes the level of a task on a processor of its own.
    pub(in crate::analysis) fn new(own: &'t Task, above: &'t [&'t Task], blocking: Time) -> Self {
        Self {
            own,
            above,
            blocking,
            tail: tail(own),
            reservation: None,
        }
    }

    /// Makes the level of a task that shares a reservation with the tasks above it. The reservation
    /// may be out of budget in the middle of a tail; so a tail is no gain here.
    pub(in crate::analysis) fn within(mut self, reservation: Reservation) -> Self {
        self.tail = Time::ZERO;
        self.reservation = Some(reservation);
        self
    }

    /// Returns the response time of the task.
    pub(in crate::analysis) fn response(&self) -> Response {
        let worst = self.worst();
        worst.map_or(Response::Unbounded, |worst| {
            Response::Within(worst.response)
        })
    }

    /// Returns the job with the worst response time of all jobs of a busy period; `None` if there is
    /// no bound within the limits.
    pub(super) fn worst(&self) -> Option<Worst> {
        if self.is_overloaded() {
            return None;
        }
        let (effort, own) = (&mut Effort::new(), self.own);
        let jobs = self.jobs(effort)?;
        let above = &mut Requests::of(self.above.iter().copied());
        let (mut worst, mut begin): (Option<Worst>, _) = (None, Time::ZERO);
        for job in 0..jobs {
            // Each job ends after the one before it: the search goes on from there.
            begin = self.begin_of_tail(job, begin, above, effort)?;
            let end = self.end_of_tail(begin, effort)?;
            let response = end + own.jitter - own.period * job;
            if worst.is_none_or(|worst| worst.response < response) {
                let exposed = begin + self.closed();
                worst = Some(Worst {
                    job,
                    exposed,
                    interrupted: exposed.max(end),
                    response,
                });
            }
        }
        worst.filter(|worst| worst.response <= Time::LONGEST)
    }

    /// Returns the demand of the job before its tail, without that of higher priorities.
    fn own_demand(&self, job: u64) -> Time {
        self.blocking + self.own.wcet * (job + 1) - self.tail
    }

    /// Returns whether the busy period has no end: the tasks take more than the whole processor, or
    /// reservation, or all of it after a delay that they never catch up on.
    fn is_overloaded(&self) -> bool {
        let all = || self.above.iter().copied().chain([self.own]);
        let rest = self.reservation.map(|reservation| reservation.rest());
        let load = occupancy(all().map(|task| (task.wcet, task.period)).chain(rest));
        let late = all().any(|task| !task.jitter.is_zero() && !task.wcet.is_zero());
        let away = rest.is_some_and(|(rest, _)| !rest.is_zero());
        load == Occupancy::Over
            || load == Occupancy::Full && (late || away || !self.blocking.is_zero())
    }

    /// Returns the number of the task's jobs in the longest busy period of its priority.
    fn jobs(&self, effort: &mut Effort) -> Option<u64> {
        let mut all = Requests::of(self.above.iter().copied().chain([self.own]));
        let from = self.own.wcet.max(Time::from_nanos(1));
        let demand = |length| self.time_for(self.blocking + all.within(length));
        Some(releases(self.own, fixed_point(from, effort, demand)?))
    }

    /// Returns the time, from the start of the busy period, at which a job begins its tail; its end
    /// if it has none.
    fn begin_of_tail(
        &self,
        job: u64,
        from: Time,
        above: &mut Requests<'_>,
        effort: &mut Effort,
    ) -> Option<Time> {
        let own = self.own_demand(job);
        fixed_point(from.max(own), effort, |time| {
            self.time_for(own + above.within(time + self.closed()))
        })
    }

    /// Returns the time at which a job ends whose tail begins at a time: only the platform delays it.
    fn end_of_tail(&self, begin: Time, effort: &mut Effort) -> Option<Time> {
        let (end, seen) = (begin + self.tail, begin + self.closed());
        let platform = || self.above.iter().filter(|task| task.is_interference);
        if self.tail.is_zero() || platform().next().is_none() {
            return Some(end);
        }
        fixed_point(end, effort, |time| {
            let later = |task: &&Task| task.wcet * (releases(task, time) - releases(task, seen));
            end + platform().map(later).sum()
        })
    }

    /// Returns the time that makes an interval closed: a job that arrives at the very moment at which
    /// the tail, or a job without work, could begin goes before it.
    fn closed(&self) -> Time {
        Time::from_nanos((!self.tail.is_zero() || self.own.wcet.is_zero()).into())
    }

    /// Returns the longest time that some work takes.
    fn time_for(&self, work: Time) -> Time {
        self.reservation
            .map_or(work, |reservation| reservation.time_for(work))
    }
}

/// Returns the length of the last part of a job, during which it is not preempted.
pub(crate) fn tail(task: &Task) -> Time {
    match task.preemption {
        Preemption::Full | Preemption::Floating { .. } => Time::ZERO,
        Preemption::None => task.wcet,
        Preemption::Segments { last, .. } => last.min(task.wcet),
    }
}
