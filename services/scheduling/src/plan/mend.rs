//! Smallest changes after which a processor's streams meet their deadlines.

use super::Plan;
use crate::analysis::Task;
use crate::assignment::sensitivity::{MILLION, changes, largest_scale};
use crate::strategy::Dispatching;
use crate::time::Time;
use serde::Serialize;

/// Maximum number of streams of a processor whose mends are searched.
const MOST_STREAMS: usize = 500;

/// Changes to a processor on which streams miss deadlines; each alone mends it.
///
/// They leave the jitter of streams as it is, which a change may also shorten or lengthen: plan the
/// changed model to be certain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mends {
    /// Index of the processor in [`Plan::processors`].
    pub processor: usize,
    /// Largest factor, below 1.0, for all execution times of the processor; `None` if none mends it.
    pub scale: Option<f64>,
    /// Longest time that the platform may take in each of its windows; `None` if none is short enough.
    pub interference: Option<Time>,
    /// Changes of single streams.
    pub changes: Vec<Mend>,
}

/// Change of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mend {
    /// Index of the stream.
    pub stream: usize,
    /// Name of the operation.
    pub operation: String,
    /// Largest worst-case execution time of a job, without operations that it calls, that mends the processor, if it
    /// is not longer already.
    pub wcet: Option<Time>,
    /// Smallest period of the stream's source that mends the processor, if it is not shorter already.
    pub period: Option<Time>,
}

impl Plan {
    /// Returns the mends of all processors that miss deadlines and dispatch by static priorities, if
    /// they have 500 streams at most: the search takes long for more.
    #[must_use]
    pub fn mends(&self) -> Vec<Mends> {
        let processors = 0..self.processors.len();
        processors
            .filter_map(|processor| self.mends_of(processor))
            .collect()
    }

    fn mends_of(&self, processor: usize) -> Option<Mends> {
        let analysed = &self.analysed;
        let levels = &analysed.levels[processor];
        if levels.iter().any(|level| *level != Dispatching::Static) {
            return None;
        }
        let here = analysed.residents(processor);
        if !self.is_complete || here.len() > MOST_STREAMS {
            return None;
        }
        let misses = |&index: &usize| self.streams[index].verdict == super::Verdict::Misses;
        if !here.iter().any(misses) {
            return None;
        }
        let tasks: Vec<Task> = here.iter().map(|&index| analysed.own(index)).collect();
        let prioritized = analysed.prioritized(processor, &tasks);
        let mut found = changes(&prioritized);
        let platform = found.split_off(here.len());
        let found = found.into_iter().map(|change| {
            let (stream, task) = (here[change.task], &tasks[change.task]);
            Mend {
                stream,
                operation: self.streams[stream].operation.clone(),
                wcet: change
                    .wcet
                    .filter(|&wcet| wcet < task.wcet)
                    .and_then(|wcet| analysed.wcet_within(stream, wcet)),
                period: change.period.filter(|&period| period > task.period),
            }
        });
        let mends = |mend: &Mend| mend.wcet.is_some() || mend.period.is_some();
        Some(Mends {
            processor,
            scale: largest_scale(&prioritized)
                .filter(|&scale| scale < MILLION)
                .map(fraction),
            interference: platform.into_iter().find_map(|change| change.wcet),
            changes: found.filter(mends).collect(),
        })
    }
}

/// Returns millionths as a fraction.
#[expect(
    clippy::cast_precision_loss,
    reason = "at most a thousand million, for people"
)]
fn fraction(millionths: u64) -> f64 {
    millionths as f64 / MILLION as f64
}
