//! Computation of a schedule.

use std::collections::HashMap;

use punctual_scheduling::plan::{Plan, PlannedStream, Verdict, plan};
use punctual_scheduling::release;
use punctual_scheduling::strategy::Strategy;

use super::anomalies::{Anomalies, Anomaly};
use super::considered::Considered;
use super::places::{Priorities, places};
use super::rates;
use crate::kept::Place;
use crate::refusal::Refusal;
use crate::rtec_scheduler::{ConfigInfo, HandleT, SchedulingAnomaly};
use crate::state::State;

/// Options of a computation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) strategy: &'static dyn Strategy,
    pub(crate) priorities: Priorities,
    /// Refuse a schedule by which an operation may miss its deadline.
    pub(crate) is_strict: bool,
}

/// Places of all operations in a schedule, and the queues of its levels.
#[derive(Debug)]
pub(crate) struct Scheduled {
    pub(crate) places: HashMap<HandleT, Place>,
    pub(crate) queues: Vec<ConfigInfo>,
}

/// Outcome of a computation.
#[derive(Debug)]
pub(crate) struct Computed {
    /// New schedule; `None` if an anomaly prevents it.
    pub(crate) schedule: Option<Scheduled>,
    pub(crate) anomalies: Vec<SchedulingAnomaly>,
}

/// Computes a schedule.
///
/// # Errors
/// There are fewer priorities than levels; or an operation may miss its deadline, and that is refused.
pub(crate) fn compute(state: &State, request: Request) -> Result<Computed, Refusal> {
    let mut anomalies = Anomalies::default();
    let schedule = scheduled(state, request, &mut anomalies)?;
    Ok(Computed {
        schedule,
        anomalies: anomalies.into_set(),
    })
}

fn scheduled(
    state: &State,
    request: Request,
    anomalies: &mut Anomalies,
) -> Result<Option<Scheduled>, Refusal> {
    let mut considered = Considered::of(state, anomalies);
    let Some(mut model) = considered.model(anomalies) else {
        return Ok(None);
    };
    let strategy = request.strategy;
    if rates::are_several(&considered)
        && let Ok(streams) = release::streams(&model)
    {
        rates::admit(&mut model, &considered, &streams, strategy);
    }
    let plan = match plan(&model, strategy) {
        Ok(plan) => plan,
        Err(faults) => {
            for fault in faults {
                anomalies.add(Anomaly::Invalid, &fault.message);
            }
            return Ok(None);
        }
    };
    report(&plan, anomalies);
    if request.is_strict && !plan.fits() {
        return Err(Refusal::UtilizationBoundExceeded(first_late(&plan)));
    }
    let levels = plan.processors.first().map_or(0, |one| one.levels.len());
    request.priorities.check(levels)?;
    let chosen = (strategy, request.priorities);
    let (places, queues) = places(&model, &considered, &plan, chosen);
    Ok(Some(Scheduled { places, queues }))
}

/// Reports each stream that may be late.
fn report(plan: &Plan, anomalies: &mut Anomalies) {
    if !plan.is_complete {
        let text = "too many operations influence one another: no deadline is proved";
        anomalies.add(Anomaly::UtilizationBoundExceeded, text);
    }
    for stream in plan.streams.iter().filter(is_late) {
        anomalies.add(Anomaly::UtilizationBoundExceeded, &text(stream));
    }
}

fn is_late(stream: &&PlannedStream) -> bool {
    stream.verdict != Verdict::Fits
}

fn first_late(plan: &Plan) -> String {
    plan.streams
        .iter()
        .find(is_late)
        .map(text)
        .unwrap_or_default()
}

fn text(stream: &PlannedStream) -> String {
    let name = &stream.operation;
    match stream.verdict {
        Verdict::LeftOut => match stream.refusal {
            Some(refusal) => format!(
                "`{name}` is left out: with it, its processor would be used to {:.1} %",
                100.0 * refusal.utilisation
            ),
            None => format!("`{name}` is left out: the processor is full without it"),
        },
        Verdict::NeverReleased => format!("`{name}` is never released: its caller is left out"),
        Verdict::Fits | Verdict::Misses => match stream.response {
            Some(response) => format!(
                "`{name}` may end {response} after its release, and its deadline is {}",
                stream.deadline
            ),
            None => format!(
                "`{name}` is not proved to meet its deadline of {}",
                stream.deadline
            ),
        },
    }
}
