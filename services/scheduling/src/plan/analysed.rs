//! Streams of a plan as they were analysed.

use super::priorities::{Assigned, Refusal};
use crate::analysis::Task;
use crate::analysis::blocking::Protocol;
use crate::analysis::fixed_priority::Prioritized;
use crate::chains::{
    Chains, EndToEnd, Locker, Place, by_itself, if_interrupted, replies, seen_by_others,
};
use crate::release::Stream;
use crate::strategy::Dispatching;
use crate::time::Time;

/// Streams, their places and their responses.
#[derive(Clone, Debug)]
pub(crate) struct Analysed {
    pub(crate) streams: Vec<Stream>,
    pub(crate) places: Vec<Option<Place>>,
    pub(crate) levels: Vec<Vec<Dispatching>>,
    /// Reasons for which admission left streams out.
    pub(super) refusals: Vec<Option<Refusal>>,
    pub(crate) protocol: Protocol,
    /// Time that the platform takes of each processor.
    pub(crate) interference: Vec<Option<Task>>,
    pub(crate) outcomes: Vec<Option<EndToEnd>>,
    /// Number of replies that each stream awaits in a release.
    replies: Vec<u64>,
    /// Execution time of each stream's operation, without the operations that it calls.
    wcets: Vec<Time>,
    /// Streams of each processor.
    residents: Vec<Vec<usize>>,
}

impl Analysed {
    pub(super) fn new(
        streams: Vec<Stream>,
        assigned: Assigned,
        (protocol, interference): (Protocol, Vec<Option<Task>>),
        (wcets, outcomes): (Vec<Time>, Vec<Option<EndToEnd>>),
    ) -> Self {
        let Assigned {
            places,
            levels,
            refusals,
        } = assigned;
        let mut residents = vec![Vec::new(); levels.len()];
        for (index, place) in places.iter().enumerate() {
            if let Some(place) = place {
                residents[place.processor].push(index);
            }
        }
        Self {
            replies: replies(&streams),
            wcets,
            streams,
            places,
            levels,
            refusals,
            protocol,
            interference,
            outcomes,
            residents,
        }
    }

    /// Returns the streams with their places, as they were analysed.
    pub(super) fn chains(&self) -> Chains<'_> {
        Chains {
            streams: &self.streams,
            places: &self.places,
            levels: &self.levels,
            protocol: self.protocol,
            interference: &self.interference,
        }
    }

    /// Returns the levels as they are, with other places.
    pub(super) fn moved_to(&self, places: Vec<Option<Place>>) -> Assigned {
        Assigned {
            places,
            levels: self.levels.clone(),
            refusals: self.refusals.clone(),
        }
    }

    /// Returns the streams of a processor.
    pub(super) fn residents(&self, processor: usize) -> &[usize] {
        &self.residents[processor]
    }

    /// Returns a number that orders the levels of a processor; larger ones are served first.
    pub(super) fn priority(&self, stream: usize) -> i32 {
        let level = self.places[stream].map_or(0, |place| place.level);
        i32::try_from(level).map_or(i32::MIN, |level| -level)
    }

    /// Returns the tasks of a processor's streams, in their order, with their priorities; behind them the time
    /// that the platform takes, if any.
    pub(super) fn prioritized<'t>(
        &'t self,
        processor: usize,
        tasks: &'t [Task],
    ) -> Vec<Prioritized<'t>> {
        let here = self.residents(processor).iter().zip(tasks);
        let prioritized = here.map(|(&stream, task)| Prioritized {
            task,
            priority: self.priority(stream),
        });
        let platform = self.interference[processor].iter();
        let platform = platform.map(|task| Prioritized {
            task,
            priority: i32::MAX,
        });
        prioritized.chain(platform).collect()
    }

    /// Returns the number of replies that a job awaits, after each of which it may be blocked again.
    pub(super) fn replies(&self, stream: usize) -> u64 {
        self.replies[stream]
    }

    /// Returns the blocking of a stream before one part of a job.
    pub(super) fn blocking_of_part(&self, stream: usize) -> Time {
        let outcome = self.outcomes[stream].as_ref();
        let all = outcome.map_or(0, |outcome| outcome.blocking.time.as_nanos());
        Time::from_nanos(all / self.replies[stream].saturating_add(1))
    }

    /// Returns the task of a stream for its own analysis: with its blocking, and with its
    /// suspension, and the blocking after it, as execution. A stream whose reply is awaited has no jitter: its response counts
    /// from the call.
    pub(super) fn own(&self, stream: usize) -> Task {
        self.own_as(
            stream,
            &self.streams[stream].task,
            self.blocking_of_part(stream),
        )
    }

    /// Returns the task of a stream for its own analysis, as another task that is blocked for some time before each of its parts.
    pub(super) fn own_as(&self, stream: usize, task: &Task, blocking: Time) -> Task {
        let own = &self.streams[stream];
        let Some(outcome) = &self.outcomes[stream] else {
            return task.clone();
        };
        let mut releases = own.released_by.iter();
        let jitter = match releases.any(|release| release.awaited.is_some()) {
            true => Time::ZERO,
            false => outcome.jitter,
        };
        let suspended = outcome.suspended + blocking * self.replies[stream];
        let task = by_itself(task, suspended);
        let others = self.places[stream].map(|place| self.residents(place.processor));
        let others = others.unwrap_or_default().iter();
        let others = others.filter(|&&other| other != stream);
        let lockers = others.map(|&other| self.locker(other));
        if_interrupted(task, self.locker(stream), lockers, self.protocol)
            .with_blocking(blocking)
            .with_jitter(jitter)
    }

    fn locker(&self, stream: usize) -> Locker<'_> {
        Locker {
            sections: &self.streams[stream].sections,
            level: self.places[stream].map_or(0, |place| place.level),
        }
    }

    /// Returns the execution time of a stream's operation, without those that it calls, with which its own
    /// task ([`Self::own`]) has a given one; `None` if those that it calls take as long by themselves.
    pub(super) fn wcet_within(&self, stream: usize, given: Time) -> Option<Time> {
        let (one, own) = (&self.streams[stream], self.own(stream));
        let jobs = one.jobs.max(1);
        let waiting = (own.wcet - one.task.wcet).as_nanos();
        let called =
            (Time::from_nanos(one.task.wcet.as_nanos() / jobs) - self.wcets[stream]).as_nanos();
        let of_job = given.as_nanos().checked_sub(waiting)? / jobs;
        let left = of_job.checked_sub(called).filter(|&left| left > 0)?;
        Some(Time::from_nanos(left))
    }

    /// Returns the task of a stream for the analysis of other streams.
    pub(super) fn seen(&self, stream: usize) -> Task {
        let task = &self.streams[stream].task;
        match &self.outcomes[stream] {
            Some(outcome) => {
                seen_by_others(task, outcome.jitter, outcome.suspended, outcome.response)
            }
            None => task.clone(),
        }
    }
}
