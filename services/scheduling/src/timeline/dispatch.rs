//! Choice of the job that a processor runs.
//!
//! Levels are served by fixed priority. In a level, jobs are served in the order of their releases,
//! by their deadlines, or by least laxity. A laxity is looked at when a job arrives or ends; in
//! between, a job preempts one of later deadline when its laxity has fallen to the other's. Any more
//! switches would only alternate between jobs of equal laxity.
//!
//! Critical sections stand at the start of a job. Under immediate ceilings, the holder of a mutex has
//! its ceiling. Under the other protocols, a job that has to wait lends its turn to the holder; under
//! priority ceilings it waits also for other mutexes whose ceiling is not below its level. In levels
//! that dispatch by deadline or laxity, a holder is taken for no less urgent than a job that could ask
//! for the mutex from then on (deadline floor, Burns et al. 2015).

use super::Activity;
use super::processor::Locker;
use super::program::Section;
use super::state::{Simulation, push};
use crate::analysis::blocking::Protocol;
use crate::strategy::Dispatching;
use crate::time::Time;

/// Place of a job in the order of service; the least is served first.
type Key = (usize, i128, Time, usize);

impl Simulation {
    /// Executes the running job of a processor up to now; the processor then awaits a new choice.
    pub(super) fn advance(&mut self, at: usize) {
        let processor = &mut self.processors[at];
        let span = (processor.since, self.now);
        processor.since = self.now;
        processor.is_stale = true;
        let Some(job) = processor.running else { return };
        let level = self.level(job);
        for &other in &self.processors[at].ready {
            let own = self.jobs[other].job.stream;
            let place = self.programs[own].place;
            if place.is_some_and(|place| place.level < level) {
                push(&mut self.jobs[other], other, span, Activity::Blocked);
            }
        }
        let state = &mut self.jobs[job];
        push(state, job, span, Activity::Running);
        let before = state.executed;
        state.executed = before + (span.1 - span.0);
        let program = &self.programs[state.job.stream];
        let executed = state.executed;
        if let Some(section) = program.section(before)
            && executed >= section.to
        {
            state.locked = None;
            self.held.remove(&section.mutex);
        }
        if executed >= program.wcet {
            self.processors[at].remove(job);
            self.call_next(job);
        }
    }

    /// Chooses a job for each processor that awaits a choice.
    pub(super) fn dispatch(&mut self) {
        for at in 0..self.processors.len() {
            if std::mem::take(&mut self.processors[at].is_stale) {
                self.choose(at);
            }
        }
    }

    fn choose(&mut self, at: usize) {
        let served = self.inside_segment(at).or_else(|| self.first(at));
        let running = served.map(|served| self.holder_for(at, served));
        let processor = &mut self.processors[at];
        (processor.served, processor.running) = (served, running);
        processor.since = self.now;
        processor.has_changed = false;
        processor.look += 1;
        let Some(job) = running else { return };
        self.lock(job);
        let state = &self.jobs[job];
        let stop = self.programs[state.job.stream].next_stop(state.executed);
        let mut stop = self.now + (stop - state.executed);
        if served == running {
            stop = stop.min(self.next_crossing(at, job).unwrap_or(stop));
        }
        self.schedule_stop(stop, at);
    }

    /// Returns the running job if it may not be preempted now: one that has to wait for a mutex leaves the processor
    /// to all others.
    fn inside_segment(&self, at: usize) -> Option<usize> {
        let is_inside = |job: &usize| {
            let state = &self.jobs[*job];
            let is_inside = self.programs[state.job.stream].is_inside_segment(state.executed);
            is_inside && self.holder_against(at, *job).is_none()
        };
        self.processors[at].running.filter(is_inside)
    }

    /// Returns the job that is first in the order of service.
    fn first(&self, at: usize) -> Option<usize> {
        let processor = &self.processors[at];
        let ready = || processor.ready.iter().copied();
        let first = ready().min_by_key(|&job| self.key(at, job))?;
        let served = processor.served.filter(|job| processor.ready.contains(job));
        let (Some(served), false) = (served, processor.has_changed) else {
            return Some(first);
        };
        let (level, laxity, ..) = self.key(at, served);
        if level != self.key(at, first).0 || self.dispatching(first) != Dispatching::Laxity {
            return Some(first);
        }
        let deadline = self.jobs[served].job.deadline;
        let overtakes = |&job: &usize| {
            let key = self.key(at, job);
            key.0 == level && key.1 <= laxity && self.jobs[job].job.deadline < deadline
        };
        let overtaking = ready().filter(overtakes);
        let earliest = overtaking.min_by_key(|&job| (self.jobs[job].job.deadline, job));
        Some(earliest.unwrap_or(served))
    }

    /// Returns the next time at which a waiting job of earlier deadline has the running job's laxity.
    fn next_crossing(&self, at: usize, running: usize) -> Option<Time> {
        if self.dispatching(running) != Dispatching::Laxity {
            return None;
        }
        let (level, own) = (self.level(running), self.laxity(running));
        let deadline = self.jobs[running].job.deadline;
        let ready = self.processors[at].ready.iter().copied();
        let waiting =
            ready.filter(|&job| self.level(job) == level && self.jobs[job].job.deadline < deadline);
        let distances = waiting.map(|job| self.laxity(job) - own);
        let next = distances.filter(|&distance| distance > 0).min()?;
        let next = u64::try_from(next).unwrap_or(u64::MAX);
        Some(self.now + Time::from_nanos(next))
    }

    fn level(&self, job: usize) -> usize {
        let place = self.programs[self.jobs[job].job.stream].place;
        place.map_or(0, |place| place.level)
    }

    fn dispatching(&self, job: usize) -> Dispatching {
        self.programs[self.jobs[job].job.stream].dispatching
    }

    /// Returns the time left to a job's deadline less its execution time.
    fn laxity(&self, job: usize) -> i128 {
        let state = &self.jobs[job];
        let left = self.programs[state.job.stream].wcet - state.executed;
        nanos(state.job.deadline) - nanos(self.now) - nanos(left)
    }

    fn key(&self, at: usize, job: usize) -> Key {
        let state = &self.jobs[job];
        let held = self.held_by(job);
        let own = self.level(job);
        let mut level = own;
        if let (Some((section, _)), Protocol::ImmediateCeiling) = (held, self.protocol) {
            let ceiling = self.processors[at].ceilings.get(&section.mutex);
            level = ceiling.map_or(own, |&ceiling| ceiling.min(own));
        }
        let urgency = match self.dispatching(job) {
            // Before the jobs of the ceiling's level.
            _ if level < own => return (level, i128::MIN, state.job.release, job),
            Dispatching::Static => return (level, 0, state.job.release, job),
            Dispatching::Deadline => nanos(state.job.deadline),
            Dispatching::Laxity => self.laxity(job),
        };
        let floor = self.floor(at, job, level);
        let urgency = floor.map_or(urgency, |floor| floor.min(urgency));
        let then = match (floor, self.dispatching(job)) {
            (Some(_), _) => Time::ZERO,
            (None, Dispatching::Laxity) => state.job.deadline,
            (None, _) => state.job.release,
        };
        (level, urgency, then, job)
    }

    /// Returns the urgency of the most urgent job of a level that could have asked for the mutex of a
    /// job since it was locked.
    fn floor(&self, at: usize, job: usize, level: usize) -> Option<i128> {
        let (section, locked) = self.held_by(job)?;
        let lockers = self.processors[at].lockers.get(&(section.mutex, level))?;
        let own = self.jobs[job].job.stream;
        let others = lockers.iter().filter(|locker| locker.stream != own);
        let urgency = |locker: &Locker| match self.dispatching(job) {
            Dispatching::Laxity => nanos(locked) + nanos(locker.laxity) - nanos(self.now),
            _ => nanos(locked) + nanos(locker.shortest),
        };
        others.map(urgency).min()
    }

    /// Returns the section whose mutex a job holds, and the time at which it locked it.
    fn held_by(&self, job: usize) -> Option<(&Section, Time)> {
        let state = &self.jobs[job];
        let section = self.programs[state.job.stream].section(state.executed)?;
        Some((section, state.locked?))
    }

    /// Returns the job that has to run first so that `job` can: itself, or the holder of a mutex.
    fn holder_for(&self, at: usize, job: usize) -> usize {
        // Sections do not nest: a holder waits for no other.
        self.holder_against(at, job).unwrap_or(job)
    }

    /// Returns the job that keeps `job` from locking the mutex of its section.
    fn holder_against(&self, at: usize, job: usize) -> Option<usize> {
        let state = &self.jobs[job];
        let section = self.programs[state.job.stream].section(state.executed)?;
        if state.locked.is_some() {
            return None;
        }
        if let Some(&holder) = self.held.get(&section.mutex) {
            return Some(holder);
        }
        if self.protocol != Protocol::Ceiling {
            return None;
        }
        let own = self.level(job);
        let ceilings = &self.processors[at].ceilings;
        let held = self.held.iter().filter_map(|(mutex, &holder)| {
            let ceiling = *ceilings.get(mutex)?;
            // In the level itself, floors keep other jobs off.
            let keeps_off = match self.level(holder) > own {
                true => ceiling <= own,
                false => ceiling < own && holder != job,
            };
            keeps_off.then_some((ceiling, holder))
        });
        held.min().map(|(_, holder)| holder)
    }

    /// Locks the mutex of the section that a job begins.
    fn lock(&mut self, job: usize) {
        let state = &mut self.jobs[job];
        let section = self.programs[state.job.stream].section(state.executed);
        if let (Some(section), None) = (section, state.locked) {
            state.locked = Some(self.now);
            self.held.insert(section.mutex, job);
        }
    }
}

fn nanos(time: Time) -> i128 {
    i128::from(time.as_nanos())
}
