//! Dispatching by deadline and laxity: by the kernel's reservations where their model fits, else in queues.

use crate::error::ScheduleError;
use punctual_scheduling::Time;
use punctual_scheduling::analysis::Preemption;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::supply::Reservation;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Plan, PlannedProcessor, PlannedStream};

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
pub(super) fn choose(model: &Model, plan: &Plan, host: &Host) -> Dynamic {
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
    match is_by_deadline && have_room(model, plan, host) {
        true => Dynamic::Reservations,
        false => Dynamic::Queues,
    }
}

fn have_room(model: &Model, plan: &Plan, host: &Host) -> bool {
    let streams = || plan.streams.iter().filter(|one| one.host == host.name);
    // One thread serves all streams of an operation, with one reservation.
    let mut names: Vec<_> = streams().map(|one| &one.operation).collect();
    names.sort_unstable();
    let is_repeated = names.windows(2).any(|pair| pair[0] == pair[1]);
    // The kernel moves threads among processors, which the plan does not: only independent tasks stay proved.
    let is_independent = |one: &PlannedStream| {
        let operation = model.operation(&one.operation);
        let operation = operation.map(|index| &model.operations[index]);
        one.source == one.operation
            && one.jitter.is_zero()
            && operation.is_some_and(|one| {
                one.sections.is_empty()
                    && one.calls.is_empty()
                    && one.preemption == Preemption::Full
            })
    };
    if is_repeated || (host.processors > 1 && !streams().all(is_independent)) {
        return false;
    }
    let here = plan.streams.iter().filter(|one| one.host == host.name);
    let reserved: Option<Vec<_>> = here.map(|stream| reservation(stream, host)).collect();
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
///
/// The kernel charges a thread with the time that the platform takes while it runs: the reservation has all that
/// may be taken up to the deadline, of all processors, as the thread may run on any.
pub(super) fn reservation(stream: &PlannedStream, host: &Host) -> Option<Reservation> {
    let deadline = stream.deadline.min(stream.period);
    let taken = host.interference.map_or(Time::ZERO, |taken| {
        let windows = deadline.as_nanos().div_ceil(taken.every.as_nanos().max(1));
        taken.most * windows * u64::try_from(host.processors).unwrap_or(u64::MAX)
    });
    Reservation::new(stream.wcet + taken, deadline, stream.period).ok()
}

/// Checks that the host executes what the plan proves: threads of fixed priorities and of reservations are
/// preempted anywhere, and a queue has its processor for itself.
pub(super) fn check_executed(model: &Model, plan: &Plan, host: &Host) -> Result<(), ScheduleError> {
    let dynamic = choose(model, plan, host);
    for stream in plan.streams.iter().filter(|one| one.host == host.name) {
        let operation = model.operation(&stream.operation);
        let operation = operation.map(|index| &model.operations[index]);
        let levels = processor_of(plan, stream).map_or(0, |one| one.levels.len());
        let is_queued = dynamic == Dynamic::Queues && level_of(plan, stream) != Some("STATIC");
        let why = match (is_queued, levels) {
            (true, 2..) => {
                "a queue dispatches its level, and does not keep other levels of the processor waiting"
            }
            (false, _) if operation.is_some_and(|one| one.preemption != Preemption::Full) => {
                "its thread is preempted anywhere, also where the model says that it is not"
            }
            _ => continue,
        };
        return Err(ScheduleError::NotExecuted {
            operation: stream.operation.clone(),
            why,
        });
    }
    Ok(())
}

/// Returns a model in which operations that are dispatched by queues are not preempted. It covers all hosts, as chains
/// of different hosts depend on one another.
pub(super) fn queued_everywhere(model: &Model, plan: &Plan) -> Model {
    let mut queued = model.clone();
    for host in &model.hosts {
        if choose(model, plan, host) != Dynamic::Queues {
            continue;
        }
        for stream in plan.streams.iter().filter(|one| one.host == host.name) {
            if level_of(plan, stream).is_some_and(|level| level != "STATIC")
                && let Some(operation) = model.operation(&stream.operation)
            {
                queued.operations[operation].preemption = Preemption::None;
            }
        }
    }
    queued
}

fn processor_of<'p>(plan: &'p Plan, stream: &PlannedStream) -> Option<&'p PlannedProcessor> {
    let its =
        |one: &&PlannedProcessor| one.host == stream.host && Some(one.number) == stream.processor;
    plan.processors.iter().find(its)
}

fn level_of(plan: &Plan, stream: &PlannedStream) -> Option<&'static str> {
    let levels = &processor_of(plan, stream)?.levels;
    levels.get(stream.level?).copied()
}
