//! Comparison of a plan with this machine.

use super::kernel_share::{busiest, reserved};
use crate::doctor::{Facts, Throttling};
use punctual::rt::Priority;
use punctual_scheduling::analysis::blocking::Protocol;
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::{Plan, Verdict};
use punctual_scheduling_runtime::{Dispatching, Doubt, Schedule};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Need of a plan, beside what this machine has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Remark {
    /// `true` if this machine has what the plan needs.
    pub(super) is_met: bool,
    /// Need of the plan, the machine's value, and the remedy.
    pub(super) text: String,
}

/// Plan, and what it becomes on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned<'p> {
    pub(super) model: &'p Model,
    pub(super) plan: &'p Plan,
    /// Part of the host, as a program that takes it executes it.
    pub(super) schedule: &'p Schedule,
    /// Plan with mutexes that inherit priorities, if the model has ceilings.
    pub(super) inheriting: Option<&'p Plan>,
}

/// Returns the model with mutexes as this machine has them, if its own have ceilings.
pub(super) fn with_own_mutexes(model: &Model) -> Option<Model> {
    let has_ceilings = !model.mutexes.is_empty() && model.protocol != Protocol::Inheritance;
    has_ceilings.then(|| {
        let mut inheriting = model.clone();
        inheriting.protocol = Protocol::Inheritance;
        inheriting
    })
}

/// Compares the part of a plan that a host executes with a machine.
pub(super) fn compare(planned: Planned<'_>, host: &Host, facts: Facts) -> Vec<Remark> {
    let schedule = planned.schedule;
    let activities = || schedule.activities();
    let highest = activities().map(|one| one.processor()).max();
    let is_reserved = |of: Dispatching| matches!(of, Dispatching::Reservation(_));
    let by_priority = activities().filter(|one| !is_reserved(one.dispatching()));
    let lanes: BTreeSet<_> = by_priority
        .map(|one| (one.processor(), one.priority()))
        .collect();
    let has_reservations = activities().any(|one| is_reserved(one.dispatching()));
    let mut remarks = vec![processors(highest.map_or(0, |last| last + 1), facts)];
    if let Some(of_priorities) = most_of_one_processor(&lanes) {
        remarks.push(priorities(of_priorities, facts));
        remarks.push(rights(facts));
    }
    if has_reservations {
        remarks.push(reservations(facts));
    }
    remarks.extend(share(schedule, host, facts.throttling, has_reservations));
    remarks.extend(schedule.queued_because().map(queues));
    remarks.extend(doubts(planned, host));
    remarks.extend(mutexes(planned, host));
    remarks.extend(platform(host, facts));
    remarks
}

/// Returns the largest number of priorities that a processor has; `None` if none has any.
fn most_of_one_processor(lanes: &BTreeSet<(usize, Priority)>) -> Option<usize> {
    let mut counts = BTreeMap::new();
    for (processor, _) in lanes {
        *counts.entry(processor).or_insert(0) += 1;
    }
    counts.into_values().max()
}

impl Remark {
    pub(super) fn of(is_met: bool, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { is_met, text }
    }
}

fn processors(wanted: usize, facts: Facts) -> Remark {
    match facts.processors {
        None => Remark::of(
            false,
            format!("{wanted} processors are planned; the kernel does not say how many there are"),
        ),
        Some(there) if wanted > there => Remark::of(
            false,
            format!(
                "{wanted} processors are planned, and this process may run on {there}: plan with fewer, or give it more (taskset, AllowedCPUs= of systemd)"
            ),
        ),
        Some(there) => Remark::of(
            true,
            format!("{wanted} of the {there} processors that this process may run on are planned"),
        ),
    }
}

fn priorities(wanted: usize, facts: Facts) -> Remark {
    let there = facts.priorities;
    match wanted <= there {
        true => Remark::of(
            true,
            format!("{wanted} priorities of a processor, of {there} native ones"),
        ),
        false => Remark::of(
            false,
            format!(
                "{wanted} priorities of a processor, and {there} native ones: pack them (`punctual schedule assign --lanes {there}`)"
            ),
        ),
    }
}

fn rights(facts: Facts) -> Remark {
    match facts.grants_priorities {
        true => Remark::of(true, "threads get real-time priorities (SCHED_FIFO)"),
        false => Remark::of(
            false,
            "threads get no real-time priorities (SCHED_FIFO): `punctual doctor` says how to get the right",
        ),
    }
}

fn reservations(facts: Facts) -> Remark {
    match facts.grants_reservations {
        true => Remark::of(true, "threads get reservations (SCHED_DEADLINE)"),
        false => Remark::of(
            false,
            "threads get no reservations (SCHED_DEADLINE): `punctual doctor` says why",
        ),
    }
}

fn queues(why: &str) -> Remark {
    let text = format!(
        "jobs wait in queues, and are not preempted by others of their queue: {why}; the plan is computed anew for that"
    );
    Remark::of(true, text)
}

/// Returns a remark for each operation that this machine does not execute as planned, and for each that fits in the
/// plan, but not as it is executed.
fn doubts(planned: Planned<'_>, host: &Host) -> Vec<Remark> {
    let known = planned
        .plan
        .streams
        .iter()
        .filter(|one| one.verdict != Verdict::Fits);
    let mut known: BTreeSet<&str> = known.map(|one| &*one.operation).collect();
    // Those have a remark of their own.
    known.extend(
        planned
            .inheriting
            .into_iter()
            .flat_map(|plan| late_on(plan, host)),
    );
    let new = planned
        .schedule
        .doubts()
        .iter()
        .filter(|doubt| match doubt {
            Doubt::Late { operation } => !known.contains(&**operation),
            _ => true,
        });
    let texts = new.map(|doubt| match doubt {
        Doubt::Late { .. } => format!("{doubt} as this machine executes the plan"),
        _ => doubt.to_string(),
    });
    texts.map(|text| Remark::of(false, text)).collect()
}

/// Returns the operations of a host that may end after their deadline.
fn late_on<'p>(plan: &'p Plan, host: &Host) -> BTreeSet<&'p str> {
    let late = plan.streams.iter().filter(|one| one.host == host.name);
    let late = late.filter(|one| one.verdict != Verdict::Fits);
    late.map(|one| &*one.operation).collect()
}

/// Compares what the threads may use with the share of a processor that the kernel grants them, if it has a
/// limit.
fn share(
    schedule: &Schedule,
    host: &Host,
    throttling: Option<Throttling>,
    has_reservations: bool,
) -> Option<Remark> {
    let Throttling { share, stops_fifo } = throttling?;
    let (runtime, period) = (share.runtime, share.period);
    if has_reservations {
        let is_met = reserved(schedule, host, share).is_admitted();
        let text = match is_met {
            true => format!(
                "the reservations fit into {runtime} of each {period} (sched_rt_runtime_us)"
            ),
            false => format!(
                "the reservations need more than the {runtime} of each {period} that the kernel grants them: shorten `wcet`, or `sudo sysctl kernel.sched_rt_runtime_us=-1`"
            ),
        };
        return Some(Remark::of(is_met, text));
    }
    let (processor, used) = busiest(schedule.plan(), host, period).filter(|_| stops_fifo)?;
    let threads = format!(
        "real-time threads of processor {processor} may use {used} of {period}, and the kernel stops them after {runtime}"
    );
    Some(match used <= runtime {
        true => Remark::of(true, format!("{threads} (sched_rt_runtime_us)")),
        false => Remark::of(
            false,
            format!("{threads}: plan less, or `sudo sysctl kernel.sched_rt_runtime_us=-1`"),
        ),
    })
}

/// Compares the mutexes of a plan with those of Linux, which inherit priorities and deadlines, and have no ceilings.
fn mutexes(planned: Planned<'_>, host: &Host) -> Option<Remark> {
    if planned.model.mutexes.is_empty() {
        return None;
    }
    let Some(inheriting) = planned.inheriting else {
        let text = "mutexes inherit priorities (`lock_protocol`), as those of this machine do";
        return Some(Remark::of(true, text));
    };
    let late = late_on(inheriting, host);
    if late.is_empty() {
        let text = "mutexes of this machine inherit priorities, and have no ceilings: the plan fits with them, too";
        return Some(Remark::of(true, text));
    }
    let late = Vec::from_iter(late).join(", ");
    let text = format!(
        "mutexes of this machine inherit priorities, and have no ceilings: with them it is not proved that {late} ends in time; plan with `lock_protocol = \"inheritance\"`"
    );
    Some(Remark::of(false, text))
}

fn platform(host: &Host, facts: Facts) -> Option<Remark> {
    if let Some(taken) = host.interference {
        let text = format!(
            "the platform is planned to take {taken}; `punctual schedule noise` measures it"
        );
        return Some(Remark::of(true, text));
    }
    let text = "the processors are virtual, and the model has no `interference`: `punctual schedule noise` measures it";
    facts.is_virtual?.then(|| Remark::of(false, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_scheduling::Time;
    use punctual_scheduling::analysis::admission::KernelShare;
    use punctual_scheduling::model::read;
    use punctual_scheduling::plan::plan;
    use punctual_scheduling::strategy::by_name;
    use punctual_scheduling_runtime::{ScheduleOptions, Unproved};

    const MACHINE: Facts = Facts {
        processors: Some(2),
        priorities: 99,
        grants_priorities: true,
        grants_reservations: true,
        is_virtual: Some(false),
        throttling: None,
    };

    const DEFAULT: Throttling = Throttling {
        share: KernelShare {
            runtime: Time::from_millis(950),
            period: Time::from_millis(1_000),
        },
        stops_fifo: true,
    };

    fn compared(text: &str, facts: Facts) -> Vec<Remark> {
        let model = read("t.toml", text).unwrap();
        let strategy = by_name(model.strategy.as_deref().unwrap_or("RMS")).unwrap();
        let inheriting = with_own_mutexes(&model).map(|model| plan(&model, strategy).unwrap());
        let options = ScheduleOptions {
            unproved: Unproved::Admit,
            ..ScheduleOptions::default()
        };
        let planned = Planned {
            model: &model,
            plan: &plan(&model, strategy).unwrap(),
            schedule: &Schedule::new(model.clone(), "", &options).unwrap(),
            inheriting: inheriting.as_ref(),
        };
        compare(planned, &model.hosts[0], facts)
    }

    fn unmet(text: &str, facts: Facts) -> Vec<String> {
        let remarks = compared(text, facts).into_iter();
        let unmet = remarks.filter(|remark| !remark.is_met);
        unmet.map(|remark| remark.text).collect()
    }

    const ONE: &str = "[operation.a]\nwcet = '1ms'\nperiod = '10ms'\n";

    #[test]
    fn a_machine_that_has_all_meets_each_need() {
        assert_eq!(unmet(ONE, MACHINE), [""; 0]);
        let remarks = compared(ONE, MACHINE);
        let first = "1 of the 2 processors that this process may run on are planned";
        assert_eq!(remarks[0].text, first);
        assert_eq!(remarks.len(), 3);
    }

    #[test]
    fn what_a_machine_lacks_is_named_with_the_next_step() {
        let far = "[host.h]\nprocessors = 4\n[operation.a]\nwcet = '1ms'\nperiod = '10ms'\nprocessor = 3\n";
        assert!(
            unmet(far, MACHINE)[0]
                .starts_with("4 processors are planned, and this process may run on 2")
        );
        let poor = Facts {
            grants_priorities: false,
            is_virtual: Some(true),
            ..MACHINE
        };
        let texts = unmet(ONE, poor);
        assert!(
            texts[0].contains("`punctual doctor`")
                && texts[1].contains("`punctual schedule noise`")
        );
        let few = Facts {
            priorities: 1,
            ..MACHINE
        };
        let two = format!("{ONE}[operation.b]\nwcet = '1ms'\nperiod = '20ms'\n");
        assert!(unmet(&two, few)[0].contains("--lanes 1"));
    }

    #[test]
    fn more_than_the_kernel_s_share_is_a_problem_with_the_next_step() {
        let facts = Facts {
            throttling: Some(DEFAULT),
            ..MACHINE
        };
        let full = "[operation.a]\nwcet = '199ms'\nperiod = '200ms'\n";
        let texts = unmet(full, facts);
        assert_eq!(texts.len(), 1, "{texts:?}");
        assert!(
            texts[0].contains("may use 995ms of 1s, and the kernel stops them after 950ms"),
            "{texts:?}"
        );
        assert!(texts[0].contains("sysctl kernel.sched_rt_runtime_us=-1"));
        // A share of a tenth, but in one piece.
        let long = "[operation.a]\nwcet = '960ms'\nperiod = '9s'\n";
        assert_eq!(unmet(long, facts).len(), 1);
        let less = "[operation.a]\nwcet = '180ms'\nperiod = '200ms'\n";
        assert_eq!(unmet(less, facts), [""; 0]);
        assert!(
            compared(less, facts)[3]
                .text
                .contains("may use 900ms of 1s")
        );
    }

    #[test]
    fn since_linux_6_12_the_share_bounds_reservations_alone() {
        let throttling = Some(Throttling {
            stops_fifo: false,
            ..DEFAULT
        });
        let facts = Facts {
            throttling,
            ..MACHINE
        };
        let full = "[operation.a]\nwcet = '199ms'\nperiod = '200ms'\n";
        assert_eq!(unmet(full, facts), [""; 0]);
        let half = Facts {
            throttling: Some(Throttling {
                share: KernelShare {
                    runtime: Time::from_millis(500),
                    ..DEFAULT.share
                },
                stops_fifo: false,
            }),
            ..MACHINE
        };
        let most = "strategy = 'EDF'\n[operation.a]\nwcet = '120ms'\nperiod = '200ms'\n";
        let texts = unmet(most, half);
        assert!(
            texts[0].contains("need more than the 500ms of each 1s"),
            "{texts:?}"
        );
        assert_eq!(unmet(&format!("strategy = 'EDF'\n{ONE}"), facts), [""; 0]);
    }

    /// Two operations that lock, and one above them that waits longer for both than for one.
    fn locking(protocol: &str, deadline: &str) -> String {
        format!(
            "lock_protocol = '{protocol}'\nmutexes = ['m', 'n']
            [operation.high]\nwcet = '2ms'\nperiod = '20ms'\ndeadline = '{deadline}'
            locks = [{{ mutex = 'm', time = '1ms' }}, {{ mutex = 'n', time = '1ms' }}]
            [operation.middle]\nwcet = '3ms'\nperiod = '40ms'
            locks = [{{ mutex = 'm', time = '3ms' }}]
            [operation.low]\nwcet = '3ms'\nperiod = '50ms'
            locks = [{{ mutex = 'n', time = '3ms' }}]"
        )
    }

    #[test]
    fn ceilings_are_planned_anew_with_the_mutexes_of_this_machine() {
        for protocol in ["ceiling", "immediate-ceiling"] {
            let texts = unmet(&locking(protocol, "7ms"), MACHINE);
            assert_eq!(texts.len(), 1, "{texts:?}");
            assert!(
                texts[0].contains("not proved that high ends in time")
                    && texts[0].contains("lock_protocol"),
                "{texts:?}"
            );
            let long = locking(protocol, "8ms");
            assert_eq!(unmet(&long, MACHINE), [""; 0]);
            let last = compared(&long, MACHINE).pop().unwrap();
            assert!(last.text.contains("the plan fits with them, too"));
        }
        let inheriting = locking("inheritance", "8ms");
        assert_eq!(unmet(&inheriting, MACHINE), [""; 0]);
        let last = compared(&inheriting, MACHINE).pop().unwrap();
        assert!(last.text.contains("as those of this machine do"));
    }

    #[test]
    fn deadlines_need_reservations_and_not_priorities() {
        let facts = Facts {
            grants_priorities: false,
            grants_reservations: false,
            ..MACHINE
        };
        let texts = unmet(&format!("strategy = 'EDF'\n{ONE}"), facts);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("SCHED_DEADLINE"), "{texts:?}");
    }

    #[test]
    fn queues_need_priorities_and_the_right_to_them() {
        let facts = Facts {
            grants_priorities: false,
            ..MACHINE
        };
        for strategy in ["MLF", "MUF"] {
            let text = format!("strategy = '{strategy}'\n{ONE}");
            assert_eq!(unmet(&text, MACHINE), [""; 0]);
            let texts = unmet(&text, facts);
            assert_eq!(texts.len(), 1, "{texts:?}");
            assert!(texts[0].contains("SCHED_FIFO"), "{texts:?}");
        }
    }

    #[test]
    fn a_plan_that_fits_with_preemption_is_judged_as_queues_execute_it() {
        let text = "
            strategy = 'MLF'
            [operation.fast]\nwcet = '1ms'\nperiod = '10ms'\ndeadline = '5ms'
            [operation.slow]\nwcet = '15ms'\nperiod = '20ms'";
        let texts = unmet(text, MACHINE);
        let late = "it is not proved that fast ends in time as this machine executes the plan";
        assert_eq!(texts, [late]);
        let all = compared(text, MACHINE);
        let queued = all.iter().find(|one| one.text.contains("wait in queues"));
        assert!(queued.unwrap().is_met);
    }

    #[test]
    fn each_operation_that_is_not_executed_as_planned_is_named() {
        for key in [
            "preemption = 'none'",
            "section = '500us'",
            "segments = { longest = '500us', last = '500us' }",
        ] {
            let text = format!("{ONE}{key}\n[operation.b]\nwcet = '1ms'\nperiod = '20ms'\n{key}\n");
            let texts = unmet(&text, MACHINE);
            assert_eq!(texts.len(), 2, "{texts:?}");
            for (text, name) in texts.iter().zip(["a", "b"]) {
                let begin = format!(
                    "operation `{name}` is not executed as planned: its thread is preempted"
                );
                assert!(text.starts_with(&begin), "{text}");
            }
        }
        let levels = format!(
            "strategy = 'MUF'\n{ONE}criticality = 'high'\n[operation.b]\nwcet = '1ms'\nperiod = '20ms'\n"
        );
        let texts = unmet(&levels, MACHINE);
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(
            texts[0].contains("a queue dispatches its level"),
            "{texts:?}"
        );
    }

    #[test]
    fn reservations_are_named_only_where_a_program_has_them() {
        // The densities fail the test of several processors.
        let text = "
            strategy = 'EDF'
            [host.h]\nprocessors = 2
            [operation.a]\nwcet = '5ms'\nperiod = '10ms'
            [operation.b]\nwcet = '1ms'\nperiod = '10ms'\nprocessor = 0
            [operation.z]\nwcet = '9ms'\nperiod = '10ms'
            [operation.c]\nwcet = '1ms'\nperiod = '10ms'\nprocessor = 1";
        let texts: Vec<_> = compared(text, MACHINE)
            .into_iter()
            .map(|one| one.text)
            .collect();
        assert!(
            !texts.iter().any(|one| one.contains("SCHED_DEADLINE")),
            "{texts:?}"
        );
        assert!(
            texts
                .iter()
                .any(|one| one.contains("real-time priorities (SCHED_FIFO)")),
            "{texts:?}"
        );
        assert!(
            texts
                .iter()
                .any(|one| one.contains("the test of the kernel's dispatching")),
            "{texts:?}"
        );
    }
}
