//! Operations that run in their callers' threads, and what a job thereby does in all.

use crate::analysis::Preemption;
use crate::analysis::blocking::CriticalSection;
use crate::model::{Call, Kind, Model};
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// Work of a job of each operation, with the operations that run in its thread.
pub(super) struct Inlined {
    /// Worst-case execution time.
    pub(super) demand: Vec<Time>,
    /// Shortest deadline that the operations name, if any does.
    pub(super) deadline: Vec<Option<Time>>,
    /// Longest critical section of each mutex.
    pub(super) sections: Vec<Vec<CriticalSection>>,
    /// Calls that release other operations.
    pub(super) effects: Vec<Vec<Effect>>,
    /// `true` for operations that others call.
    pub(super) is_called: Vec<bool>,
    preemption: Vec<Preemption>,
}

/// Call that releases an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    /// Index of the operation.
    pub(super) operation: usize,
    /// Number of calls in each job.
    pub(super) times: u64,
    /// `true` if the caller waits for the reply, which comes from another host.
    pub(super) two_way: bool,
}

impl Inlined {
    /// Computes the work of all operations, each before its callers.
    pub(super) fn of(model: &Model) -> Self {
        let count = model.operations.len();
        let mut all = Self {
            demand: vec![Time::ZERO; count],
            deadline: vec![None; count],
            sections: vec![Vec::new(); count],
            effects: vec![Vec::new(); count],
            is_called: vec![false; count],
            preemption: vec![Preemption::Full; count],
        };
        for &operation in model.order.iter().rev() {
            all.add(model, operation);
        }
        all
    }

    fn add(&mut self, model: &Model, operation: usize) {
        let own = &model.operations[operation];
        let (mut demand, mut deadline) = (own.times.worst, own.deadline);
        let mut preemption = own.preemption;
        let mut sections = BTreeMap::new();
        let mut effects = BTreeMap::new();
        longest_of_each(&mut sections, &own.sections);
        for call in &own.calls {
            let callee = call.operation;
            self.is_called[callee] = true;
            if !is_inlined(model, operation, call) {
                add_times(&mut effects, (callee, call.two_way), call.times);
                continue;
            }
            demand = demand + self.demand[callee] * call.times;
            deadline = [deadline, self.deadline[callee]]
                .into_iter()
                .flatten()
                .min();
            preemption = either(
                preemption,
                own.times.worst,
                self.preemption[callee],
                self.demand[callee],
            );
            longest_of_each(&mut sections, &self.sections[callee]);
            for effect in &self.effects[callee] {
                let times = effect.times.saturating_mul(call.times);
                add_times(&mut effects, (effect.operation, effect.two_way), times);
            }
        }
        self.demand[operation] = demand;
        self.deadline[operation] = deadline;
        self.preemption[operation] = preemption;
        let section = |(mutex, length)| CriticalSection { mutex, length };
        self.sections[operation] = sections.into_iter().map(section).collect();
        let effect = |((operation, two_way), times)| Effect {
            operation,
            times,
            two_way,
        };
        self.effects[operation] = effects.into_iter().map(effect).collect();
    }

    /// Returns the points of preemption of an operation's jobs, if a release causes several of them.
    pub(super) fn preemption(&self, operation: usize, jobs: u64) -> Preemption {
        let preemption = self.preemption[operation];
        match jobs {
            1 => preemption,
            _ => either(
                preemption,
                self.demand[operation],
                Preemption::Full,
                Time::ZERO,
            ),
        }
    }
}

/// Returns whether a call runs in the caller's thread.
fn is_inlined(model: &Model, caller: usize, call: &Call) -> bool {
    let callee = &model.operations[call.operation];
    call.two_way && callee.host == model.operations[caller].host && callee.kind == Kind::Operation
}

/// Returns the points of preemption of two pieces of work, one after the other.
fn either(one: Preemption, one_demand: Time, other: Preemption, other_demand: Time) -> Preemption {
    let longest = section(one, one_demand).max(section(other, other_demand));
    match longest.is_zero() {
        true => Preemption::Full,
        false => Preemption::Floating { longest },
    }
}

/// Returns the longest section without preemption.
fn section(preemption: Preemption, demand: Time) -> Time {
    match preemption {
        Preemption::Full => Time::ZERO,
        Preemption::None => demand,
        Preemption::Segments { longest, .. } | Preemption::Floating { longest } => longest,
    }
}

fn longest_of_each(sections: &mut BTreeMap<usize, Time>, added: &[CriticalSection]) {
    for section in added {
        let longest = sections.entry(section.mutex).or_insert(Time::ZERO);
        *longest = section.length.max(*longest);
    }
}

fn add_times(effects: &mut BTreeMap<(usize, bool), u64>, key: (usize, bool), times: u64) {
    let all = effects.entry(key).or_insert(0);
    *all = all.saturating_add(times);
}

/// Returns the faults of calls: two-way calls of operations that await several suppliers, and
/// operations that are pinned away from the thread in which they run.
pub(super) fn faults(model: &Model) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for (caller, operation) in model.operations.iter().enumerate() {
        for call in operation.calls.iter().filter(|call| call.two_way) {
            let callee = &model.operations[call.operation];
            if callee.kind != Kind::Operation {
                let message = format!(
                    "`{}` awaits a reply of `{}`, which is no operation",
                    operation.name, callee.name
                );
                let fault = model.error_at(caller, message, "calls it two-way");
                faults.push(fault.with_help("call it with `kind = \"one-way\"`"));
            } else if is_inlined(model, caller, call)
                && let (Some(there), Some(here)) = (callee.processor, operation.processor)
                && there != here
            {
                let message = format!(
                    "`{}` is pinned to processor {there}, and runs in the thread of its caller `{}` on \
                     processor {here}",
                    callee.name, operation.name
                );
                faults.push(model.error_at(call.operation, message, "pinned elsewhere"));
            }
        }
    }
    faults
}
