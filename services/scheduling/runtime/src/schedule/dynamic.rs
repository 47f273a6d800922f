//! Dispatching by deadline and laxity: by the kernel's reservations where their model fits, else in queues.

use punctual_scheduling::analysis::Preemption;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::supply::Reservation;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Plan, PlannedStream};

/// Manner in which a host dispatches levels that the plan dispatches by deadline or laxity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    /// There are none.
    None,
    /// Each thread has a reservation (`SCHED_DEADLINE`).
    Reservations,
    /// Requests wait in a queue, in the order of their urgency, and are not preempted by one another.
    Queues,
}

/// Chooses the manner for a host. Reservations need a host of which every processor dispatches by deadline
/// alone, as the kernel runs their threads on all processors and ahead of all priorities; and they have to
/// pass the tests of global EDF and of the kernel's admission.
pub(super) fn choose(plan: &Plan, host: &Host) -> Dynamic {
    let here = plan.processors.iter().filter(|one| one.host == host.name);
    let levels: Vec<_> = here
        .map(|one| &one.levels)
        .filter(|levels| !levels.is_empty())
        .collect();
    if levels
        .iter()
        .all(|levels| levels.iter().all(|one| *one == "STATIC"))
    {
        return Dynamic::None;
    }
    let is_by_deadline = levels.iter().all(|levels| levels[..] == ["DEADLINE"]);
    match is_by_deadline && have_room(plan, host) {
        true => Dynamic::Reservations,
        false => Dynamic::Queues,
    }
}

fn have_room(plan: &Plan, host: &Host) -> bool {
    let here = plan.streams.iter().filter(|one| one.host == host.name);
    let reserved: Option<Vec<_>> = here.map(reservation).collect();
    let Some(reserved) = reserved else {
        return false;
    };
    let processors = u32::try_from(host.processors).unwrap_or(u32::MAX);
    let are_served = match processors {
        1 => one_processor(&reserved).is_feasible(),
        _ => several_processors(&reserved, processors),
    };
    are_served && kernel(&reserved, processors, KernelShare::default()).is_admitted()
}

/// Returns the reservation of a stream: its execution time by its deadline in each period. `None` if there is
/// no such reservation.
pub(super) fn reservation(stream: &PlannedStream) -> Option<Reservation> {
    let deadline = stream.deadline.min(stream.period);
    Reservation::new(stream.wcet, deadline, stream.period).ok()
}

/// Returns the model with operations whose jobs are not preempted, where a queue dispatches them.
pub(super) fn queued(model: &Model, plan: &Plan, host: &str) -> Model {
    let mut model = model.clone();
    for stream in plan.streams.iter().filter(|one| one.host == host) {
        let its = |one: &&punctual_scheduling::plan::PlannedProcessor| {
            one.host == host && Some(one.number) == stream.processor
        };
        let levels = plan.processors.iter().find(its).map(|one| &one.levels);
        let level = levels
            .zip(stream.level)
            .and_then(|(levels, at)| levels.get(at));
        if level.is_some_and(|level| *level != "STATIC")
            && let Some(operation) = model.operation(&stream.operation)
        {
            model.operations[operation].preemption = Preemption::None;
        }
    }
    model
}
