//! Places of operations: level, order inside the level, native priority.

use std::collections::{BTreeSet, HashMap};

use punctual_scheduling::analysis::Task;
use punctual_scheduling::assignment::Candidate;
use punctual_scheduling::model::Model;
use punctual_scheduling::plan::{Plan, PlannedStream};
use punctual_scheduling::strategy::Strategy;

use super::considered::Considered;
use crate::attributes::units;
use crate::kept::Place;
use crate::refusal::Refusal;
use crate::rtec_scheduler::{ConfigInfo, DispatchingTypeT, HandleT};

/// Range of native priorities, from the last level's to the first level's. The lower number may be the
/// more urgent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Priorities {
    pub(crate) minimum: i32,
    pub(crate) maximum: i32,
}

impl Priorities {
    /// Returns the number of priorities.
    pub(super) fn count(self) -> u64 {
        u64::from(self.minimum.abs_diff(self.maximum)) + 1
    }

    /// Returns the priority of a level of so many: evenly spread, the first the maximum.
    fn of(self, level: usize, levels: usize) -> i32 {
        let steps = wide(levels.saturating_sub(1).max(1));
        let below = steps - wide(level).min(steps);
        let (minimum, maximum) = (i64::from(self.minimum), i64::from(self.maximum));
        let priority = minimum + (maximum - minimum) * below / steps;
        i32::try_from(priority).unwrap_or(self.maximum)
    }

    /// Checks that there is a priority for each level.
    ///
    /// # Errors
    /// There are more levels than priorities.
    pub(super) fn check(self, levels: usize) -> Result<(), Refusal> {
        let priorities = self.count();
        match levels as u64 > priorities {
            true => Err(Refusal::TooFewPriorities { levels, priorities }),
            false => Ok(()),
        }
    }
}

/// Converts a number of levels, which is at most the number of operations.
fn wide(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Most urgent stream in which an operation runs.
#[derive(Clone, Debug)]
struct MostUrgent {
    level: usize,
    task: Task,
}

/// Returns the places of all operations that the plan admits.
pub(super) fn places(
    model: &Model,
    considered: &Considered,
    plan: &Plan,
    (strategy, priorities): (&dyn Strategy, Priorities),
) -> (HashMap<HandleT, Place>, Vec<ConfigInfo>) {
    let seats = seats(model, plan);
    let dispatching = plan.processors.first().map(|one| one.levels.as_slice());
    let dispatching = dispatching.unwrap_or_default();
    let mut residents = vec![Vec::new(); dispatching.len()];
    for (index, seat) in seats.iter().enumerate() {
        if let Some(seat) = seat {
            let operation = &model.operations[index];
            let candidate = Candidate::new(seat.task.clone())
                .with_criticality(operation.criticality)
                .with_importance(operation.importance);
            residents[seat.level].push((index, candidate));
        }
    }
    let (mut places, mut queues) = (HashMap::new(), Vec::new());
    for (level, mut here) in residents.into_iter().enumerate() {
        let priority = priorities.of(level, dispatching.len());
        let number = i32::try_from(level).unwrap_or(i32::MAX);
        here.sort_by(|(_, one), (_, other)| strategy.subpriority_order(one, other));
        // As in TAO the largest number is served first.
        for (subpriority, (index, _)) in (0..).zip(here.iter().rev()) {
            let period = model.operations[*index].period.map_or(0, units);
            let place = Place {
                priority,
                subpriority,
                level: number,
                period,
            };
            places.insert(considered.handles[*index], place);
        }
        let periods = here.iter().map(|(_, one)| units(one.task.period));
        let periods: BTreeSet<i32> = periods.collect();
        queues.push(ConfigInfo {
            preemption_priority: number,
            thread_priority: priority,
            dispatching_type: dispatching_type(dispatching[level]),
            timer_periods: periods.into_iter().collect(),
        });
    }
    (places, queues)
}

/// Returns the seat of each operation: of its own streams, and of the callers in whose threads it
/// runs, the most urgent one.
fn seats(model: &Model, plan: &Plan) -> Vec<Option<MostUrgent>> {
    let numbered = model.operations.iter().enumerate();
    let indices: HashMap<&str, usize> = numbered
        .map(|(index, operation)| (operation.name.as_str(), index))
        .collect();
    let mut seats: Vec<Option<MostUrgent>> = vec![None; model.operations.len()];
    for stream in &plan.streams {
        let index = indices.get(stream.operation.as_str());
        if let (Some(&index), Some(seat)) = (index, seat(stream)) {
            offer(&mut seats[index], &seat);
        }
    }
    for &caller in &model.order {
        let Some(seat) = seats[caller].clone() else {
            continue;
        };
        for call in model.operations[caller]
            .calls
            .iter()
            .filter(|call| call.two_way)
        {
            offer(&mut seats[call.operation], &seat);
        }
    }
    seats
}

fn seat(stream: &PlannedStream) -> Option<MostUrgent> {
    let task = Task::new(stream.wcet, stream.period).with_deadline(stream.deadline);
    let level = stream.level?;
    Some(MostUrgent { level, task })
}

/// Takes a seat if it is more urgent than the one before.
fn offer(place: &mut Option<MostUrgent>, seat: &MostUrgent) {
    let urgency = |seat: &MostUrgent| (seat.level, seat.task.period);
    if place
        .as_ref()
        .is_none_or(|old| urgency(seat) < urgency(old))
    {
        *place = Some(seat.clone());
    }
}

/// Returns the dispatching type of a name that the library gives to it.
fn dispatching_type(name: &str) -> DispatchingTypeT {
    match name {
        "DEADLINE" => DispatchingTypeT::DeadlineDispatching,
        "LAXITY" => DispatchingTypeT::LaxityDispatching,
        _ => DispatchingTypeT::StaticDispatching,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_spread_over_the_range_whichever_of_its_ends_is_larger() {
        let spread = |minimum, maximum, levels| {
            let range = Priorities { minimum, maximum };
            range.check(levels).unwrap();
            let all = (0..levels).map(|level| range.of(level, levels));
            all.collect::<Vec<_>>()
        };
        assert_eq!(spread(0, 32_767, 3), [32_767, 16_383, 0]);
        assert_eq!(spread(1, 99, 1), [99]);
        assert_eq!(spread(1, 3, 3), [3, 2, 1]);
        assert_eq!(spread(255, 0, 2), [0, 255]);
        assert_eq!(spread(i32::MIN, i32::MAX, 2), [i32::MAX, i32::MIN]);
        let one = Priorities {
            minimum: 5,
            maximum: 5,
        };
        assert!(one.check(2).is_err());
    }
}
