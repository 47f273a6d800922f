//! Model of a system: hosts, operations with what they need (`RT_Info`), what they call, and the
//! mutexes they hold.
//!
//! [`read`] makes a model of a TOML file, or says what is wrong in it and where; [`read_with_idl`]
//! adds the operations that IDL times by `@rt`, and [`read_with_operations`] those that stubs carry; [`Model::of`] makes one of values. A model is consistent: its
//! indices are valid, its times are bounded, and its calls form no cycle.

mod build;
mod file;
mod names;
mod operation;
mod order;
mod repeated;
mod sources;
mod timed;
mod values;

use crate::analysis::blocking::{CriticalSection, Protocol};
use crate::analysis::{Preemption, Task};
use crate::level::Level;
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use sources::Sources;
use std::collections::BTreeSet;
use std::ops::Range;

pub use build::{read, read_with_idl, read_with_operations};
pub use names::LONGEST_NAME;
pub use timed::TimedOperation;
pub use values::ModelError;

/// Maximum number of operations of a model.
pub const MOST_OPERATIONS: usize = 100_000;

/// Maximum size of a model's file in bytes, 64 MiB; that of [`MOST_OPERATIONS`] takes less.
pub const LONGEST_FILE: u64 = 64 << 20;

/// Hosts and operations of a system.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name of the strategy that the file asks for, if any.
    pub strategy: Option<String>,
    /// Protocol of all mutexes.
    pub protocol: Protocol,
    /// Hosts; there is always one.
    pub hosts: Vec<Host>,
    /// Maximum times of messages between hosts.
    pub messages: Vec<Message>,
    /// Names of the mutexes, by their indices.
    pub mutexes: Vec<String>,
    /// Operations, in the order of the file.
    pub operations: Vec<Operation>,
    /// Indices of the operations, each after all operations that call it.
    pub order: Vec<usize>,
    sources: Sources,
}

/// Computer with one or more processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name of the host.
    pub name: String,
    /// Number of processors, at least 1.
    pub processors: usize,
    /// Time that the platform takes of each processor, if any.
    pub interference: Option<Interference>,
}

/// Time that the platform takes of a processor, above all priorities: interrupts, firmware, a hypervisor
/// (operating-system noise).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Interference {
    /// Longest time that is taken in any window, above zero and below its length.
    pub most: Time,
    /// Length of a window.
    pub every: Time,
}

/// Maximum time of a message between two hosts, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Indices of the hosts.
    pub between: (usize, usize),
    /// Time from the end of the sending operation to the release of the receiving one.
    pub time: Time,
}

/// Operation of an object, with its times, releases and calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Name of the operation, unique in the model.
    pub name: String,
    /// Worst, typical and cached execution time, without the operations that it calls.
    pub times: ExecutionTimes,
    /// Own releases, or the minimum distance that the operation expects of its callers.
    pub period: Option<Time>,
    /// Lower rates, as longer periods in rising order: the plan takes the shortest period with which all deadlines
    /// are met.
    pub rates: Vec<Time>,
    /// Longer periods, in rising order, at which the operation may run where its own period does not fit
    /// ([`crate::admission`]).
    pub degraded: Vec<Time>,
    /// Deadline, counted from the release of the operation from which the chain of calls starts.
    pub deadline: Option<Time>,
    /// Time of the first release. The analysis takes it for unknown, which is safe.
    pub offset: Time,
    /// Maximum time from a nominal release to the actual one.
    pub jitter: Time,
    /// Harm of a missed deadline.
    pub criticality: Level,
    /// Preference among operations that are otherwise equal.
    pub importance: Level,
    /// Number of threads of its own; with any, the operation releases itself by its period, even if
    /// others call it.
    pub threads: u32,
    /// Index of the host.
    pub host: usize,
    /// Processor of the host to which the operation is pinned.
    pub processor: Option<usize>,
    /// Manner in which several suppliers release the operation.
    pub kind: Kind,
    /// Points of preemption.
    pub preemption: Preemption,
    /// Calls of a job.
    pub calls: Vec<Call>,
    /// Critical sections of a job, without those of operations that it calls.
    pub sections: Vec<CriticalSection>,
    place: Range<usize>,
}

/// Execution times of an operation, as an `RT_Info` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionTimes {
    /// Maximum time of a job. Zero only for conjunctions and disjunctions.
    pub worst: Time,
    /// Usual time of a job.
    pub typical: Option<Time>,
    /// Time of a job with warm caches.
    pub cached: Option<Time>,
}

/// Manner in which several suppliers release an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// By each call.
    #[default]
    Operation,
    /// By a call of each supplier: it waits for the last one.
    Conjunction,
    /// By each call of any supplier.
    Disjunction,
}

/// Call of another operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the operation that is called.
    pub operation: usize,
    /// Number of calls in each job.
    pub times: u64,
    /// `true` if the caller waits for the reply.
    pub two_way: bool,
    place: Range<usize>,
}

impl Model {
    /// Returns the maximum time of a message between two hosts: zero within a host, `None` if the
    /// model does not say.
    #[must_use]
    pub fn message_time(&self, from: usize, to: usize) -> Option<Time> {
        if from == to {
            return Some(Time::ZERO);
        }
        let joins = |message: &&Message| message.joins(from, to);
        self.messages.iter().find(joins).map(|message| message.time)
    }

    /// Returns the index of the operation of a name.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<usize> {
        self.operations.iter().position(|one| one.name == name)
    }

    /// Returns operations, and those that run in their threads.
    pub(crate) fn in_threads(
        &self,
        operations: impl IntoIterator<Item = usize>,
    ) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut left: Vec<usize> = operations.into_iter().collect();
        while let Some(index) = left.pop() {
            if found.insert(index) {
                left.extend(self.called_in_thread(index));
            }
        }
        found
    }

    /// Returns the operations that an operation calls in its own thread.
    fn called_in_thread(&self, operation: usize) -> impl Iterator<Item = usize> {
        let own = &self.operations[operation];
        let in_thread = own.calls.iter().filter(|call| {
            let called = &self.operations[call.operation];
            call.two_way && called.host == own.host
        });
        in_thread.map(|call| call.operation)
    }

    /// Returns the operation's name that is most similar to one that the model does not have, if any is similar.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        names::nearest(name, self.operations.iter().map(|one| &one.name))
    }

    /// Makes an error that points at an operation's name.
    pub(crate) fn error_at(&self, operation: usize, message: String, label: &str) -> Diagnostic {
        let place = self.operations[operation].place.clone();
        self.sources.error(message, place, label)
    }
}

impl Interference {
    /// Returns a periodic task that takes at least as much processor time as the interference.
    #[must_use]
    pub const fn task(self) -> Task {
        Task::interference(self.most, self.every)
    }
}

impl std::fmt::Display for Interference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at most {} in any {}", self.most, self.every)
    }
}

impl Message {
    /// Returns whether the message is between two hosts, in either direction.
    #[must_use]
    pub fn joins(&self, one: usize, other: usize) -> bool {
        self.between == (one, other) || self.between == (other, one)
    }
}
