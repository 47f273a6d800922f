//! Dispatching by deadline and laxity: by the kernel's reservations where their model fits, else in queues.

use super::doubt::Doubt;
use punctual_scheduling::Time;
use punctual_scheduling::analysis::Preemption;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::supply::Reservation;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Plan, PlannedProcessor, PlannedStream};
use std::collections::HashSet;

/// Manner in which a host dispatches levels that the plan dispatches by deadline or laxity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    /// There are none.
    None,
    /// Each thread has a reservation (`SCHED_DEADLINE`).
    Reservations,
    /// Requests wait in a queue, in the order of their urgency, and are not preempted by one another; with the reason
    /// for which there are no reservations.
    Queues(&'static str),
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
    if !levels.iter().all(|levels| levels[..] == ["DEADLINE"]) {
        return Dynamic::Queues("the kernel dispatches by deadline alone, ahead of all priorities");
    }
    match check_room(model, plan, host) {
        Ok(()) => Dynamic::Reservations,
        Err(why) => Dynamic::Queues(why),
    }
}

/// Checks that all threads of a host have reservations with which the plan stays proved.
fn check_room(model: &Model, plan: &Plan, host: &Host) -> Result<(), &'static str> {
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
    if is_repeated {
        return Err("an operation has several callers, and its thread one reservation");
    }
    if host.processors > 1 && !streams().all(is_independent) {
        return Err(
            "the kernel moves threads with reservations among the processors, and some of these depend on one another",
        );
    }
    let reserved: Option<Vec<_>> = streams().map(|one| reservation(one, host)).collect();
    let Some(reserved) = reserved else {
        return Err("an operation has more execution time than fits into a reservation");
    };
    let processors = u32::try_from(host.processors).unwrap_or(u32::MAX);
    let are_served = match processors {
        1 => one_processor(&reserved).is_feasible(),
        _ => several_processors(&reserved, processors),
    };
    if !are_served {
        return Err(
            "the reservations do not pass the test of the kernel's dispatching, the earliest deadline first over all processors",
        );
    }
    match kernel(&reserved, processors, KernelShare::default()).is_admitted() {
        true => Ok(()),
        false => Err("the reservations need more than the share that the kernel admits"),
    }
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

/// Returns the operations of a host that it does not execute as the plan proves, each with the difference: threads of
/// fixed priorities and of reservations are preempted anywhere, and a queue has its processor for itself.
pub(super) fn not_executed(model: &Model, plan: &Plan, host: &Host) -> Vec<Doubt> {
    let dynamic = choose(model, plan, host);
    let (mut doubts, mut seen) = (Vec::new(), HashSet::new());
    for stream in plan.streams.iter().filter(|one| one.host == host.name) {
        let operation = model.operation(&stream.operation);
        let operation = operation.map(|index| &model.operations[index]);
        let levels = processor_of(plan, stream).map_or(0, |one| one.levels.len());
        let is_queued =
            matches!(dynamic, Dynamic::Queues(_)) && level_of(plan, stream) != Some("STATIC");
        let why = match (is_queued, levels) {
            (true, 2..) => {
                "a queue dispatches its level, and does not keep other levels of the processor waiting"
            }
            (false, _) if operation.is_some_and(|one| one.preemption != Preemption::Full) => {
                "its thread is preempted anywhere, also where the model says that it is not"
            }
            _ => continue,
        };
        if seen.insert(&stream.operation) {
            doubts.push(Doubt::NotExecuted {
                operation: stream.operation.clone(),
                why,
            });
        }
    }
    doubts
}

/// Returns a model in which operations that are dispatched by queues are not preempted. It covers all hosts, as chains
/// of different hosts depend on one another.
pub(super) fn queued_everywhere(model: &Model, plan: &Plan) -> Model {
    let mut queued = model.clone();
    for host in &model.hosts {
        if !matches!(choose(model, plan, host), Dynamic::Queues(_)) {
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
