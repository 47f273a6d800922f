//! Events of a simulation: releases, messages, and the ends of jobs.

use super::processor::Processor;
use super::program::{Program, programs};
use super::state::{Arrival, Event, Simulation, State, push};
use super::{Activity, Job, MOST_EVENTS, Slice, Timeline};
use crate::analysis::blocking::Protocol;
use crate::model::Model;
use crate::plan::Plan;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Simulates a plan of a model from time zero to `until`.
///
/// `plan` has to be a plan of this model.
#[must_use]
pub fn simulate(model: &Model, plan: &Plan, until: Time) -> Timeline {
    let mut simulation = Simulation::new(programs(model, plan), plan, model.protocol);
    simulation.run(until);
    simulation.finish()
}

impl Simulation {
    pub(super) fn new(programs: Vec<Program>, plan: &Plan, protocol: Protocol) -> Self {
        let count = plan.processors.len();
        let mut simulation = Self {
            processors: Processor::all(&programs, count),
            programs,
            protocol,
            jobs: Vec::new(),
            held: BTreeMap::new(),
            now: Time::ZERO,
            events: BinaryHeap::new(),
            scheduled: 0,
            handled: 0,
            joining: BTreeMap::new(),
            is_cut: false,
        };
        for stream in 0..simulation.programs.len() {
            let program = &simulation.programs[stream];
            if let (Some(_), Some(first)) = (program.place, program.first) {
                simulation.schedule(first, Event::Source { stream, number: 0 });
            }
        }
        simulation
    }

    /// Handles all events up to and including a time.
    pub(super) fn run(&mut self, until: Time) {
        while let Some(time) = self.next_time().filter(|&time| time <= until) {
            self.now = time;
            while self.next_time() == Some(time) {
                if self.handled == MOST_EVENTS {
                    self.is_cut = true;
                    return;
                }
                self.next_event();
            }
            self.dispatch();
        }
        self.now = until;
    }

    /// Returns the jobs and their slices.
    pub(super) fn finish(mut self) -> Timeline {
        let until = self.now;
        for processor in 0..self.processors.len() {
            self.advance(processor);
        }
        let mut processors = vec![Vec::new(); self.processors.len()];
        let mut worst: Vec<Option<Time>> = vec![None; self.programs.len()];
        let mut jobs = Vec::with_capacity(self.jobs.len());
        for (index, mut state) in self.jobs.into_iter().enumerate() {
            let program = &self.programs[state.job.stream];
            if state.is_awaiting() {
                let span = (state.awaits_since, until);
                push(&mut state, index, span, Activity::Awaiting);
            }
            if let Some(place) = program.place {
                processors[place.processor].append(&mut state.slices);
            }
            let mut job = state.job;
            job.is_missed = job
                .end
                .map_or(job.deadline < until, |end| end > job.deadline);
            if let Some(end) = job.end {
                let response = Some(end - job.source_release);
                worst[job.stream] = worst[job.stream].max(response);
            }
            jobs.push(job);
        }
        for slices in &mut processors {
            slices.sort_by_key(|slice: &Slice| (slice.from, slice.to, slice.job));
        }
        Timeline {
            until,
            is_cut: self.is_cut,
            processors,
            jobs,
            worst,
        }
    }

    fn next_time(&self) -> Option<Time> {
        self.events.peek().map(|Reverse((time, ..))| *time)
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    /// Schedules the next stop of a processor.
    pub(super) fn schedule_stop(&mut self, at: Time, processor: usize) {
        let look = self.processors[processor].look;
        self.schedule(at, Event::Stop { processor, look });
    }

    fn next_event(&mut self) {
        let Some(Reverse((_, _, event))) = self.events.pop() else {
            return;
        };
        if let Event::Stop { processor, look } = event {
            if self.processors[processor].look != look {
                return;
            }
            self.advance(processor);
        }
        self.handled += 1;
        match event {
            Event::Source { stream, number } => self.source(stream, number),
            Event::Arrival(arrival) => self.arrive(arrival),
            Event::Reply { job } => self.reply(job),
            Event::Stop { .. } => {}
        }
    }

    fn source(&mut self, stream: usize, number: u64) {
        let next = self.now + self.programs[stream].period;
        let number_of_next = number + 1;
        let event = Event::Source {
            stream,
            number: number_of_next,
        };
        self.schedule(next, event);
        self.release(Arrival {
            stream,
            number,
            source_release: self.now,
            caller: None,
        });
    }

    fn arrive(&mut self, mut arrival: Arrival) {
        let suppliers = self.programs[arrival.stream].suppliers;
        if suppliers > 1 {
            let key = (arrival.stream, arrival.number);
            let joining = self.joining.entry(key).or_default();
            joining.arrived += 1;
            joining.source_release = joining.source_release.max(arrival.source_release);
            if joining.arrived < suppliers {
                return;
            }
            arrival.source_release = joining.source_release;
            self.joining.remove(&key);
        }
        self.release(arrival);
    }

    fn release(&mut self, arrival: Arrival) {
        let program = &self.programs[arrival.stream];
        let (wcet, place) = (program.wcet, program.place);
        let job = self.jobs.len();
        self.jobs.push(State {
            job: Job {
                stream: arrival.stream,
                number: arrival.number,
                source_release: arrival.source_release,
                release: self.now,
                end: None,
                deadline: arrival.source_release + program.deadline,
                is_missed: false,
            },
            executed: Time::ZERO,
            locked: None,
            slices: Vec::new(),
            caller: arrival.caller,
            called: 0,
            awaits_since: Time::ZERO,
        });
        match place {
            Some(place) if !wcet.is_zero() => {
                self.advance(place.processor);
                self.processors[place.processor].add(job);
            }
            _ => self.call_next(job),
        }
    }

    /// Calls the next callee of a job that has executed its own time, or ends the job.
    pub(super) fn call_next(&mut self, job: usize) {
        let now = self.now;
        let state = &mut self.jobs[job];
        let program = &self.programs[state.job.stream];
        let Some(&callee) = program.callees.get(state.called) else {
            state.called += 1;
            self.end(job);
            return;
        };
        if state.called == 0 {
            state.awaits_since = now;
        }
        state.called += 1;
        let arrival = Arrival {
            stream: callee.stream,
            number: state.job.number,
            source_release: state.job.source_release,
            caller: Some((job, callee.reply)),
        };
        self.schedule(now + callee.request, Event::Arrival(arrival));
    }

    fn reply(&mut self, job: usize) {
        self.call_next(job);
        let state = &mut self.jobs[job];
        if state.job.end.is_some() {
            let span = (state.awaits_since, self.now);
            push(state, job, span, Activity::Awaiting);
        }
    }

    /// Ends a job, and sends the messages that release others.
    fn end(&mut self, job: usize) {
        let now = self.now;
        let state = &mut self.jobs[job];
        state.job.end = Some(now);
        let caller = state.caller;
        let (stream, number) = (state.job.stream, state.job.number);
        let source_release = state.job.source_release;
        for at in 0..self.programs[stream].consumers.len() {
            let (consumer, message) = self.programs[stream].consumers[at];
            let arrival = Arrival {
                stream: consumer,
                number,
                source_release,
                caller: None,
            };
            self.schedule(now + message, Event::Arrival(arrival));
        }
        if let Some((caller, reply)) = caller {
            self.schedule(now + reply, Event::Reply { job: caller });
        }
    }
}

impl State {
    fn is_awaiting(&self) -> bool {
        self.called > 0 && self.job.end.is_none()
    }
}
