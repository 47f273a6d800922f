//! Servant of the scheduler's object.

use punctual::poa::{IdAssignmentPolicy, LifespanPolicy, PoaPolicy};
use punctual::{ObjectId, Poa};
use punctual_host::ServeError;

use crate::kept::{Attributes, Place};
use crate::planning::Priorities;
use crate::refusal::Refusal;
use crate::rtec_base::DependencyInfo;
use crate::rtec_scheduler::{
    ConfigInfo, ConfigInfoSet, CriticalityT, DependencyEnabledTypeT, DependencySet,
    DependencyTypeT, DispatchingTypeT, HandleT, ImportanceT, InfoTypeT, OsPriority, PeriodT,
    PreemptionPriorityT, PreemptionSubpriorityT, QuantumT, RtInfo, RtInfoEnableStatePair,
    RtInfoEnabledTypeT, RtInfoSet, Scheduler, SchedulerAddDependencyError,
    SchedulerComputeSchedulingError, SchedulerCreateError, SchedulerDispatchConfigurationError,
    SchedulerEntryPointPriorityError, SchedulerGetConfigInfoSetError, SchedulerGetConfigInfosError,
    SchedulerGetDependencySetError, SchedulerGetError, SchedulerGetRtInfoSetError,
    SchedulerLastScheduledPriorityError, SchedulerLookupError, SchedulerPriorityError,
    SchedulerRecomputeSchedulingError, SchedulerRemoveDependencyError, SchedulerReplaceSeqError,
    SchedulerResetError, SchedulerResetSeqError, SchedulerServant,
    SchedulerSetDependencyEnableStateError, SchedulerSetDependencyEnableStateSeqError,
    SchedulerSetError, SchedulerSetRtInfoEnableStateError, SchedulerSetRtInfoEnableStateSeqError,
    SchedulerSetSeqError, SchedulingAnomalySet, ThreadsT, Time,
};
use crate::service::SchedulingService;
use crate::state::State;

/// Id of the scheduler's object, and name of its adapter.
const OBJECT: &str = "Scheduler";

impl SchedulingService {
    /// Serves the scheduler by an adapter below `parent`, which requests reach through its manager. If
    /// the ORB's endpoints stay the same, so does the reference.
    ///
    /// # Errors
    /// The adapter cannot be made: its name is taken.
    pub fn serve(&self, parent: &Poa) -> Result<Scheduler, ServeError> {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        ];
        let poa = parent.create_poa(OBJECT, Some(parent.manager()), &policies);
        let poa = poa.map_err(ServeError::of::<Self>)?;
        let object = poa.activate_with_id(&ObjectId::from(OBJECT.as_bytes()), self.clone());
        object.map_err(ServeError::of::<Self>)
    }

    fn infos(infos: &[RtInfo]) -> Vec<(HandleT, Attributes)> {
        let set = infos.iter();
        set.map(|info| (info.handle, Attributes::from(info)))
            .collect()
    }
}

/// Native priority, sub-priority and level.
type Parts = (OsPriority, PreemptionSubpriorityT, PreemptionPriorityT);

/// Returns a place as the operations of the interface return it.
const fn parts(place: &Place) -> Parts {
    (place.priority, place.subpriority, place.level)
}

/// Returns the enabled dependency that the parameters of an operation describe.
const fn info(handle: HandleT, on: HandleT, calls: i32, kind: DependencyTypeT) -> DependencyInfo {
    DependencyInfo {
        dependency_type: kind,
        number_of_calls: calls,
        rt_info: handle,
        rt_info_depended_on: on,
        enabled: DependencyEnabledTypeT::DependencyEnabled,
    }
}

impl SchedulerServant for SchedulingService {
    fn create(&self, entry_point: &str) -> Result<HandleT, SchedulerCreateError> {
        let name = entry_point.to_owned();
        Ok(self.change(move |draft| draft.create(name))?)
    }

    fn lookup(&self, entry_point: &str) -> Result<HandleT, SchedulerLookupError> {
        Ok(self.look(|state| state.lookup(entry_point))?)
    }

    fn get(&self, handle: HandleT) -> Result<RtInfo, SchedulerGetError> {
        Ok(self.look(|state| state.info(handle))?)
    }

    fn set(
        &self,
        handle: HandleT,
        criticality: CriticalityT,
        wc_time: Time,
        typical_time: Time,
        cached_time: Time,
        period: PeriodT,
        importance: ImportanceT,
        quantum: QuantumT,
        threads: ThreadsT,
        info_type: InfoTypeT,
    ) -> Result<(), SchedulerSetError> {
        let attributes = Attributes {
            criticality,
            worst_case_execution_time: wc_time,
            typical_execution_time: typical_time,
            cached_execution_time: cached_time,
            period,
            importance,
            quantum,
            threads,
            info_type,
        };
        Ok(self.change(move |draft| draft.set(&[(handle, attributes)]))?)
    }

    fn reset(
        &self,
        handle: HandleT,
        criticality: CriticalityT,
        wc_time: Time,
        typical_time: Time,
        cached_time: Time,
        period: PeriodT,
        importance: ImportanceT,
        quantum: QuantumT,
        threads: ThreadsT,
        info_type: InfoTypeT,
    ) -> Result<(), SchedulerResetError> {
        let attributes = Attributes {
            criticality,
            worst_case_execution_time: wc_time,
            typical_execution_time: typical_time,
            cached_execution_time: cached_time,
            period,
            importance,
            quantum,
            threads,
            info_type,
        };
        Ok(self.change(move |draft| draft.reset(&[(handle, attributes)]))?)
    }

    fn set_seq(&self, infos: &[RtInfo]) -> Result<(), SchedulerSetSeqError> {
        let infos = Self::infos(infos);
        Ok(self.change(move |draft| draft.set(&infos))?)
    }

    fn reset_seq(&self, infos: &[RtInfo]) -> Result<(), SchedulerResetSeqError> {
        let infos = Self::infos(infos);
        Ok(self.change(move |draft| draft.reset(&infos))?)
    }

    fn replace_seq(&self, infos: &[RtInfo]) -> Result<(), SchedulerReplaceSeqError> {
        let infos = Self::infos(infos);
        Ok(self.change(move |draft| draft.replace(&infos))?)
    }

    fn add_dependency(
        &self,
        handle: HandleT,
        dependency: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), SchedulerAddDependencyError> {
        let info = info(handle, dependency, number_of_calls, dependency_type);
        Ok(self.change(move |draft| draft.depend(&info))?)
    }

    fn remove_dependency(
        &self,
        handle: HandleT,
        dependency: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
    ) -> Result<(), SchedulerRemoveDependencyError> {
        let info = info(handle, dependency, number_of_calls, dependency_type);
        Ok(self.change(move |draft| draft.remove(&info))?)
    }

    fn set_dependency_enable_state(
        &self,
        handle: HandleT,
        dependency: HandleT,
        number_of_calls: i32,
        dependency_type: DependencyTypeT,
        enabled: DependencyEnabledTypeT,
    ) -> Result<(), SchedulerSetDependencyEnableStateError> {
        let info = DependencyInfo {
            enabled,
            ..info(handle, dependency, number_of_calls, dependency_type)
        };
        Ok(self.change(move |draft| draft.enable_dependencies(&[info]))?)
    }

    fn set_dependency_enable_state_seq(
        &self,
        dependencies: &[DependencyInfo],
    ) -> Result<(), SchedulerSetDependencyEnableStateSeqError> {
        let infos = dependencies.to_vec();
        Ok(self.change(move |draft| draft.enable_dependencies(&infos))?)
    }

    fn set_rt_info_enable_state(
        &self,
        handle: HandleT,
        enabled: RtInfoEnabledTypeT,
    ) -> Result<(), SchedulerSetRtInfoEnableStateError> {
        Ok(self.change(move |draft| draft.enable(&[(handle, enabled)]))?)
    }

    fn set_rt_info_enable_state_seq(
        &self,
        pair_set: &[RtInfoEnableStatePair],
    ) -> Result<(), SchedulerSetRtInfoEnableStateSeqError> {
        let pairs = pair_set.iter().map(|pair| (pair.handle, pair.enabled));
        let pairs: Vec<_> = pairs.collect();
        Ok(self.change(move |draft| draft.enable(&pairs))?)
    }

    fn priority(&self, handle: HandleT) -> Result<Parts, SchedulerPriorityError> {
        Ok(self.look(|state| state.place(handle).map(|place| parts(&place)))?)
    }

    fn entry_point_priority(
        &self,
        entry_point: &str,
    ) -> Result<Parts, SchedulerEntryPointPriorityError> {
        let place = self.look(|state| state.place(state.lookup(entry_point)?));
        Ok(place.map(|place| parts(&place))?)
    }

    fn compute_scheduling(
        &self,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<
        (
            RtInfoSet,
            DependencySet,
            ConfigInfoSet,
            SchedulingAnomalySet,
        ),
        SchedulerComputeSchedulingError,
    > {
        let anomalies = self.compute(Priorities {
            minimum: minimum_priority,
            maximum: maximum_priority,
        })?;
        Ok(self.look(|state| {
            let (infos, dependencies) = (state.infos(), state.dependency_infos());
            (infos, dependencies, state.queues.clone(), anomalies)
        }))
    }

    fn recompute_scheduling(
        &self,
        minimum_priority: i32,
        maximum_priority: i32,
    ) -> Result<SchedulingAnomalySet, SchedulerRecomputeSchedulingError> {
        Ok(self.compute(Priorities {
            minimum: minimum_priority,
            maximum: maximum_priority,
        })?)
    }

    fn get_rt_info_set(&self) -> Result<RtInfoSet, SchedulerGetRtInfoSetError> {
        let _making = self.makers().make();
        Ok(self.look(State::infos))
    }

    fn get_dependency_set(&self) -> Result<DependencySet, SchedulerGetDependencySetError> {
        let _making = self.makers().make();
        Ok(self.look(State::dependency_infos))
    }

    fn get_config_info_set(&self) -> Result<ConfigInfoSet, SchedulerGetConfigInfoSetError> {
        Ok(self.look(|state| state.queues.clone()))
    }

    fn dispatch_configuration(
        &self,
        p_priority: PreemptionPriorityT,
    ) -> Result<(OsPriority, DispatchingTypeT), SchedulerDispatchConfigurationError> {
        Ok(self.look(|state| {
            let level = usize::try_from(p_priority).unwrap_or(usize::MAX);
            let queue = state.scheduled()?.get(level);
            let queue = queue.ok_or(Refusal::UnknownLevel(p_priority))?;
            Ok::<_, Refusal>((queue.thread_priority, queue.dispatching_type))
        })?)
    }

    fn last_scheduled_priority(
        &self,
    ) -> Result<PreemptionPriorityT, SchedulerLastScheduledPriorityError> {
        Ok(self.look(|state| {
            let last = state.scheduled()?.last();
            last.map(|queue| queue.preemption_priority)
                .ok_or(Refusal::NotScheduled)
        })?)
    }

    fn get_config_infos(&self) -> Result<ConfigInfoSet, SchedulerGetConfigInfosError> {
        Ok(self.look(|state| state.scheduled().map(<[ConfigInfo]>::to_vec))?)
    }
}
