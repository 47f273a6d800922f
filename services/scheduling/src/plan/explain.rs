//! Terms of a stream's response time, with the names of operations.

use super::{Analysed, Plan};
use crate::analysis::Task;
use crate::analysis::fixed_priority::{Prioritized, explain};
use crate::chains::by_itself;
use crate::strategy::Dispatching;
use crate::time::Time;
use serde::Serialize;

/// Response time of a stream, term by term. The terms sum up to the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Worst-case response time, counted from the release of the source; from the call, if the caller
    /// awaits the reply.
    pub response: Time,
    /// Latest release, counted from that of the source.
    pub jitter: Time,
    /// Blocking by streams of lower levels.
    pub blocking: Vec<Term>,
    /// Own execution: of the worst job, and of those before it in the same busy period.
    pub execution: Time,
    /// Number of own jobs that this contains.
    pub jobs: u64,
    /// Part of the execution for which each job awaits replies of other hosts.
    pub suspended: Time,
    /// Execution of streams of higher and equal levels.
    pub interference: Vec<Term>,
    /// Distance of the first of these jobs to the worst one, which is subtracted.
    pub elapsed: Time,
}

/// Time that another stream takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Term {
    /// Name of the operation.
    pub operation: String,
    /// Index of the stream.
    pub stream: usize,
    /// Number of jobs; zero for a part of one.
    pub jobs: u64,
    /// Time of these jobs.
    pub time: Time,
}

impl Plan {
    /// Returns the terms of a stream's response time; `None` if it is left out, unbounded, or its
    /// level does not dispatch by static priority, where deadlines decide instead.
    #[must_use]
    pub fn explain(&self, stream: usize) -> Option<Explained> {
        let analysed = &self.analysed;
        let place = (*analysed.places.get(stream)?)?;
        let outcome = analysed.outcomes[stream].as_ref()?;
        if analysed.levels[place.processor][place.level] != Dispatching::Static {
            return None;
        }
        let here = analysed.residents(place.processor);
        let task = |&index: &usize| match index == stream {
            true => analysed.own(index),
            false => analysed.seen(index),
        };
        let tasks: Vec<Task> = here.iter().map(task).collect();
        let prioritized: Vec<_> = here
            .iter()
            .zip(&tasks)
            .map(|(&index, task)| Prioritized {
                task,
                priority: analysed.priority(index),
            })
            .collect();
        let own = here.iter().position(|&index| index == stream)?;
        let found = explain(&prioritized, own)?;
        let term = |stream: usize, jobs, time| Term {
            operation: self.streams[stream].operation.clone(),
            stream,
            jobs,
            time,
        };
        let causes = outcome.blocking.by.iter();
        let others = found.interference.iter().filter(|one| !one.time.is_zero());
        Some(Explained {
            response: found.response,
            jitter: found.jitter,
            blocking: causes
                .map(|cause| term(cause.task, 0, cause.length))
                .collect(),
            execution: found.execution,
            jobs: found.job + 1,
            suspended: outcome.suspended,
            interference: others
                .map(|one| term(here[one.task], one.jobs, one.time))
                .collect(),
            elapsed: found.elapsed,
        })
    }
}

impl Analysed {
    /// Returns the streams of a processor.
    pub(super) fn residents(&self, processor: usize) -> Vec<usize> {
        let places = self.places.iter().enumerate();
        let here = places.filter(|(_, place)| place.is_some_and(|one| one.processor == processor));
        here.map(|(index, _)| index).collect()
    }

    /// Returns a number that orders the levels of a processor; larger ones are served first.
    pub(super) fn priority(&self, stream: usize) -> i32 {
        let level = self.places[stream].map_or(0, |place| place.level);
        i32::try_from(level).map_or(i32::MIN, |level| -level)
    }

    /// Returns the task of a stream as its own analysis has it: with its blocking, and with its
    /// suspension as execution. A stream whose reply is awaited has no jitter: its response counts
    /// from the call.
    pub(super) fn own(&self, stream: usize) -> Task {
        let own = &self.streams[stream];
        let task = own.task.clone();
        let Some(outcome) = &self.outcomes[stream] else {
            return task;
        };
        let is_awaited = own
            .released_by
            .iter()
            .any(|release| release.awaited.is_some());
        let jitter = if is_awaited {
            Time::ZERO
        } else {
            outcome.jitter
        };
        by_itself(&task, outcome.suspended)
            .with_blocking(outcome.blocking.time)
            .with_jitter(jitter)
    }

    /// Returns the task of a stream as others see it: a suspension delays its jobs.
    fn seen(&self, stream: usize) -> Task {
        let task = self.streams[stream].task.clone();
        let Some(outcome) = &self.outcomes[stream] else {
            return task;
        };
        let mut jitter = outcome.jitter;
        if !outcome.suspended.is_zero() {
            let response = outcome.response.bound().unwrap_or(task.deadline);
            jitter = jitter.max(response.min(task.deadline) - task.wcet);
        }
        task.with_jitter(jitter)
    }
}
