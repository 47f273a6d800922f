//! Comparison of a plan with this machine.

use super::kernel_share::{busiest, reserved};
use crate::doctor::{Facts, Throttling};
use punctual_scheduling::model::{Host, Model};
use punctual_scheduling::plan::Plan;
use serde::Serialize;

/// Need of a plan, beside what this machine has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Remark {
    /// `true` if this machine has what the plan needs.
    pub(super) is_met: bool,
    /// Need of the plan, the machine's value, and the remedy.
    pub(super) text: String,
}

/// Compares the part of a plan that a host executes with a machine.
pub(super) fn compare(model: &Model, plan: &Plan, host: &Host, facts: Facts) -> Vec<Remark> {
    let its = || plan.processors.iter().filter(|one| one.host == host.name);
    let levels = |name: &'static str| {
        let counts = its().map(move |one| one.levels.iter().filter(|one| **one == name).count());
        counts.max().unwrap_or(0)
    };
    let used = plan.streams.iter().filter(|one| one.host == host.name);
    let highest = used.filter_map(|one| one.processor).max();
    let (of_priorities, of_deadlines) = (levels("STATIC"), levels("DEADLINE"));
    let mut remarks = vec![processors(highest.map_or(0, |last| last + 1), facts)];
    if of_priorities > 0 {
        remarks.push(priorities(of_priorities, facts));
        remarks.push(rights(facts));
    }
    if of_deadlines > 0 {
        remarks.push(reservations(facts));
    }
    let has_reservations = of_deadlines > 0 && of_priorities == 0;
    remarks.extend(share(plan, host, facts.throttling, has_reservations));
    if !model.mutexes.is_empty() && of_priorities > 0 {
        let text = "mutexes inherit priorities in the kernel, whatever `lock_protocol` says";
        remarks.push(Remark::of(true, text));
    }
    remarks.extend(platform(host, facts));
    remarks
}

impl Remark {
    fn of(is_met: bool, text: impl Into<String>) -> Self {
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

/// Compares what the threads may use with the share of a processor that the kernel grants them, if it has a
/// limit.
fn share(
    plan: &Plan,
    host: &Host,
    throttling: Option<Throttling>,
    has_reservations: bool,
) -> Option<Remark> {
    let Throttling { share, stops_fifo } = throttling?;
    let (runtime, period) = (share.runtime, share.period);
    if has_reservations {
        let is_met = reserved(plan, host, share)?.is_admitted();
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
    let (processor, used) = busiest(plan, host, period).filter(|_| stops_fifo)?;
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
        let strategy = model.strategy.as_deref().unwrap_or("RMS");
        let plan = plan(&model, by_name(strategy).unwrap()).unwrap();
        compare(&model, &plan, &model.hosts[0], facts)
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
        let texts = unmet(&format!("strategy = 'EDF'\n{full}"), facts);
        assert!(
            texts[0].contains("need more than the 950ms of each 1s"),
            "{texts:?}"
        );
        assert_eq!(unmet(&format!("strategy = 'EDF'\n{ONE}"), facts), [""; 0]);
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
}
