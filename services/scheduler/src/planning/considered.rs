//! Operations that a schedule considers: the enabled ones that something releases.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use punctual_scheduling::model::{self, Call, Model, ModelError};

use super::anomalies::{Anomalies, Anomaly};
use crate::attributes::{criticality, importance, kind, period, time};
use crate::kept::Operation;
use crate::rtec_scheduler::{
    DependencyEnabledTypeT, DependencyTypeT, HandleT, InfoTypeT, RtInfoEnabledTypeT,
};
use crate::state::State;

/// Number of operations of a cycle that an anomaly names.
const SHOWN: usize = 6;

/// Operations that are considered, in the order of their handles; a model has them in the same order.
#[derive(Debug)]
pub(super) struct Considered {
    pub(super) handles: Vec<HandleT>,
    pub(super) kept: Vec<Arc<Operation>>,
    operations: Vec<model::Operation>,
}

impl Considered {
    /// Returns the enabled operations of a state, and their enabled dependencies.
    pub(super) fn of(state: &State, anomalies: &mut Anomalies) -> Self {
        let mut considered = Self {
            handles: Vec::new(),
            kept: Vec::new(),
            operations: Vec::new(),
        };
        for (&handle, operation) in &state.operations {
            if operation.enabled == RtInfoEnabledTypeT::RtInfoDisabled {
                continue;
            }
            let attributes = &operation.attributes;
            if attributes.threads > 0 && attributes.period <= 0 {
                let text = format!(
                    "`{}` has {} threads and no period: it is not scheduled",
                    operation.entry_point, attributes.threads
                );
                anomalies.add(Anomaly::ThreadSpecification, &text);
                continue;
            }
            considered.handles.push(handle);
            considered.kept.push(operation.clone());
            considered.operations.push(modelled(operation));
        }
        considered.add_calls(state);
        considered
    }

    fn add_calls(&mut self, state: &State) {
        let numbered = self.handles.iter().enumerate();
        let indices: HashMap<HandleT, usize> =
            numbered.map(|(index, &handle)| (handle, index)).collect();
        for (dependency, enabled) in &state.dependencies {
            let ends = (indices.get(&dependency.of), indices.get(&dependency.on));
            let (Some(&of), Some(&on)) = ends else {
                continue;
            };
            if *enabled == DependencyEnabledTypeT::DependencyDisabled {
                continue;
            }
            let two_way = dependency.kind == DependencyTypeT::TwoWayCall;
            let (caller, called) = if two_way { (of, on) } else { (on, of) };
            let times = u64::try_from(dependency.calls).unwrap_or(1).max(1);
            let call = Call::new(called, times, two_way);
            self.operations[caller].calls.push(call);
        }
    }

    /// Makes the model, without operations that nothing releases; `None` if there is no schedule.
    pub(super) fn model(&mut self, anomalies: &mut Anomalies) -> Option<Model> {
        loop {
            let wrong = match Model::of(self.operations.clone()) {
                Ok(model) => return Some(model),
                Err(wrong) => wrong,
            };
            match wrong {
                ModelError::NeverReleased(unreleased) => {
                    self.drop_unreleased(&unreleased, anomalies)
                }
                ModelError::Cycle(cycle) => {
                    anomalies.add(Anomaly::Cycle, &self.cycle_text(&cycle));
                    return None;
                }
                ModelError::Empty => {
                    let text = "there is no operation to schedule: none is enabled and released";
                    anomalies.add(Anomaly::NoTasks, text);
                    return None;
                }
                other => {
                    anomalies.add(Anomaly::Invalid, &other.to_string());
                    return None;
                }
            }
        }
    }

    fn cycle_text(&self, cycle: &[usize]) -> String {
        let name = |&index: &usize| format!("`{}`", self.operations[index].name);
        let mut names: Vec<String> = cycle.iter().take(SHOWN).map(name).collect();
        if cycle.len() > SHOWN {
            names.push(format!("{} more", cycle.len() - SHOWN));
        }
        format!(
            "operations call one another in a cycle: {}: nothing is scheduled",
            names.join(", ")
        )
    }

    /// Takes out operations that nothing releases, and reports them.
    fn drop_unreleased(&mut self, unreleased: &[usize], anomalies: &mut Anomalies) {
        let unreleased: HashSet<usize> = unreleased.iter().copied().collect();
        let remote = self.remote(&unreleased);
        for (index, operation) in self.operations.iter().enumerate() {
            if !unreleased.contains(&index) {
                continue;
            }
            let (anomaly, text) = match remote.contains(&index) {
                true => (
                    Anomaly::UnresolvedRemote,
                    "waits for operations that are not registered here",
                ),
                false => (
                    Anomaly::UnresolvedLocal,
                    "has no period, and no operation with a period calls it",
                ),
            };
            let text = format!("`{}` {text}: it is not scheduled", operation.name);
            anomalies.add(anomaly, &text);
        }
        self.retain(&unreleased);
    }

    /// Returns the unreleased operations that wait for remote ones, directly or through others.
    fn remote(&self, unreleased: &HashSet<usize>) -> HashSet<usize> {
        let is_remote =
            |&index: &usize| self.kept[index].attributes.info_type == InfoTypeT::RemoteDependant;
        let mut left: Vec<usize> = unreleased.iter().copied().filter(is_remote).collect();
        let mut found: HashSet<usize> = left.iter().copied().collect();
        while let Some(index) = left.pop() {
            for call in &self.operations[index].calls {
                if unreleased.contains(&call.operation) && found.insert(call.operation) {
                    left.push(call.operation);
                }
            }
        }
        found
    }

    /// Takes out operations, and calls of them.
    fn retain(&mut self, without: &HashSet<usize>) {
        let stays: Vec<usize> = (0..self.handles.len())
            .filter(|index| !without.contains(index))
            .collect();
        let numbered = stays.iter().enumerate();
        let new: HashMap<usize, usize> = numbered.map(|(new, &old)| (old, new)).collect();
        let operation = |&old: &usize| {
            let mut operation = self.operations[old].clone();
            let calls = operation.calls.iter().filter_map(|call| {
                let called = *new.get(&call.operation)?;
                Some(Call::new(called, call.times, call.two_way))
            });
            operation.calls = calls.collect();
            operation
        };
        self.operations = stays.iter().map(operation).collect();
        self.handles = stays.iter().map(|&old| self.handles[old]).collect();
        self.kept = stays.iter().map(|&old| self.kept[old].clone()).collect();
    }
}

/// Converts an operation to the library's model, at its lowest rate and without calls. An operation with
/// a period runs by it, even if others call it.
fn modelled(kept: &Operation) -> model::Operation {
    let attributes = &kept.attributes;
    let lowest = kept.rates.first().filter(|_| attributes.period > 0);
    let wcet = lowest.map_or(attributes.worst_case_execution_time, |rate| {
        rate.worst_case_execution_time
    });
    let mut operation = model::Operation::new(kept.entry_point.clone(), time(wcet));
    operation.period = period(lowest.map_or(attributes.period, |rate| rate.period));
    operation.criticality = criticality(attributes.criticality);
    operation.importance = importance(attributes.importance);
    operation.kind = kind(attributes.info_type);
    operation.threads = match operation.period {
        Some(_) => u32::try_from(attributes.threads).unwrap_or(0).max(1),
        None => 0,
    };
    operation
}
