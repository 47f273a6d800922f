//! Plan: the processor, level, priority and response time of each operation of a model.
//!
//! [`plan`] propagates rates, places the streams on processors, assigns levels by a strategy, and
//! computes end-to-end response times. A set that does not fit has a plan, too: it says what misses.

mod analysed;
mod blockers;
mod explain;
mod lanes;
mod mend;
mod moves;
mod placement;
mod priorities;
mod rates;
mod reorder;
mod subset;
mod united;

use crate::analysis::bounds::{self, Outcome as Bound};
use crate::analysis::{Response, Task};
use crate::chains::{Chains, analyse, analyse_since};
use crate::level::Level;
use crate::model::{Interference, Model};
use crate::release::{self, Stream};
use crate::strategy::{Dispatching, Strategy};
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use serde::Serialize;

pub(crate) use analysed::Analysed;
pub use blockers::Blocker;
pub use explain::{Explained, Term};
pub use lanes::{InLane, LaneCost};
pub use mend::{Mend, Mends};
pub use moves::Move;
pub use placement::Processor;
use priorities::Assigned;
pub use priorities::Refusal;

/// Outcome of planning a model.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the strategy.
    pub strategy: String,
    /// Processors of all hosts.
    pub processors: Vec<PlannedProcessor>,
    /// Streams of jobs; a stream follows the streams that release it.
    pub streams: Vec<PlannedStream>,
    /// `false` if the analysis was given up, as too many streams influence one another: then no
    /// response has a bound.
    pub is_complete: bool,
    /// Streams as they were analysed.
    pub(crate) analysed: Analysed,
}

/// Processor with its load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedProcessor {
    /// Name of the host.
    pub host: String,
    /// Number of the processor on its host.
    pub number: usize,
    /// Share of the processor's time that admitted streams take; 1.0 for the whole processor.
    pub utilisation: f64,
    /// Time that the platform takes, if any.
    pub interference: Option<Interference>,
    /// Order of dispatching of each level; the first is served first.
    pub levels: Vec<&'static str>,
    /// Utilisation bounds that hold for its tasks; none if the platform takes time.
    pub bounds: Vec<Bound>,
}

/// Stream with its place and response time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedStream {
    /// Name of the operation.
    pub operation: String,
    /// Name of the operation whose releases start the chain of calls.
    pub source: String,
    /// Name of the host.
    pub host: String,
    /// Number of the processor on its host; `None` if the stream is left out.
    pub processor: Option<usize>,
    /// Level on the processor; level 0 is served first.
    pub level: Option<usize>,
    /// Real-time CORBA priority, 0 to 32767.
    pub priority: Option<i16>,
    /// Criticality of the operation.
    pub criticality: Level,
    /// Worst-case execution time of the jobs of a release, with operations that run in their thread.
    pub wcet: Time,
    /// Minimum distance of two releases.
    pub period: Time,
    /// Deadline, counted from the release of the source.
    pub deadline: Time,
    /// Latest release, counted from the release of the source.
    pub jitter: Time,
    /// Worst-case response time, counted from the release of the source; `None` if it has no bound.
    pub response: Option<Time>,
    /// Verdict on the stream.
    pub verdict: Verdict,
    /// Reason for which admission left the stream out; `None` if it did not.
    pub refusal: Option<Refusal>,
}

/// Verdict on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every job ends by its deadline.
    Fits,
    /// A job may end after its deadline.
    Misses,
    /// The strategy's admission left the stream out.
    LeftOut,
    /// The plan leaves out a stream that releases this one.
    NeverReleased,
}

/// Plans a model by a strategy. Operations with several rates run at the highest with which all deadlines are met.
///
/// # Errors
/// Rates that contradict each other, and mutexes that several processors share.
pub fn plan(model: &Model, strategy: &dyn Strategy) -> Result<Plan, Vec<Diagnostic>> {
    since(None, model, strategy)
}

/// Plans a model as [`plan`] does, with the outcomes of another plan for what has not changed.
fn since(
    before: Option<&Plan>,
    model: &Model,
    strategy: &dyn Strategy,
) -> Result<Plan, Vec<Diagnostic>> {
    let fits = |model: &Model| at_rates(before, model, strategy).is_ok_and(|plan| plan.fits());
    let chosen = rates::highest(model, fits);
    at_rates(before, chosen.as_ref().unwrap_or(model), strategy)
}

/// Plans a model with each operation at its period.
fn at_rates(
    before: Option<&Plan>,
    model: &Model,
    strategy: &dyn Strategy,
) -> Result<Plan, Vec<Diagnostic>> {
    let streams = release::streams(model)?;
    let processors = placement::processors(model);
    let homes = placement::place(model, &streams, &processors, strategy);
    placement::check_mutexes(model, &streams, &homes)?;
    let interference = placement::interference(model, &processors);
    let assigned = priorities::assign(model, &streams, &homes, &interference, strategy);
    Ok(Plan::since(
        before,
        model,
        strategy.name(),
        streams,
        assigned,
    ))
}

impl Plan {
    /// Plans a model in which some values are others than in the model of this plan, as [`plan`] does. The response times of
    /// operations that the change does not reach, over processors and calls, are taken from this plan.
    ///
    /// # Errors
    /// As [`plan`].
    pub fn after_change(
        &self,
        changed: &Model,
        strategy: &dyn Strategy,
    ) -> Result<Self, Vec<Diagnostic>> {
        since(Some(self), changed, strategy)
    }

    /// Analyses streams with their places, and makes a plan of the outcome.
    fn of(model: &Model, strategy: &str, streams: Vec<Stream>, assigned: Assigned) -> Self {
        Self::since(None, model, strategy, streams, assigned)
    }

    /// Analyses those streams that are not as in another plan, and makes a plan of all outcomes.
    fn since(
        before: Option<&Self>,
        model: &Model,
        strategy: &str,
        streams: Vec<Stream>,
        assigned: Assigned,
    ) -> Self {
        let processors = placement::processors(model);
        let interference = placement::interference(model, &processors);
        let chains = Chains {
            streams: &streams,
            places: &assigned.places,
            levels: &assigned.levels,
            protocol: model.protocol,
            interference: &interference,
        };
        let analysis = match before.filter(|before| before.is_complete) {
            Some(Self { analysed, .. }) => {
                analyse_since(&chains, &analysed.chains(), &analysed.outcomes)
            }
            None => analyse(&chains),
        };
        let platform = (model.protocol, interference);
        let wcet = |stream: &Stream| model.operations[stream.operation].times.worst;
        let wcets = streams.iter().map(wcet).collect();
        let outcomes = (wcets, analysis.streams);
        let analysed = Analysed::new(streams, assigned, platform, outcomes);
        Self {
            is_complete: analysis.is_complete,
            strategy: strategy.to_owned(),
            processors: analysed.processors(model, &processors),
            streams: analysed.streams(model, &processors),
            analysed,
        }
    }

    /// Returns whether every stream is admitted and meets its deadline.
    #[must_use]
    pub fn fits(&self) -> bool {
        let mut verdicts = self.streams.iter().map(|stream| stream.verdict);
        verdicts.all(|verdict| verdict == Verdict::Fits)
    }

    /// Returns the stream, left out by admission, without which a stream is never released: one of its
    /// callers, or of theirs. `None` if the stream is released, or left out itself.
    #[must_use]
    pub fn left_out_caller(&self, stream: usize) -> Option<usize> {
        let mut at = stream;
        // A stream follows the streams that release it, so this ends.
        while self.streams.get(at)?.verdict == Verdict::NeverReleased {
            let mut callers = self.analysed.streams[at].released_by.iter();
            let caller = callers.find(|one| self.analysed.places[one.stream].is_none())?;
            at = caller.stream;
        }
        (at != stream).then_some(at)
    }

    /// Returns the streams of an operation, by their indices.
    pub fn streams_of(&self, operation: &str) -> impl Iterator<Item = usize> {
        let all = self.streams.iter().enumerate();
        all.filter(move |(_, stream)| stream.operation == operation)
            .map(|(index, _)| index)
    }
}

impl Analysed {
    fn processors(&self, model: &Model, processors: &[Processor]) -> Vec<PlannedProcessor> {
        let planned = processors.iter().enumerate().map(|(at, processor)| {
            let tasks: Vec<Task> = self
                .residents(at)
                .iter()
                .map(|&index| self.own(index))
                .collect();
            let levels = self.levels[at].iter().map(|dispatching| dispatching.name());
            PlannedProcessor {
                host: model.hosts[processor.host].name.clone(),
                number: processor.number,
                // The sum of no share is -0.0.
                utilisation: 0.0 + self.load(at),
                interference: model.hosts[processor.host].interference,
                levels: levels.collect(),
                bounds: self.bounds(at, &tasks.iter().collect::<Vec<_>>()),
            }
        });
        planned.collect()
    }

    /// Returns the share of a processor that its streams take.
    fn load(&self, at: usize) -> f64 {
        let here = self.residents(at).iter();
        crate::analysis::utilisation(here.map(|&index| &self.streams[index].task))
    }

    /// Returns the utilisation bounds that hold for the dispatching of a processor. Those of fixed
    /// priorities need the order of deadlines.
    fn bounds(&self, at: usize, tasks: &[&Task]) -> Vec<Bound> {
        let levels = &self.levels[at];
        let is_edf = matches!(levels[..], [Dispatching::Deadline]);
        let mut ranked: Vec<_> = self.residents(at).iter().zip(tasks).collect();
        ranked.sort_by_key(|(index, _)| std::cmp::Reverse(self.priority(**index)));
        let is_static = levels.iter().all(|level| *level == Dispatching::Static);
        let is_by_deadline = is_static && ranked.is_sorted_by_key(|(_, task)| task.deadline);
        let holds = |bound: &Bound| match bound.test {
            bounds::Test::LiuLayland | bounds::Test::Hyperbolic => is_by_deadline,
            bounds::Test::EdfUtilisation | bounds::Test::EdfDensity => is_edf,
        };
        let all = if tasks.is_empty() || self.interference[at].is_some() {
            Vec::new()
        } else {
            bounds::bounds(tasks)
        };
        all.into_iter().filter(holds).collect()
    }

    fn streams(&self, model: &Model, processors: &[Processor]) -> Vec<PlannedStream> {
        let all = 0..self.streams.len();
        all.map(|index| self.stream(model, processors, index))
            .collect()
    }

    fn stream(&self, model: &Model, processors: &[Processor], index: usize) -> PlannedStream {
        let (stream, place) = (&self.streams[index], self.places[index]);
        let operation = &model.operations[stream.operation];
        let outcome = self.outcomes[index].as_ref();
        let response = outcome.map(|outcome| outcome.response);
        let levels = place.map_or(0, |place| self.levels[place.processor].len());
        PlannedStream {
            operation: operation.name.clone(),
            source: model.operations[stream.source].name.clone(),
            host: model.hosts[operation.host].name.clone(),
            processor: place.map(|place| processors[place.processor].number),
            level: place.map(|place| place.level),
            priority: place.map(|place| priorities::corba(place.level, levels)),
            criticality: operation.criticality,
            wcet: stream.task.wcet,
            period: stream.task.period,
            deadline: stream.task.deadline,
            jitter: outcome.map_or(stream.task.jitter, |outcome| outcome.jitter),
            response: response.and_then(Response::bound),
            verdict: self.verdict(index),
            refusal: self.refusals[index],
        }
    }

    fn verdict(&self, index: usize) -> Verdict {
        let stream = &self.streams[index];
        match &self.outcomes[index] {
            Some(outcome) if outcome.response.meets(stream.task.deadline) => Verdict::Fits,
            Some(_) => Verdict::Misses,
            None => {
                let mut suppliers = stream.released_by.iter();
                match suppliers.any(|release| self.places[release.stream].is_none()) {
                    true => Verdict::NeverReleased,
                    false => Verdict::LeftOut,
                }
            }
        }
    }
}
