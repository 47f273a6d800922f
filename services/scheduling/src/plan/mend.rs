//! Smallest changes after which a processor's streams meet their deadlines.

use super::{Plan, Verdict};
use crate::analysis::{Preemption, Task};
use crate::assignment::sensitivity::{
    MILLION, changes, changes_by_deadline, largest_scale, largest_scale_by_deadline,
};
use crate::model::{Model, Operation};
use crate::strategy::{Dispatching, Strategy};
use crate::time::Time;
use serde::Serialize;
use std::time::Duration;

/// Maximum number of streams of a processor whose mends, or blockers, are searched.
pub(super) const MOST_STREAMS: usize = 500;

/// Maximum number of streams of all processors together whose mends are searched.
const MOST_SEARCHED: usize = 1_000;

/// Number of streams of all plans that are made to confirm changes.
const MOST_PLANNED: usize = 100_000;

/// Changes to a processor on which streams miss deadlines; each alone mends it.
///
/// They leave the jitter and the priorities of streams as they are, which a change may alter, and a longer period
/// takes a deadline that is equal to it along: plan the changed model to be certain, as
/// [`Plan::confirmed_mends`] does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mends {
    /// Index of the processor in [`Plan::processors`].
    pub processor: usize,
    /// Largest factor, below 1.0, for all execution times of the processor; `None` if none mends it.
    pub scale: Option<f64>,
    /// Longest time that the platform may take in each of its windows; `None` if none is short enough, and under EDF.
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
    /// Returns the mends of processors that miss deadlines and dispatch by static priorities, or all by deadline: of the first
    /// ones that have 1,000 streams together, without those of more than 500, as the search takes long.
    #[must_use]
    pub fn mends(&self) -> Vec<Mends> {
        let mut left = MOST_SEARCHED;
        let of = |processor| {
            let streams = self.analysed.residents(processor).len();
            let mends = (streams <= left).then(|| self.mends_of(processor))??;
            left -= streams;
            Some(mends)
        };
        (0..self.processors.len()).filter_map(of).collect()
    }

    /// Returns the mends of all processors as [`Self::mends`], but of the factors and the changes of single streams only
    /// those with which a plan of the changed model meets the deadlines of the processor, and all that this one meets.
    ///
    /// A factor shortens no time for which replies of other hosts are awaited.
    /// A longer period may change priorities, or not change a deadline that the model states; an execution time is not
    /// shorter than the operation's sections. Of large models, for which too many plans would have to be made, the last ones
    /// stay unconfirmed.
    #[must_use]
    pub fn confirmed_mends(&self, model: &Model, strategy: &dyn Strategy) -> Vec<Mends> {
        let mut left = MOST_PLANNED / self.streams.len().max(1);
        let mut confirms = |processor, changed: &dyn Fn() -> Option<Model>| {
            if left == 0 {
                return true;
            }
            left -= 1;
            let after = changed().map(|changed| self.after_change(&changed, strategy));
            after.is_some_and(|after| after.is_ok_and(|after| self.is_mended_in(processor, &after)))
        };
        let mut all = self.mends();
        for mends in &mut all {
            let processor = mends.processor;
            let scale =
                |scale: &f64| confirms(processor, &|| Some(self.scaled(model, processor, *scale)));
            mends.scale = mends.scale.filter(scale);
            for mend in &mut mends.changes {
                let stream = mend.stream;
                let mut is_kept =
                    |change| confirms(processor, &|| self.changed(model, stream, change));
                mend.wcet = mend.wcet.filter(|&wcet| is_kept(Changed::Wcet(wcet)));
                mend.period = mend
                    .period
                    .filter(|&period| is_kept(Changed::Period(period)));
            }
            mends.changes.retain(Mend::is_some);
        }
        all
    }

    /// Returns the model with a changed value of a stream's operation, or source; `None` if it contradicts others.
    fn changed(&self, model: &Model, stream: usize, change: Changed) -> Option<Model> {
        let mut model = model.clone();
        let stream = &self.analysed.streams[stream];
        let is_possible = match change {
            Changed::Wcet(wcet) => shorten(&mut model.operations[stream.operation], wcet),
            Changed::Period(period) => slow_down(&mut model.operations[stream.source], period),
        };
        is_possible.then_some(model)
    }

    /// Returns the model with shorter execution times of all operations of a processor, and of those in their threads.
    fn scaled(&self, model: &Model, processor: usize, scale: f64) -> Model {
        let mut scaled = model.clone();
        let here = self.analysed.residents(processor).iter();
        let here = here.map(|&stream| self.analysed.streams[stream].operation);
        for index in model.in_threads(here) {
            scale_times(&mut scaled.operations[index], scale);
        }
        scaled
    }

    /// Returns whether another plan of the same streams meets all deadlines of a processor's streams, and all that this
    /// plan meets.
    pub(super) fn is_mended_in(&self, processor: usize, after: &Self) -> bool {
        let here = self.analysed.residents(processor);
        let pairs = self.streams.iter().zip(&after.streams).enumerate();
        let mut pairs = pairs.map(|(index, (before, after))| {
            let has_to = before.verdict == Verdict::Fits || here.binary_search(&index).is_ok();
            !has_to || after.verdict == Verdict::Fits
        });
        pairs.all(|is_so| is_so)
    }

    fn mends_of(&self, processor: usize) -> Option<Mends> {
        let analysed = &self.analysed;
        let levels = &analysed.levels[processor];
        let is_by_deadline = **levels == [Dispatching::Deadline];
        if !is_by_deadline && levels.iter().any(|level| *level != Dispatching::Static) {
            return None;
        }
        let here = analysed.residents(processor);
        if !self.is_complete || here.len() > MOST_STREAMS {
            return None;
        }
        let misses = |&index: &usize| self.streams[index].verdict == Verdict::Misses;
        if !here.iter().any(misses) {
            return None;
        }
        let tasks: Vec<Task> = here.iter().map(|&index| analysed.own(index)).collect();
        let (scale, mut found) = match is_by_deadline {
            true => {
                let platform = analysed.interference[processor].as_ref();
                let scale = largest_scale_by_deadline(&tasks, platform);
                (scale, changes_by_deadline(&tasks, platform))
            }
            false => {
                let prioritized = analysed.prioritized(processor, &tasks);
                (largest_scale(&prioritized), changes(&prioritized))
            }
        };
        // Under EDF there is none.
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
        Some(Mends {
            processor,
            scale: scale.filter(|&scale| scale < MILLION).map(fraction),
            interference: platform.into_iter().find_map(|change| change.wcet),
            changes: found.filter(Mend::is_some).collect(),
        })
    }
}

impl Mend {
    fn is_some(&self) -> bool {
        self.wcet.is_some() || self.period.is_some()
    }
}

/// Changed value of an operation.
#[derive(Clone, Copy)]
enum Changed {
    Wcet(Time),
    Period(Time),
}

/// Sets an operation's execution time; returns `false` if its sections, or its usual times, take longer.
fn shorten(operation: &mut Operation, wcet: Time) -> bool {
    let sections = operation.sections.iter().map(|section| section.length);
    let unpreempted = match operation.preemption {
        Preemption::Full | Preemption::None => None,
        Preemption::Segments { longest, .. } | Preemption::Floating { longest } => Some(longest),
    };
    let usual = [operation.times.typical, operation.times.cached, unpreempted];
    let longest = sections.chain(usual.into_iter().flatten()).max();
    operation.times.worst = wcet;
    longest.is_none_or(|longest| longest <= wcet)
}

/// Sets an operation's period; returns `false` if its longer ones are not longer any more.
fn slow_down(operation: &mut Operation, period: Time) -> bool {
    operation.period = Some(period);
    let first = [operation.rates.first(), operation.degraded.first()];
    first.into_iter().flatten().all(|&longer| longer > period)
}

/// Multiplies an operation's execution times, and those of its sections, by a factor.
fn scale_times(operation: &mut Operation, scale: f64) {
    let shorten = |time: &mut Time| {
        if !time.is_zero() {
            // A nanosecond less, as products are rounded to the nearest one.
            let product = Time::from(Duration::from(*time).mul_f64(scale));
            *time = Time::from_nanos(product.as_nanos().saturating_sub(1).max(1));
        }
    };
    shorten(&mut operation.times.worst);
    for section in &mut operation.sections {
        shorten(&mut section.length);
    }
    match &mut operation.preemption {
        Preemption::Full | Preemption::None => (),
        Preemption::Floating { longest } => shorten(longest),
        Preemption::Segments { longest, last } => {
            shorten(longest);
            shorten(last);
        }
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
