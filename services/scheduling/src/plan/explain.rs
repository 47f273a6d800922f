//! Terms of a stream's response time, with the names of operations.

use super::{Analysed, Plan};
use crate::analysis::Task;
use crate::analysis::fixed_priority::{Prioritized, explain};
use crate::strategy::Dispatching;
use crate::time::Time;
use serde::Serialize;

/// Response time of a stream, term by term. The terms sum up to the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Worst-case response time, counted from the release of the source.
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
        let here: Vec<usize> = (0..analysed.streams.len())
            .filter(|&index| {
                analysed.places[index].is_some_and(|other| other.processor == place.processor)
            })
            .collect();
        let tasks: Vec<Task> = here
            .iter()
            .map(|&index| analysed.seen(index, stream))
            .collect();
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
    fn priority(&self, stream: usize) -> i32 {
        let level = self.places[stream].map_or(0, |place| place.level);
        i32::try_from(level).map_or(i32::MIN, |level| -level)
    }

    /// Returns the task of a stream as `of` sees it.
    fn seen(&self, stream: usize, of: usize) -> Task {
        let task = self.streams[stream].task.clone();
        let Some(outcome) = &self.outcomes[stream] else {
            return task;
        };
        let response = outcome
            .response
            .bound()
            .unwrap_or(task.deadline)
            .min(task.deadline);
        let task = task.with_jitter(outcome.jitter);
        if stream == of {
            let mut own = task.with_blocking(outcome.blocking.time);
            own.wcet = own.wcet + outcome.suspended;
            return own;
        }
        if outcome.suspended.is_zero() {
            return task;
        }
        let jitter = task.jitter.max(response - task.wcet);
        task.with_jitter(jitter)
    }
}
