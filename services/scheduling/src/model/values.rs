//! Makes a model from Rust values, for programs without a model file.

use super::names::LONGEST_NAME;
use super::sources::Sources;
use super::{Call, ExecutionTimes, Host, MOST_OPERATIONS, Model, Operation, order};
use crate::analysis::blocking::Protocol;
use crate::level::Level;
use crate::time::Time;
use punctual_idl::source::SourceFile;
use std::collections::HashSet;
use std::sync::Arc;

/// Reason why operations are not a model. Operations are named by their indices.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There are no operations.
    #[error("the model has no operation")]
    Empty,
    /// There are more than [`MOST_OPERATIONS`] operations.
    #[error("a model has {MOST_OPERATIONS} operations at most")]
    TooMany,
    /// A name is taken, longer than 256 bytes, or has control characters.
    #[error("the name of operation {0} is taken, too long, or has control characters")]
    Name(usize),
    /// A period or deadline is zero, a time is longer than a day, or threads have no period.
    #[error("operation {0} has a time out of bounds, or threads without a period")]
    Time(usize),
    /// A call is of an operation that does not exist, or is made zero times.
    #[error("operation {0} calls an operation that does not exist, or calls it zero times")]
    Call(usize),
    /// Operations call one another in a cycle: each the next one, the last one the first.
    #[error("operations call one another in a cycle: {0:?}")]
    Cycle(Vec<usize>),
    /// No operation with a period reaches these by its calls, and they have no period themselves.
    #[error("operations are never released: {0:?}")]
    NeverReleased(Vec<usize>),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Model {
    /// Makes a model of operations on one host of one processor, without mutexes.
    ///
    /// # Errors
    /// The first fault: of a value, then a cycle of calls, then operations that are never released.
    pub fn of(mut operations: Vec<Operation>) -> Result<Self, ModelError> {
        check(&operations)?;
        for operation in &mut operations {
            (operation.host, operation.processor) = (0, None);
            operation.sections.clear();
        }
        let order = order::callers_first(&operations).map_err(ModelError::Cycle)?;
        let unreleased = never_released(&operations, &order);
        if !unreleased.is_empty() {
            return Err(ModelError::NeverReleased(unreleased));
        }
        let name = "localhost".to_owned();
        Ok(Self {
            strategy: None,
            protocol: Protocol::Inheritance,
            hosts: vec![Host {
                name,
                processors: 1,
                interference: None,
            }],
            messages: Vec::new(),
            mutexes: Vec::new(),
            operations,
            order,
            sources: Sources::new(Arc::new(SourceFile::new("the model", ""))),
        })
    }
}

impl Operation {
    /// Makes an operation of medium criticality and importance that is released by its callers.
    pub fn new(name: impl Into<String>, wcet: Time) -> Self {
        Self {
            name: name.into(),
            times: ExecutionTimes {
                worst: wcet,
                ..ExecutionTimes::default()
            },
            period: None,
            rates: Vec::new(),
            degraded: Vec::new(),
            deadline: None,
            offset: Time::ZERO,
            jitter: Time::ZERO,
            criticality: Level::default(),
            importance: Level::default(),
            threads: 0,
            host: 0,
            processor: None,
            kind: super::Kind::default(),
            preemption: crate::analysis::Preemption::Full,
            calls: Vec::new(),
            sections: Vec::new(),
            place: 0..0,
        }
    }
}

impl Call {
    /// Makes a call of the operation with this index, so often in each job.
    #[must_use]
    pub const fn new(operation: usize, times: u64, two_way: bool) -> Self {
        Self {
            operation,
            times,
            two_way,
            place: 0..0,
        }
    }
}

fn check(operations: &[Operation]) -> Result<(), ModelError> {
    if operations.is_empty() {
        return Err(ModelError::Empty);
    }
    if operations.len() > MOST_OPERATIONS {
        return Err(ModelError::TooMany);
    }
    let mut names = HashSet::with_capacity(operations.len());
    for (index, operation) in operations.iter().enumerate() {
        let name = operation.name.as_str();
        let is_name = name.len() <= LONGEST_NAME && !name.chars().any(char::is_control);
        if !is_name || !names.insert(name) {
            return Err(ModelError::Name(index));
        }
        if !has_possible_times(operation) {
            return Err(ModelError::Time(index));
        }
        let is_possible = |call: &Call| call.operation < operations.len() && call.times > 0;
        if !operation.calls.iter().all(is_possible) {
            return Err(ModelError::Call(index));
        }
    }
    Ok(())
}

fn has_possible_times(operation: &Operation) -> bool {
    let ExecutionTimes {
        worst,
        typical,
        cached,
    } = operation.times;
    let (period, deadline) = (operation.period, operation.deadline);
    let all = [
        Some(worst),
        typical,
        cached,
        period,
        deadline,
        Some(operation.offset),
        Some(operation.jitter),
    ];
    let is_zero = |time: Option<Time>| time.is_some_and(Time::is_zero);
    let is_bounded = all.into_iter().flatten().all(|time| time <= Time::LONGEST);
    let has_rate = operation.threads == 0 || period.is_some();
    is_bounded && has_rate && !is_zero(period) && !is_zero(deadline)
}

/// Returns the operations that no release reaches, in rising order.
fn never_released(operations: &[Operation], order: &[usize]) -> Vec<usize> {
    let has_period = |operation: &Operation| operation.period.is_some();
    let mut is_called = vec![false; operations.len()];
    let mut is_released = vec![false; operations.len()];
    for call in operations.iter().flat_map(|one| &one.calls) {
        is_called[call.operation] = true;
    }
    for &index in order {
        let operation = &operations[index];
        // The period of an operation without threads releases it only if nothing calls it.
        let runs_itself = operation.threads > 0 || !is_called[index];
        is_released[index] |= runs_itself && has_period(operation);
        if is_released[index] {
            for call in &operation.calls {
                is_released[call.operation] = true;
            }
        }
    }
    (0..operations.len())
        .filter(|&index| !is_released[index])
        .collect()
}
