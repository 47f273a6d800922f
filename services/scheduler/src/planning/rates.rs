//! Admission of rates: for each operation that has several, the highest at which all fit.
//!
//! Operations with a period compete with their total time, which includes the operations that they call
//! (Gill, Levine and Schmidt 2001).

use std::collections::BTreeMap;

use punctual_scheduling::Time;
use punctual_scheduling::analysis::Task;
use punctual_scheduling::model::Model;
use punctual_scheduling::release::Stream;
use punctual_scheduling::strategy::{Limit, Operation, Strategy, schedule};

use super::considered::Considered;
use crate::attributes::{period, time};
use crate::kept::Rate;

/// Returns whether an operation has several rates.
pub(super) fn are_several(considered: &Considered) -> bool {
    let mut all = considered.kept.iter();
    all.any(|operation| operation.attributes.period > 0 && operation.rates.len() > 1)
}

/// Sets the admitted rate of each operation with several rates; `streams` are those of the lowest
/// rates. An operation that is admitted at none of its rates keeps the lowest, and the plan says that
/// it does not fit.
pub(super) fn admit(
    model: &mut Model,
    considered: &Considered,
    streams: &[Stream],
    strategy: &dyn Strategy,
) {
    let demands = demands(streams);
    let sources: Vec<usize> = demands.keys().copied().collect();
    let operation =
        |(&source, &demand): (&usize, &Time)| competitor(model, considered, source, demand);
    let operations: Vec<Operation> = demands.iter().map(operation).collect();
    let limit = match strategy.limit() {
        Limit::None => Limit::default(),
        limit => limit,
    };
    let outcome = schedule(strategy, &operations, limit);
    for (&source, outcome) in sources.iter().zip(&outcome.operations) {
        let rates = &considered.kept[source].rates;
        let admitted = outcome.admitted().and_then(|one| rates.get(one.rate));
        if let Some(rate) = admitted.filter(|_| rates.len() > 1) {
            let operation = &mut model.operations[source];
            operation.period = period(rate.period);
            operation.times.worst = time(rate.worst_case_execution_time);
        }
    }
}

/// Returns the time that each release of a source takes, with all that it calls.
fn demands(streams: &[Stream]) -> BTreeMap<usize, Time> {
    let mut demands = BTreeMap::new();
    for stream in streams {
        let demand = demands.entry(stream.source).or_insert(Time::ZERO);
        *demand = *demand + stream.task.wcet;
    }
    demands
}

fn competitor(model: &Model, considered: &Considered, source: usize, demand: Time) -> Operation {
    let own = &model.operations[source];
    let others = demand.saturating_sub(own.times.worst);
    let task = |rate: &Rate| {
        let wcet = others + time(rate.worst_case_execution_time);
        Task::new(wcet, period(rate.period).unwrap_or(Time::LONGEST))
    };
    let rates = &considered.kept[source].rates;
    Operation {
        rates: rates.iter().map(task).collect(),
        criticality: own.criticality,
        importance: own.importance,
    }
}
