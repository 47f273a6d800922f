//! Levels of the streams of each processor, by a strategy, and their Real-time CORBA priorities.

use crate::analysis::Task;
use crate::assignment::Candidate;
use crate::chains::Place;
use crate::model::Model;
use crate::release::Stream;
use crate::strategy::{Dispatching, Limit, Operation, Strategy, schedule};

/// Highest priority of Real-time CORBA (`RTCORBA::maxPriority`).
const MAX_PRIORITY: usize = 32_767;

/// Assigns levels in the time that the platform leaves on each processor; returns the place of each stream, `None` for those that are left out, and the
/// levels of each processor.
pub(super) fn assign(
    model: &Model,
    streams: &[Stream],
    homes: &[usize],
    interference: &[Option<Task>],
    strategy: &dyn Strategy,
) -> (Vec<Option<Place>>, Vec<Vec<Dispatching>>) {
    let mut residents = vec![Vec::new(); interference.len()];
    for (index, &home) in homes.iter().enumerate() {
        residents[home].push(index);
    }
    let mut places = vec![None; streams.len()];
    let mut levels = Vec::with_capacity(interference.len());
    for (processor, here) in residents.into_iter().enumerate() {
        let operations: Vec<_> = here
            .iter()
            .map(|&index| Operation::from(candidate(model, &streams[index])))
            .collect();
        let limit = without(strategy.limit(), interference[processor].as_ref());
        let schedule = schedule(strategy, &operations, limit);
        for (&index, outcome) in here.iter().zip(&schedule.operations) {
            places[index] = outcome.admitted().map(|admitted| Place {
                processor,
                level: admitted.level,
            });
        }
        levels.push(schedule.levels);
    }
    leave_out_unreleased(streams, &mut places);
    (places, levels)
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
