//! Stand-ins of operations: they use processor time, hold mutexes, and call what the model says.

use super::idl::rehearsal::{Operation as Callee, OperationServant};
use super::measured::Counts;
use crate::schedule::Activity;
use punctual::SystemException;
use punctual::rt::RtMutex;
use punctual_scheduling::model::{Call, Kind, Model};
use punctual_sys::{clock, cpu_clock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Time of release of calls that only make connections: their jobs do no work, and do not count.
pub(super) const WARM_UP: u64 = 0;

/// Stand-in of an operation.
#[derive(Debug)]
pub(super) struct Role {
    /// Index of the operation in the model.
    pub(super) operation: usize,
    pub(super) activity: Arc<Activity>,
    pub(super) counts: Counts,
    /// Processor time of a job, without its critical sections and the operations that it calls, in
    /// nanoseconds.
    work: u64,
    /// Mutexes and how long they are held, in nanoseconds.
    sections: Vec<(usize, u64)>,
    /// Roles of the operations that run in its thread, and how often.
    called: Vec<(usize, u64)>,
    /// Roles of the operations that are called one-way, and how often.
    released: Vec<(usize, u64)>,
    /// Number of calls that a job awaits; 1 unless it is a conjunction.
    awaited: u64,
    /// Numbers of calls that were made, and of calls whose job has ended.
    made: AtomicU64,
    arrived: AtomicU64,
    ended: AtomicU64,
    /// Reference to the object that serves it, by the client's ORB.
    pub(super) object: OnceLock<Callee>,
}

/// Stand-ins of all operations of a host, and the mutexes that they share.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) roles: Vec<Role>,
    pub(super) mutexes: Vec<RtMutex>,
}

/// Servant of an operation that is called one-way.
pub(super) struct Stand {
    pub(super) script: Arc<Script>,
    pub(super) role: usize,
}

impl OperationServant for Stand {
    fn run(&self, released: u64) -> Result<(), SystemException> {
        self.script.arrive(self.role, released);
        Ok(())
    }
}

impl Role {
    /// Makes the stand-in of an operation whose jobs use this percentage of their planned time. `roles` has the role of
    /// each operation of the host: calls to others are not made.
    pub(super) fn new(
        model: &Model,
        operation: usize,
        activity: Arc<Activity>,
        (load, roles): (u64, &BTreeMap<usize, usize>),
    ) -> Self {
        let of = &model.operations[operation];
        let part = |nanos: u64| nanos / 100 * load + nanos % 100 * load / 100;
        let sections = of.sections.iter();
        let sections: Vec<_> = sections
            .map(|one| (one.mutex, part(one.length.as_nanos())))
            .collect();
        let inside: u64 = sections.iter().map(|one| one.1).sum();
        let is_called = |call: &&Call| call.two_way;
        let (called, released): (Vec<_>, Vec<_>) = of.calls.iter().partition(is_called);
        let pairs = |calls: Vec<&Call>| {
            let calls = calls.into_iter();
            calls
                .filter_map(|call| Some((*roles.get(&call.operation)?, call.times)))
                .collect()
        };
        let suppliers = calls_of_host(model, of.host).filter(|call| call.operation == operation);
        let suppliers = suppliers.count();
        Self {
            operation,
            counts: Counts::of(&activity),
            activity,
            work: part(of.times.worst.as_nanos()).saturating_sub(inside),
            sections,
            called: pairs(called),
            released: pairs(released),
            awaited: match of.kind {
                Kind::Conjunction => u64::try_from(suppliers).unwrap_or(1).max(1),
                _ => 1,
            },
            made: AtomicU64::new(0),
            arrived: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            object: OnceLock::new(),
        }
    }

    /// Returns whether its jobs are requests: other operations of the host release it, or it waits in a queue.
    pub(super) fn is_served(&self, model: &Model, operation: usize) -> bool {
        if self.activity.is_queued() {
            return true;
        }
        let mut calls = calls_of_host(model, model.operations[operation].host);
        calls.any(|call| call.operation == operation && !call.two_way)
    }

    /// Calls its object one-way.
    fn call(&self, released: u64) {
        // Counted before the call, so that no call is executed before it is counted.
        self.made.fetch_add(1, Ordering::SeqCst);
        let made = self.object.get().map(|object| object.run(released));
        if !matches!(made, Some(Ok(()))) {
            // It shows in the count of jobs.
            self.made.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Script {
    /// Executes a job of an operation if all calls that it awaits have arrived.
    fn arrive(&self, role: usize, released: u64) {
        let its = &self.roles[role];
        let number = its.arrived.fetch_add(1, Ordering::Relaxed) + 1;
        if number.is_multiple_of(its.awaited) {
            self.job(role, released);
        }
        its.ended.fetch_add(1, Ordering::Release);
    }

    /// Returns whether all calls that were made have been executed. Each counts as executed after those that it
    /// made, and the executed ones are counted first: if both are equal, none is under way.
    pub(super) fn is_quiet(&self) -> bool {
        let sum = |of: fn(&Role) -> &AtomicU64| -> u64 {
            let counts = self
                .roles
                .iter()
                .map(|role| of(role).load(Ordering::SeqCst));
            counts.sum()
        };
        let ended = sum(|role| &role.ended);
        ended == sum(|role| &role.made)
    }

    /// Releases an operation by its own clock: a job in this thread, or a request if it waits in a queue.
    pub(super) fn release(&self, role: usize, released: u64) {
        let its = &self.roles[role];
        match its.activity.is_queued() {
            true => its.call(released),
            false => self.job(role, released),
        }
    }

    /// Executes a job of an operation, and counts it.
    pub(super) fn job(&self, role: usize, released: u64) {
        let before = cpu_clock::nanos();
        self.perform(role, released);
        if released == WARM_UP {
            return;
        }
        let execution = cpu_clock::nanos().saturating_sub(before);
        let response = clock::nanos().saturating_sub(released);
        self.roles[role].counts.count(response, execution);
    }

    /// Consumes the processor time of a job and of the operations that run in its thread, then makes the one-way calls.
    fn perform(&self, role: usize, released: u64) {
        let mut performed = vec![(role, 1_u64)];
        let mut to_release = Vec::new();
        while let Some((role, times)) = performed.pop() {
            let its = &self.roles[role];
            if released != WARM_UP {
                (0..times).for_each(|_| self.work(its));
            }
            let by_all = |&(callee, each): &(usize, u64)| (callee, times.saturating_mul(each));
            performed.extend(its.called.iter().map(by_all));
            to_release.extend(its.released.iter().map(by_all));
        }
        for (callee, times) in to_release {
            let callee = &self.roles[callee];
            (0..times).for_each(|_| callee.call(released));
        }
    }

    fn work(&self, role: &Role) {
        for &(mutex, length) in &role.sections {
            let _held = self.mutexes.get(mutex).map(RtMutex::lock);
            burn(length);
        }
        burn(role.work);
    }
}

/// Returns the calls that operations of a host make.
pub(super) fn calls_of_host(model: &Model, host: usize) -> impl Iterator<Item = &Call> {
    let here = model.operations.iter().filter(move |one| one.host == host);
    here.flat_map(|one| &one.calls)
}

/// Uses this much processor time of the calling thread, in nanoseconds.
pub fn burn(nanos: u64) {
    let end = cpu_clock::nanos().saturating_add(nanos);
    while cpu_clock::nanos() < end {
        std::hint::spin_loop();
    }
}
