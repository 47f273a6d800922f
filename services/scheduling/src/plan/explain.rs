//! Terms of a stream's response time, with the names of operations.

use super::Plan;
use crate::analysis::Task;
use crate::analysis::fixed_priority::{Interference, explain};
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
    /// Time that the platform takes meanwhile.
    pub platform: Time,
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
        outcome.response.bound()?;
        if analysed.levels[place.processor][place.level] != Dispatching::Static {
            return None;
        }
        let here = analysed.residents(place.processor);
        let task = |&index: &usize| match index == stream {
            true => analysed.own(index),
            false => analysed.seen(index),
        };
        let tasks: Vec<Task> = here.iter().map(task).collect();
        let prioritized = analysed.prioritized(place.processor, &tasks);
        let own = here.iter().position(|&index| index == stream)?;
        let found = explain(&prioritized, own)?;
        let term = |stream: usize, jobs, time| Term {
            operation: self.streams[stream].operation.clone(),
            stream,
            jobs,
            time,
        };
        let (replies, jobs) = (analysed.replies(stream), found.job + 1);
        // Once for the busy period, and after each reply of each job.
        let times = replies.saturating_mul(jobs).saturating_add(1);
        let blocking = outcome.blocking.by.iter().map(|cause| {
            let length = cause.length.as_nanos() / replies.saturating_add(1);
            term(cause.task, 0, Time::from_nanos(length) * times)
        });
        let again = analysed.blocking_of_part(stream) * replies.saturating_mul(jobs);
        let is_stream = |one: &&Interference| one.task < here.len();
        let (others, platform): (Vec<&Interference>, Vec<&Interference>) =
            found.interference.iter().partition(is_stream);
        Some(Explained {
            response: found.response,
            jitter: found.jitter,
            blocking: blocking.collect(),
            execution: found.execution - again,
            jobs,
            suspended: outcome.suspended,
            interference: others
                .into_iter()
                .filter(|one| !one.time.is_zero())
                .map(|one| term(here[one.task], one.jobs, one.time))
                .collect(),
            platform: platform.into_iter().map(|one| one.time).sum(),
            elapsed: found.elapsed,
        })
    }
}
