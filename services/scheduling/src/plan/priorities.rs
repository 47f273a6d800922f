//! Levels of the streams of each processor, by a strategy, and their Real-time CORBA priorities.

use super::Processor;
use crate::chains::Place;
use crate::model::Model;
use crate::release::Stream;
use crate::strategy::{Dispatching, Limit, Operation, Strategy, schedule};

/// Highest priority of Real-time CORBA (`RTCORBA::maxPriority`).
const MAX_PRIORITY: usize = 32_767;

/// Assigns levels; returns the place of each stream, `None` for those that are left out, and the
/// levels of each processor.
pub(super) fn assign(
    model: &Model,
    streams: &[Stream],
    homes: &[usize],
    processors: &[Processor],
    strategy: &dyn Strategy,
) -> (Vec<Option<Place>>, Vec<Vec<Dispatching>>) {
    let mut places = vec![None; streams.len()];
    let mut levels = Vec::with_capacity(processors.len());
    for processor in 0..processors.len() {
        let here: Vec<usize> = (0..streams.len())
            .filter(|&index| homes[index] == processor)
            .collect();
        let operations: Vec<_> = here
            .iter()
            .map(|&index| described(model, &streams[index]))
            .collect();
        let schedule = schedule(strategy, &operations, limit(strategy));
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

/// Takes out the streams of which a supplier is left out.
fn leave_out_unreleased(streams: &[Stream], places: &mut [Option<Place>]) {
    for (index, stream) in streams.iter().enumerate() {
        let mut suppliers = stream.released_by.iter();
        if suppliers.any(|release| places[release.stream].is_none()) {
            places[index] = None;
        }
    }
}

/// Returns the limit of admission: the fair strategies leave out what exceeds the processor, the
/// others take all, so that the analysis says what misses.
fn limit(strategy: &dyn Strategy) -> Limit<'static> {
    match strategy.name().ends_with("_FAIR") {
        true => Limit::default(),
        false => Limit::None,
    }
}

fn described(model: &Model, stream: &Stream) -> Operation {
    let operation = &model.operations[stream.operation];
    Operation::new(stream.task.clone())
        .with_criticality(operation.criticality)
        .with_importance(operation.importance)
}

/// Returns the Real-time CORBA priority of a level of so many: evenly spread, the first the highest.
pub(super) fn corba(level: usize, levels: usize) -> i16 {
    let steps = levels.saturating_sub(1).max(1);
    let below = steps.saturating_sub(level);
    i16::try_from(MAX_PRIORITY * below / steps).unwrap_or(i16::MAX)
}
