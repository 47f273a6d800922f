//! Operations that run in their callers' threads, and the total work of a job with them.

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
    /// Shortest deadline that the operations in its thread name, without its own.
    pub(super) deadline: Vec<Option<Time>>,
    /// Longest critical section of each mutex.
    pub(super) sections: Vec<Vec<CriticalSection>>,
    /// Calls that release other operations.
    pub(super) effects: Vec<Vec<Effect>>,
    /// Operations in its thread that expect calls at a distance, with the number of calls in each job.
    pub(super) expecting: Vec<Vec<(usize, u64)>>,
    /// `true` for operations that others call.
    pub(super) is_called: Vec<bool>,
    preemption: Vec<Preemption>,
}

/// Maximum number of calls and critical sections that all operations collect from others in their
/// threads.
const MOST_COLLECTED: usize = 2_000_000;

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
    ///
    /// # Errors
    /// Too many calls and sections of operations that run in others' threads.
    pub(super) fn of(model: &Model) -> Result<Self, Vec<Diagnostic>> {
        let count = model.operations.len();
        let mut all = Self {
            demand: vec![Time::ZERO; count],
            deadline: vec![None; count],
            sections: vec![Vec::new(); count],
            effects: vec![Vec::new(); count],
            expecting: vec![Vec::new(); count],
            is_called: vec![false; count],
            preemption: vec![Preemption::Full; count],
        };
        let mut collected = 0;
        for &operation in model.order.iter().rev() {
            all.add(model, operation);
            collected += all.effects[operation].len() + all.sections[operation].len();
            collected += all.expecting[operation].len();
            if collected > MOST_COLLECTED {
                let message = format!(
                    "more than {MOST_COLLECTED} calls and critical sections of operations that run in \
                     others' threads"
                );
                return Err(vec![model.error_at(operation, message, "calls too many")]);
            }
        }
        Ok(all)
    }

    fn add(&mut self, model: &Model, operation: usize) {
        let own = &model.operations[operation];
        let (mut demand, mut deadline) = (own.times.worst, None);
        let mut called = Called::default();
        let mut sections = BTreeMap::new();
        let mut effects = BTreeMap::new();
        let mut expecting = BTreeMap::new();
        longest_of_each(&mut sections, &own.sections);
        for call in &own.calls {
            let callee = call.operation;
            self.is_called[callee] = true;
            if !is_inlined(model, operation, call) {
                add_times(&mut effects, (callee, call.two_way), call.times);
                continue;
            }
            demand = demand + self.demand[callee] * call.times;
            let its_own = expects(model, callee).then_some((callee, 1));
            for (one, times) in self.expecting[callee].iter().copied().chain(its_own) {
                add_times(&mut expecting, one, times.saturating_mul(call.times));
            }
            let deadlines = [
                deadline,
                self.deadline[callee],
                model.operations[callee].deadline,
            ];
            deadline = deadlines.into_iter().flatten().min();
            called.demand = called.demand + self.demand[callee] * call.times;
            let section = section(self.preemption[callee], self.demand[callee]);
            called.longest = called.longest.max(section);
            longest_of_each(&mut sections, &self.sections[callee]);
            for effect in &self.effects[callee] {
                let times = effect.times.saturating_mul(call.times);
                add_times(&mut effects, (effect.operation, effect.two_way), times);
            }
        }
        self.demand[operation] = demand;
        self.deadline[operation] = deadline;
        self.preemption[operation] = called.within(own.preemption);
        let section = |(mutex, length)| CriticalSection { mutex, length };
        self.sections[operation] = sections.into_iter().map(section).collect();
        let effect = |((operation, two_way), times)| Effect {
            operation,
            times,
            two_way,
        };
        self.effects[operation] = effects.into_iter().map(effect).collect();
        self.expecting[operation] = expecting.into_iter().collect();
    }

    /// Returns the points of preemption of an operation's jobs, if a release causes several of them.
    pub(super) fn preemption(&self, operation: usize, jobs: u64) -> Preemption {
        let preemption = self.preemption[operation];
        match jobs {
            1 => preemption,
            _ => floating(section(preemption, self.demand[operation])),
        }
    }
}

/// Work of the operations that a job calls in its thread.
#[derive(Default)]
struct Called {
    demand: Time,
    /// Longest section without preemption of a called operation.
    longest: Time,
}

impl Called {
    /// Returns the points of preemption of a caller: its own section may contain all of its calls.
    fn within(&self, own: Preemption) -> Preemption {
        if self.demand.is_zero() {
            return own;
        }
        match own {
            Preemption::None => Preemption::None,
            Preemption::Full => floating(self.longest),
            Preemption::Segments { longest, .. } | Preemption::Floating { longest } => {
                floating(longest + self.demand)
            }
        }
    }
}

fn floating(longest: Time) -> Preemption {
    match longest.is_zero() {
        true => Preemption::Full,
        false => Preemption::Floating { longest },
    }
}

/// Returns whether a call runs in the caller's thread.
fn is_inlined(model: &Model, caller: usize, call: &Call) -> bool {
    let callee = &model.operations[call.operation];
    call.two_way && callee.host == model.operations[caller].host && callee.kind == Kind::Operation
}

/// Returns whether the period of an operation is the least distance of its calls.
pub(super) fn expects(model: &Model, operation: usize) -> bool {
    let operation = &model.operations[operation];
    operation.period.is_some() && operation.threads == 0
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

fn add_times<K: Ord>(calls: &mut BTreeMap<K, u64>, key: K, times: u64) {
    let all = calls.entry(key).or_insert(0);
    *all = all.saturating_add(times);
}

/// Returns the faults of calls: two-way calls of operations that await several suppliers, operations
/// that are pinned away from the thread in which they run, calls between hosts without a message.
pub(super) fn faults(model: &Model) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for caller in 0..model.operations.len() {
        for call in &model.operations[caller].calls {
            faults.extend(fault_of_call(model, caller, call));
        }
    }
    faults
}

fn fault_of_call(model: &Model, caller: usize, call: &Call) -> Option<Diagnostic> {
    let (from, to) = (&model.operations[caller], &model.operations[call.operation]);
    let (name, callee) = (&from.name, &to.name);
    if call.two_way && to.kind != Kind::Operation {
        let message = format!("`{name}` awaits a reply of `{callee}`, which is no operation");
        let fault = model.error_at(caller, message, "calls it two-way");
        return Some(fault.with_help("call it with `kind = \"one-way\"`"));
    }
    if model.message_time(from.host, to.host).is_none() {
        let (here, there) = (&model.hosts[from.host].name, &model.hosts[to.host].name);
        let message = format!(
            "`{name}` on host `{here}` calls `{callee}` on host `{there}`, and the time of a message between them is not known"
        );
        let fault = model.error_at(caller, message, "calls another host");
        let help = format!(
            "add [[message]] with from = \"{here}\", to = \"{there}\" and its longest `time`"
        );
        return Some(fault.with_help(help));
    }
    if is_inlined(model, caller, call)
        && let Some(there) = to.processor
        && from.processor != Some(there)
    {
        let message = format!(
            "`{callee}` is pinned to processor {there}, and runs in the thread of its caller `{name}`, which is not"
        );
        return Some(model.error_at(call.operation, message, "pinned elsewhere"));
    }
    None
}
