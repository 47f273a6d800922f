//! Execution of a plan by threads and queues, which may differ from what the plan says.

use super::doubt::Doubt;
use super::dynamic::{self, Dynamic};
use crate::error::ScheduleError;
use punctual::rt::Priority;
use punctual_scheduling::Time;
use punctual_scheduling::analysis::blocking::Protocol;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Plan, Verdict, plan};
use punctual_scheduling::strategy::Strategy;
use std::collections::HashSet;

/// Plan as it is executed.
pub(super) struct Execution {
    /// Model, with the operations of queues as ones that are not preempted.
    pub(super) model: Model,
    pub(super) plan: Plan,
    pub(super) priorities: Priorities,
    pub(super) dynamic: Dynamic,
    pub(super) doubts: Vec<Doubt>,
}

impl Execution {
    /// Plans a model as its hosts execute it; `doubts` are those of one host, and the late operations of all, as
    /// chains of calls depend on one another.
    ///
    /// # Errors
    /// [`ScheduleError::Faults`].
    pub(super) fn of(
        mut model: Model,
        host: &Host,
        strategy: &dyn Strategy,
        lanes: Option<u32>,
    ) -> Result<Self, ScheduleError> {
        // The mutexes of an RTORB inherit priorities; those with ceilings block no longer.
        model.protocol = Protocol::Inheritance;
        let planned = united(&model, strategy)?;
        let dynamic = dynamic::choose(&model, &planned, host);
        let mut doubts = dynamic::not_executed(&model, &planned, host);
        let model = dynamic::queued_everywhere(&model, &planned);
        let plan = united(&model, strategy)?;
        let priorities = Priorities::of(&plan, lanes);
        doubts.extend(late(&plan, &priorities));
        Ok(Self {
            model,
            plan,
            priorities,
            dynamic,
            doubts,
        })
    }

    /// Checks that there are no doubts.
    ///
    /// # Errors
    /// [`ScheduleError::NotExecuted`], [`ScheduleError::NotProved`].
    pub(super) fn check(&self) -> Result<(), ScheduleError> {
        let mut late = Vec::new();
        for doubt in &self.doubts {
            match doubt.clone() {
                Doubt::NotExecuted { operation, why } => {
                    return Err(ScheduleError::NotExecuted { operation, why });
                }
                Doubt::Late { operation } => late.push(operation),
            }
        }
        match late.is_empty() {
            true => Ok(()),
            false => Err(ScheduleError::NotProved { late }),
        }
    }
}

fn united(model: &Model, strategy: &dyn Strategy) -> Result<Plan, ScheduleError> {
    let plan = plan(model, strategy).map_err(ScheduleError::Faults)?;
    Ok(plan.united(model))
}

/// Returns the operations that may end late, each once.
fn late(plan: &Plan, priorities: &Priorities) -> Vec<Doubt> {
    let streams = plan.streams.iter();
    let late = streams.filter(|one| one.verdict != Verdict::Fits);
    let late = late.map(|one| &one.operation).chain(&priorities.late);
    let mut seen = HashSet::new();
    let once = late.filter(|operation| seen.insert(*operation));
    once.map(|operation| Doubt::Late {
        operation: operation.clone(),
    })
    .collect()
}

/// CORBA priority of each stream.
pub(super) struct Priorities {
    of_streams: Vec<Option<i16>>,
    /// Response time of each stream, with the lanes.
    pub(super) responses: Vec<Option<Time>>,
    /// Names of the operations that become late by sharing lanes.
    late: Vec<String>,
}

impl Priorities {
    pub(super) fn of(plan: &Plan, lanes: Option<u32>) -> Self {
        let mut of_streams: Vec<_> = plan.streams.iter().map(|one| one.priority).collect();
        let mut responses: Vec<_> = plan.streams.iter().map(|one| one.response).collect();
        let mut late = Vec::new();
        for cost in lanes
            .filter(|&count| count > 0)
            .map_or_else(Vec::new, |count| plan.lanes(count))
        {
            for one in &cost.streams {
                responses[one.stream] = one.after;
                of_streams[one.stream] = cost.priorities.get(one.lane).copied();
                let planned = &plan.streams[one.stream];
                let is_late = one.after.is_none_or(|after| after > planned.deadline);
                if planned.verdict == Verdict::Fits && is_late {
                    late.push(one.operation.clone());
                }
            }
        }
        Self {
            of_streams,
            responses,
            late,
        }
    }

    pub(super) fn of_stream(&self, index: usize) -> Option<Priority> {
        Priority::new((*self.of_streams.get(index)?)?).ok()
    }
}
