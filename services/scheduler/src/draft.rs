//! Changes that are drafted against a state: each succeeds as a whole, or changes nothing.

use std::collections::HashMap;
use std::sync::Arc;

use crate::attributes::{check, check_calls, check_name};
use crate::kept::{Attributes, Operation, Place, Rate};
use crate::limits::{Limits, MOST_RATES};
use crate::refusal::Refusal;
use crate::rtec_base::DependencyInfo;
use crate::rtec_scheduler::{
    ConfigInfo, DependencyEnabledTypeT, HandleT, RtInfoEnabledTypeT as Enabled,
};
use crate::state::{Changes, Dependency, State};

type Result<T> = std::result::Result<T, Refusal>;

/// State with drafted changes.
#[derive(Debug)]
pub(crate) struct Draft<'s> {
    state: &'s State,
    limits: Limits,
    changes: Changes,
    names: HashMap<String, HandleT>,
    /// Number of dependencies, including drafted ones.
    dependencies: usize,
    next: u64,
}

impl<'s> Draft<'s> {
    pub(crate) fn new(state: &'s State, limits: Limits) -> Self {
        Self {
            limits,
            changes: Changes::default(),
            names: HashMap::new(),
            dependencies: state.dependencies.len(),
            next: state.next,
            state,
        }
    }

    /// Returns the drafted changes.
    pub(crate) fn changes(self) -> Changes {
        self.changes
    }

    /// Creates an operation.
    pub(crate) fn create(&mut self, name: String) -> Result<HandleT> {
        check_name(&name)?;
        if self.names.contains_key(&name) || self.state.handles.contains_key(&name) {
            return Err(Refusal::DuplicateName(name));
        }
        let count = self.state.operations.len() + self.names.len();
        if count >= self.limits.operations {
            let limit = format!("{} operations", self.limits.operations);
            return Err(Refusal::LimitExceeded(limit));
        }
        let last = self.changes.operations.keys().next_back().copied();
        let before = self.state.operations.keys().next_back().copied();
        let handle = last.max(before).unwrap_or(0).checked_add(1);
        let handle = handle.ok_or_else(|| Refusal::LimitExceeded("handles".to_owned()))?;
        let operation = Operation {
            entry_point: name.clone(),
            enabled: Enabled::RtInfoEnabled,
            ..Operation::default()
        };
        self.names.insert(name, handle);
        self.put(handle, operation);
        Ok(handle)
    }

    /// Sets the attributes of operations; each period that an operation has not yet is a further rate.
    pub(crate) fn set(&mut self, set: &[(HandleT, Attributes)]) -> Result<()> {
        let changed = self.with_attributes(set, |_| Ok(()))?;
        self.put_all(changed);
        Ok(())
    }

    /// Replaces the attributes of operations.
    pub(crate) fn reset(&mut self, set: &[(HandleT, Attributes)]) -> Result<()> {
        let changed = self.with_attributes(set, |(handle, operation)| {
            if operation.enabled == Enabled::RtInfoNonVolatile {
                return Err(Refusal::unknown(handle));
            }
            forget(operation);
            Ok(())
        })?;
        self.put_all(changed);
        Ok(())
    }

    /// Sets the attributes of operations, and disables all others that are enabled and not protected.
    pub(crate) fn replace(&mut self, set: &[(HandleT, Attributes)]) -> Result<()> {
        let mut changed = self.with_attributes(set, |(_, operation)| {
            if operation.enabled == Enabled::RtInfoEnabled {
                forget(operation);
            }
            Ok(())
        })?;
        let handles = self.state.operations.keys().chain(self.names.values());
        for &handle in handles {
            if changed.contains_key(&handle) {
                continue;
            }
            let mut operation = self.operation(handle)?.clone();
            if operation.enabled == Enabled::RtInfoEnabled {
                forget(&mut operation);
                operation.enabled = Enabled::RtInfoDisabled;
                changed.insert(handle, operation);
            }
        }
        self.put_all(changed);
        Ok(())
    }

    /// Enables or disables operations.
    pub(crate) fn enable(&mut self, pairs: &[(HandleT, Enabled)]) -> Result<()> {
        let mut changed = HashMap::new();
        for &(handle, enabled) in pairs {
            let mut operation = self.operation(handle)?.clone();
            operation.enabled = enabled;
            changed.insert(handle, operation);
        }
        self.put_all(changed);
        Ok(())
    }

    /// Adds a dependency.
    pub(crate) fn depend(&mut self, added: &DependencyInfo) -> Result<()> {
        check_calls(added.number_of_calls)?;
        self.operation(added.rt_info)?;
        self.operation(added.rt_info_depended_on)?;
        if self.dependencies >= self.limits.dependencies {
            let limit = format!("{} dependencies", self.limits.dependencies);
            return Err(Refusal::LimitExceeded(limit));
        }
        let dependency = Dependency::of_info(added, self.next);
        self.next = self.next.saturating_add(1);
        self.dependencies += 1;
        let state = DependencyEnabledTypeT::DependencyEnabled;
        self.changes.dependencies.insert(dependency, Some(state));
        Ok(())
    }

    /// Removes a dependency.
    pub(crate) fn remove(&mut self, removed: &DependencyInfo) -> Result<()> {
        let dependency = self.find(removed)?;
        self.dependencies -= 1;
        self.changes.dependencies.insert(dependency, None);
        Ok(())
    }

    /// Enables or disables dependencies.
    pub(crate) fn enable_dependencies(&mut self, infos: &[DependencyInfo]) -> Result<()> {
        let found: Result<Vec<_>> = infos.iter().map(|info| self.find(info)).collect();
        for (dependency, info) in found?.into_iter().zip(infos) {
            self.changes
                .dependencies
                .insert(dependency, Some(info.enabled));
        }
        Ok(())
    }

    /// Replaces the schedule: operations without a new place have none.
    pub(crate) fn schedule(&mut self, places: &HashMap<HandleT, Place>, queues: Vec<ConfigInfo>) {
        let handles = self.state.operations.keys().chain(self.names.values());
        let handles: Vec<HandleT> = handles.copied().collect();
        for handle in handles {
            let place = places.get(&handle).into_iter().cloned();
            let place: Vec<Place> = place.collect();
            let Ok(operation) = self.operation(handle) else {
                continue;
            };
            if operation.place != place {
                let mut operation = operation.clone();
                operation.place = place;
                self.put(handle, operation);
            }
        }
        self.changes.queues = Some(queues);
    }

    fn operation(&self, handle: HandleT) -> Result<&Operation> {
        let drafted = self.changes.operations.get(&handle);
        let operation = drafted.or_else(|| self.state.operations.get(&handle));
        operation
            .map(|operation| &**operation)
            .ok_or_else(|| Refusal::unknown(handle))
    }

    fn put(&mut self, handle: HandleT, operation: Operation) {
        self.changes.operations.insert(handle, Arc::new(operation));
    }

    fn put_all(&mut self, changed: HashMap<HandleT, Operation>) {
        for (handle, operation) in changed {
            self.put(handle, operation);
        }
    }

    /// Returns operations with new attributes; `first` prepares each of them once.
    fn with_attributes(
        &self,
        set: &[(HandleT, Attributes)],
        first: impl Fn((HandleT, &mut Operation)) -> Result<()>,
    ) -> Result<HashMap<HandleT, Operation>> {
        let mut changed: HashMap<HandleT, Operation> = HashMap::new();
        for (handle, attributes) in set {
            if !changed.contains_key(handle) {
                let mut operation = self.operation(*handle)?.clone();
                first((*handle, &mut operation))?;
                changed.insert(*handle, operation);
            }
            if let Some(operation) = changed.get_mut(handle) {
                give(operation, attributes)?;
            }
        }
        Ok(changed)
    }

    /// Returns the first dependency of these values that is not removed.
    fn find(&self, wanted: &DependencyInfo) -> Result<Dependency> {
        let range = Dependency::of_info(wanted, 0)..=Dependency::of_info(wanted, u64::MAX);
        let drafted = &self.changes.dependencies;
        let kept = self.state.dependencies.range(range.clone());
        let kept = kept
            .map(|(dependency, _)| dependency)
            .find(|dependency| !drafted.contains_key(dependency));
        let mut added = drafted.range(range).filter(|(_, state)| state.is_some());
        let added = added.next().map(|(dependency, _)| dependency);
        let first = kept.into_iter().chain(added).min();
        first.copied().ok_or(Refusal::UnknownDependency(
            wanted.rt_info,
            wanted.rt_info_depended_on,
        ))
    }
}

/// Removes what clients have set, but for the name.
fn forget(operation: &mut Operation) {
    operation.attributes = Attributes::default();
    operation.rates.clear();
    operation.place.clear();
}

/// Gives an operation attributes, enables it, and adds the period to its rates.
fn give(operation: &mut Operation, attributes: &Attributes) -> Result<()> {
    check(attributes)?;
    operation.attributes = attributes.clone();
    if operation.enabled == Enabled::RtInfoDisabled {
        operation.enabled = Enabled::RtInfoEnabled;
    }
    let rate = Rate {
        period: attributes.period,
        worst_case_execution_time: attributes.worst_case_execution_time,
    };
    if rate.period == 0 {
        return Ok(());
    }
    let rates = &mut operation.rates;
    match rates.binary_search_by(|one| rate.period.cmp(&one.period)) {
        Ok(at) => rates[at] = rate,
        Err(_) if rates.len() >= MOST_RATES => {
            let limit = format!("{MOST_RATES} rates of an operation");
            return Err(Refusal::LimitExceeded(limit));
        }
        Err(at) => rates.insert(at, rate),
    }
    Ok(())
}
