//! Choice among the rates of operations that have several.

use crate::model::Model;
use crate::time::Time;
use std::cmp::Reverse;

/// Number of plans that are made at most; operations for which none is left keep their lowest rate.
const MOST_PLANS: usize = 256;

/// Returns the model with each operation at the highest of its rates with which all deadlines are met; `None` if
/// no operation has several.
///
/// All begin at their lowest rates; then the most critical one gets the highest that fits, and so on: none lowers
/// the rate of one that is more critical, or as critical and more important. If not even the lowest rates fit, they stay.
pub(super) fn highest(model: &Model, fits: impl Fn(&Model) -> bool) -> Option<Model> {
    let mut order: Vec<usize> = (0..model.operations.len())
        .filter(|&index| !model.operations[index].rates.is_empty())
        .collect();
    if order.is_empty() {
        return None;
    }
    order.sort_by_key(|&index| {
        let operation = &model.operations[index];
        Reverse((operation.criticality, operation.importance))
    });
    let mut chosen = model.clone();
    for &index in &order {
        let lowest = model.operations[index].rates.last().copied();
        chosen.operations[index].period = lowest;
    }
    let mut left = MOST_PLANS;
    if !fits(&chosen) {
        return Some(chosen);
    }
    for index in order {
        let lowest = chosen.operations[index].period;
        let own = &model.operations[index];
        let higher = own
            .period
            .iter()
            .chain(&own.rates)
            .map(|&period| Some(period));
        let mut higher = higher.take_while(|period: &Option<Time>| *period != lowest);
        let found = higher.find(|&period| {
            chosen.operations[index].period = period;
            left = left.saturating_sub(1);
            left > 0 && fits(&chosen)
        });
        chosen.operations[index].period = found.unwrap_or(lowest);
    }
    Some(chosen)
}
