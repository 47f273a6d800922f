//! Shared code of the tests: a scheduler in another ORB, and short forms of its operations.

use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_host::Service;
use punctual_scheduler::SchedulingService;
use punctual_scheduler::rtec_scheduler::{
    AnomalySeverity, CriticalityT, DependencyTypeT, ImportanceT, InfoTypeT, RtInfo, Scheduler,
};

/// Milliseconds in units of 100 ns.
pub(crate) const MS: i32 = 10_000;

/// A scheduler that is called by requests, until this is dropped.
pub(crate) struct Served {
    orb: Orb,
    pub(crate) scheduler: Scheduler,
}

impl Served {
    pub(crate) fn new(service: &SchedulingService) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let object = Service::serve(service, &poa).unwrap();
        let scheduler = Scheduler::from_object(object);
        Self { orb, scheduler }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

/// Attributes of an operation of medium criticality, in milliseconds.
pub(crate) fn info(handle: i32, wcet: i32, period: i32) -> RtInfo {
    RtInfo {
        handle,
        worst_case_execution_time: u64::try_from(wcet * MS).unwrap(),
        period: period * MS,
        criticality: CriticalityT::MediumCriticality,
        importance: ImportanceT::MediumImportance,
        info_type: InfoTypeT::Operation,
        ..RtInfo::default()
    }
}

/// Creates an operation with a worst-case execution time and a period in milliseconds.
pub(crate) fn created(scheduler: &Scheduler, name: &str, wcet: i32, period: i32) -> i32 {
    let handle = scheduler.create(name).unwrap();
    scheduler.set_seq(&[info(handle, wcet, period)]).unwrap();
    handle
}

/// Makes one operation call another.
pub(crate) fn call(scheduler: &Scheduler, caller: i32, called: i32, kind: DependencyTypeT) {
    let (handle, dependency) = match kind {
        DependencyTypeT::TwoWayCall => (caller, called),
        DependencyTypeT::OneWayCall => (called, caller),
    };
    scheduler
        .add_dependency(handle, dependency, 1, kind)
        .unwrap();
}

/// Computes a schedule; returns the severities and descriptions of its anomalies.
pub(crate) fn anomalies(scheduler: &Scheduler) -> Vec<(AnomalySeverity, String)> {
    let found = scheduler.recompute_scheduling(1, 99).unwrap();
    found
        .into_iter()
        .map(|anomaly| (anomaly.severity, anomaly.description))
        .collect()
}

/// Computes a schedule without anomalies.
pub(crate) fn computed(scheduler: &Scheduler) {
    assert_eq!(anomalies(scheduler), []);
}

/// Returns the native priority, the sub-priority and the level of an operation.
pub(crate) fn place(scheduler: &Scheduler, name: &str) -> (i32, i32, i32) {
    scheduler.entry_point_priority(name).unwrap()
}
