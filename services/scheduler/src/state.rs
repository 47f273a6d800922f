//! State of a scheduler: its operations, their dependencies, and the queues of the last schedule.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::kept::{Operation, Place};
use crate::refusal::Refusal;
use crate::rtec_base::DependencyInfo;
use crate::rtec_scheduler::{ConfigInfo, DependencyEnabledTypeT, DependencyTypeT, HandleT, RtInfo};

/// Dependency of one operation on another. Several may be equal except for the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    /// Operation that depends.
    pub(crate) of: HandleT,
    /// Operation on which it depends.
    pub(crate) on: HandleT,
    pub(crate) calls: i32,
    pub(crate) kind: DependencyTypeT,
    /// Number that no other dependency has, and under which it is stored.
    pub(crate) number: u64,
}

/// Operations of a scheduler, which are never removed, with their attributes and dependencies.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) operations: BTreeMap<HandleT, Arc<Operation>>,
    pub(crate) handles: HashMap<String, HandleT>,
    pub(crate) dependencies: BTreeMap<Dependency, DependencyEnabledTypeT>,
    /// Dispatching queues of the last schedule; empty before the first.
    pub(crate) queues: Vec<ConfigInfo>,
    /// Number of the next dependency.
    pub(crate) next: u64,
}

/// New values of changed operations and dependencies, which replace the former ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) operations: BTreeMap<HandleT, Arc<Operation>>,
    /// States of dependencies; `None` for removed ones.
    pub(crate) dependencies: BTreeMap<Dependency, Option<DependencyEnabledTypeT>>,
    pub(crate) queues: Option<Vec<ConfigInfo>>,
}

impl Changes {
    /// Returns whether there is no change.
    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty() && self.dependencies.is_empty() && self.queues.is_none()
    }
}

impl State {
    /// Applies changes, which are stored by now.
    pub(crate) fn apply(&mut self, changes: Changes) {
        for (handle, operation) in changes.operations {
            self.handles.insert(operation.entry_point.clone(), handle);
            self.operations.insert(handle, operation);
        }
        for (dependency, state) in changes.dependencies {
            self.next = self.next.max(dependency.number.saturating_add(1));
            match state {
                Some(state) => self.dependencies.insert(dependency, state),
                None => self.dependencies.remove(&dependency),
            };
        }
        if let Some(queues) = changes.queues {
            self.queues = queues;
        }
    }

    /// Returns the handle of the operation of a name.
    pub(crate) fn lookup(&self, name: &str) -> Result<HandleT, Refusal> {
        let handle = self.handles.get(name).copied();
        handle.ok_or_else(|| Refusal::UnknownTask(format!("`{name}`")))
    }

    /// Returns the `RT_Info` of an operation.
    pub(crate) fn info(&self, handle: HandleT) -> Result<RtInfo, Refusal> {
        let operation = self.operations.get(&handle);
        let operation = operation.ok_or_else(|| Refusal::unknown(handle))?;
        Ok(self.info_of(handle, operation))
    }

    /// Returns the `RT_Info` of all operations.
    pub(crate) fn infos(&self) -> Vec<RtInfo> {
        let all = self.operations.iter();
        all.map(|(&handle, operation)| self.info_of(handle, operation))
            .collect()
    }

    fn info_of(&self, handle: HandleT, operation: &Operation) -> RtInfo {
        let attributes = &operation.attributes;
        let place = operation.place.first();
        let admitted = place.filter(|place| operation.rates.len() > 1 && place.period > 0);
        RtInfo {
            entry_point: operation.entry_point.clone(),
            handle,
            worst_case_execution_time: attributes.worst_case_execution_time,
            typical_execution_time: attributes.typical_execution_time,
            cached_execution_time: attributes.cached_execution_time,
            period: admitted.map_or(attributes.period, |place| place.period),
            criticality: attributes.criticality,
            importance: attributes.importance,
            quantum: attributes.quantum,
            threads: attributes.threads,
            dependencies: self.dependencies_of(handle),
            priority: place.map_or(0, |place| place.priority),
            preemption_subpriority: place.map_or(0, |place| place.subpriority),
            preemption_priority: place.map_or(0, |place| place.level),
            info_type: attributes.info_type,
            enabled: operation.enabled,
            volatile_token: 0,
        }
    }

    fn dependencies_of(&self, handle: HandleT) -> Vec<DependencyInfo> {
        let here = self.dependencies.range(first_of(handle)..);
        here.take_while(|(dependency, _)| dependency.of == handle)
            .map(|(dependency, &state)| dependency.info(state))
            .collect()
    }

    /// Returns all dependencies, in the form of the IDL.
    pub(crate) fn dependency_infos(&self) -> Vec<DependencyInfo> {
        let all = self.dependencies.iter();
        all.map(|(dependency, &state)| dependency.info(state))
            .collect()
    }

    /// Returns the place of an operation in the last schedule.
    pub(crate) fn place(&self, handle: HandleT) -> Result<Place, Refusal> {
        let operation = self.operations.get(&handle);
        let operation = operation.ok_or_else(|| Refusal::unknown(handle))?;
        operation
            .place
            .first()
            .cloned()
            .ok_or(Refusal::NotScheduled)
    }

    /// Returns the queues of the last schedule.
    pub(crate) fn scheduled(&self) -> Result<&[ConfigInfo], Refusal> {
        match self.queues.is_empty() {
            true => Err(Refusal::NotScheduled),
            false => Ok(&self.queues),
        }
    }
}

impl Dependency {
    /// Returns the dependency, in the form of the IDL.
    pub(crate) fn info(&self, enabled: DependencyEnabledTypeT) -> DependencyInfo {
        DependencyInfo {
            dependency_type: self.kind,
            number_of_calls: self.calls,
            rt_info: self.of,
            rt_info_depended_on: self.on,
            enabled,
        }
    }

    /// Returns the dependency of a stored record.
    pub(crate) const fn of_info(info: &DependencyInfo, number: u64) -> Self {
        Self {
            of: info.rt_info,
            on: info.rt_info_depended_on,
            calls: info.number_of_calls,
            kind: info.dependency_type,
            number,
        }
    }
}

/// Returns a key before all dependencies of an operation.
const fn first_of(handle: HandleT) -> Dependency {
    Dependency {
        of: handle,
        on: HandleT::MIN,
        calls: i32::MIN,
        kind: DependencyTypeT::OneWayCall,
        number: 0,
    }
}
