//! Levels of the streams of each processor, by a strategy, and their Real-time CORBA priorities.

use crate::analysis::Task;
use crate::assignment::Candidate;
use crate::chains::Place;
use crate::model::Model;
use crate::release::Stream;
use crate::strategy::{Dispatching, LeftOut, Limit, Operation, Outcome, Strategy, schedule_below};
use serde::Serialize;

/// Highest priority of Real-time CORBA (`RTCORBA::maxPriority`).
const MAX_PRIORITY: usize = 32_767;

/// Reason for which admission left a stream out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// Utilisation of the processor with this stream and those that were admitted before it; 1.0 for
    /// the whole processor.
    pub utilisation: f64,
    /// Largest utilisation that is admitted: what the platform leaves. `None` if a test decides.
    pub limit: Option<f64>,
}

/// Levels of all streams.
pub(super) struct Assigned {
    /// Place of each stream; `None` for those that are left out.
    pub(super) places: Vec<Option<Place>>,
    /// Levels of each processor.
    pub(super) levels: Vec<Vec<Dispatching>>,
    /// Reasons for which streams are left out.
    pub(super) refusals: Vec<Option<Refusal>>,
}

/// Assigns levels in the time that the platform leaves on each processor.
pub(super) fn assign(
    model: &Model,
    streams: &[Stream],
    homes: &[usize],
    interference: &[Option<Task>],
    strategy: &dyn Strategy,
) -> Assigned {
    let mut residents = vec![Vec::new(); interference.len()];
    for (index, &home) in homes.iter().enumerate() {
        residents[home].push(index);
    }
    let mut places = vec![None; streams.len()];
    let mut refusals = vec![None; streams.len()];
    let mut levels = Vec::with_capacity(interference.len());
    for (processor, here) in residents.into_iter().enumerate() {
        let operations: Vec<_> = here
            .iter()
            .map(|&index| Operation::from(candidate(model, &streams[index])))
            .collect();
        let platform = interference[processor].as_ref();
        let limit = without(strategy.limit(), platform);
        let schedule = schedule_below(platform, strategy, &operations, limit);
        for (&index, outcome) in here.iter().zip(&schedule.operations) {
            refusals[index] = refusal(outcome, limit);
            places[index] = outcome.admitted().map(|admitted| Place {
                processor,
                level: admitted.level,
            });
        }
        levels.push(schedule.levels);
    }
    leave_out_unreleased(streams, &mut places);
    Assigned {
        places,
        levels,
        refusals,
    }
}

fn refusal(outcome: &Outcome, limit: Limit<'_>) -> Option<Refusal> {
    let Outcome::LeftOut(LeftOut { utilisation }) = outcome else {
        return None;
    };
    let limit = match limit {
        Limit::Utilisation(millionths) => Some(f64::from(millionths) / 1e6),
        Limit::None | Limit::Test(_) => None,
    };
    utilisation.map(|utilisation| Refusal { utilisation, limit })
}

/// Returns a limit of the time that the platform leaves.
fn without(limit: Limit<'static>, platform: Option<&Task>) -> Limit<'static> {
    let (Limit::Utilisation(millionths), Some(platform)) = (limit, platform) else {
        return limit;
    };
    let most = u128::from(platform.wcet.as_nanos()) * 1_000_000;
    let taken = most.div_ceil(u128::from(platform.period.as_nanos()).max(1));
    Limit::Utilisation(millionths.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX)))
}

/// Takes out the streams of which a supplier is left out.
fn leave_out_unreleased(streams: &[Stream], places: &mut [Option<Place>]) {
    for (index, stream) in streams.iter().enumerate() {
        let mut suppliers = stream.released_by.iter();
        if suppliers.any(|release| places[release.stream].is_none()) {
            places[index] = None;
        }
    }
}

/// Returns the data of a stream by which strategies assign priorities.
pub(super) fn candidate(model: &Model, stream: &Stream) -> Candidate {
    let operation = &model.operations[stream.operation];
    Candidate::new(stream.task.clone())
        .with_criticality(operation.criticality)
        .with_importance(operation.importance)
}

/// Returns the Real-time CORBA priority of a level of so many: evenly spread, the first the highest.
pub(super) fn corba(level: usize, levels: usize) -> i16 {
    let steps = levels.saturating_sub(1).max(1);
    let below = steps.saturating_sub(level);
    i16::try_from(MAX_PRIORITY * below / steps).unwrap_or(i16::MAX)
}
