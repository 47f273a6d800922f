//! The interface: names, repository ids and wire order of TAO 2.2.1, and compilers that accept its IDL.

use std::path::Path;
use std::process::Command;

use punctual::any::TypeKind;
use punctual::{Interface, Typed};
use punctual_idl::model::Specification;
use punctual_idl::{Options, compile};
use punctual_scheduler::rtec_base::{DependencyEnabledTypeT, DependencyInfo, DependencyTypeT};
use punctual_scheduler::rtec_scheduler as idl;
use punctual_scheduler::rtec_scheduler::{
    AnomalySeverity, ConfigInfo, CriticalityT, DispatchingTypeT, ImportanceT, InfoTypeT, RtInfo,
    RtInfoEnableStatePair, RtInfoEnabledTypeT, Scheduler, SchedulingAnomaly,
};

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/idl");

/// Operations of the interface, in the order of TAO's IDL.
pub(crate) const OPERATIONS: [&str; 24] = [
    "create",
    "lookup",
    "get",
    "set",
    "reset",
    "set_seq",
    "reset_seq",
    "replace_seq",
    "add_dependency",
    "remove_dependency",
    "set_dependency_enable_state",
    "set_dependency_enable_state_seq",
    "set_rt_info_enable_state",
    "set_rt_info_enable_state_seq",
    "priority",
    "entry_point_priority",
    "compute_scheduling",
    "recompute_scheduling",
    "get_rt_info_set",
    "get_dependency_set",
    "get_config_info_set",
    "dispatch_configuration",
    "last_scheduled_priority",
    "get_config_infos",
];

pub(crate) fn specification() -> Specification {
    let file = Path::new(FOLDER).join("RtecScheduler.idl");
    let options = Options {
        include_dirs: vec![FOLDER.into()],
        ..Options::default()
    };
    let compiled = compile(&file, &options);
    compiled.unwrap().specification
}

#[test]
fn repository_ids_are_those_of_tao() {
    assert_eq!(Scheduler::REPOSITORY_ID, "IDL:RtecScheduler/Scheduler:1.0");
    let id = |of: &punctual::TypeCode| of.id().unwrap().to_owned();
    for (code, expected) in [
        (
            DependencyTypeT::type_code(),
            "IDL:RtecBase/Dependency_Type_t:1.0",
        ),
        (
            DependencyEnabledTypeT::type_code(),
            "IDL:RtecBase/Dependency_Enabled_Type_t:1.0",
        ),
        (
            DependencyInfo::type_code(),
            "IDL:RtecBase/Dependency_Info:1.0",
        ),
        (
            CriticalityT::type_code(),
            "IDL:RtecScheduler/Criticality_t:1.0",
        ),
        (
            ImportanceT::type_code(),
            "IDL:RtecScheduler/Importance_t:1.0",
        ),
        (InfoTypeT::type_code(), "IDL:RtecScheduler/Info_Type_t:1.0"),
        (
            RtInfoEnabledTypeT::type_code(),
            "IDL:RtecScheduler/RT_Info_Enabled_Type_t:1.0",
        ),
        (
            RtInfoEnableStatePair::type_code(),
            "IDL:RtecScheduler/RT_Info_Enable_State_Pair:1.0",
        ),
        (RtInfo::type_code(), "IDL:RtecScheduler/RT_Info:1.0"),
        (
            DispatchingTypeT::type_code(),
            "IDL:RtecScheduler/Dispatching_Type_t:1.0",
        ),
        (ConfigInfo::type_code(), "IDL:RtecScheduler/Config_Info:1.0"),
        (
            AnomalySeverity::type_code(),
            "IDL:RtecScheduler/Anomaly_Severity:1.0",
        ),
        (
            SchedulingAnomaly::type_code(),
            "IDL:RtecScheduler/Scheduling_Anomaly:1.0",
        ),
        (
            idl::DuplicateName::type_code(),
            "IDL:RtecScheduler/DUPLICATE_NAME:1.0",
        ),
        (
            idl::UnknownTask::type_code(),
            "IDL:RtecScheduler/UNKNOWN_TASK:1.0",
        ),
        (
            idl::NotScheduled::type_code(),
            "IDL:RtecScheduler/NOT_SCHEDULED:1.0",
        ),
        (
            idl::UtilizationBoundExceeded::type_code(),
            "IDL:RtecScheduler/UTILIZATION_BOUND_EXCEEDED:1.0",
        ),
        (
            idl::InsufficientThreadPriorityLevels::type_code(),
            "IDL:RtecScheduler/INSUFFICIENT_THREAD_PRIORITY_LEVELS:1.0",
        ),
        (
            idl::TaskCountMismatch::type_code(),
            "IDL:RtecScheduler/TASK_COUNT_MISMATCH:1.0",
        ),
        (
            idl::UnknownPriorityLevel::type_code(),
            "IDL:RtecScheduler/UNKNOWN_PRIORITY_LEVEL:1.0",
        ),
        (
            idl::SynchronizationFailure::type_code(),
            "IDL:RtecScheduler/SYNCHRONIZATION_FAILURE:1.0",
        ),
        (idl::Internal::type_code(), "IDL:RtecScheduler/INTERNAL:1.0"),
        (
            idl::CyclicDependencies::type_code(),
            "IDL:RtecScheduler/CYCLIC_DEPENDENCIES:1.0",
        ),
        (
            idl::UnresolvedLocalDependencies::type_code(),
            "IDL:RtecScheduler/UNRESOLVED_LOCAL_DEPENDENCIES:1.0",
        ),
        (
            idl::ThreadSpecification::type_code(),
            "IDL:RtecScheduler/THREAD_SPECIFICATION:1.0",
        ),
    ] {
        assert_eq!(id(&code), expected);
    }
    // The prefix of the OMG's Time Service ends with its file.
    let time = RtInfo::type_code().member_type(2).unwrap();
    assert_eq!(id(&time), "IDL:RtecScheduler/Time:1.0");
    let of = time.content_type().unwrap();
    assert_eq!(id(&of), "IDL:omg.org/TimeBase/TimeT:1.0");
}

#[test]
fn members_have_the_names_order_and_types_of_tao() {
    let names = |code: &punctual::TypeCode| {
        let count = code.member_count().unwrap();
        let all = (0..count).map(|at| code.member_name(at).unwrap().to_owned());
        all.collect::<Vec<_>>()
    };
    let info = RtInfo::type_code();
    assert_eq!(
        names(&info),
        [
            "entry_point",
            "handle",
            "worst_case_execution_time",
            "typical_execution_time",
            "cached_execution_time",
            "period",
            "criticality",
            "importance",
            "quantum",
            "threads",
            "dependencies",
            "priority",
            "preemption_subpriority",
            "preemption_priority",
            "info_type",
            "enabled",
            "volatile_token",
        ]
    );
    let token = info.member_type(16).unwrap();
    assert_eq!(token.kind(), TypeKind::ULongLong);
    assert_eq!(
        names(&DependencyInfo::type_code()),
        [
            "dependency_type",
            "number_of_calls",
            "rt_info",
            "rt_info_depended_on",
            "enabled",
        ]
    );
    assert_eq!(
        names(&ConfigInfo::type_code()),
        [
            "preemption_priority",
            "thread_priority",
            "dispatching_type",
            "timer_periods",
        ]
    );
    assert_eq!(
        names(&SchedulingAnomaly::type_code()),
        ["description", "severity"]
    );
    assert_eq!(
        names(&AnomalySeverity::type_code()),
        [
            "ANOMALY_FATAL",
            "ANOMALY_ERROR",
            "ANOMALY_WARNING",
            "ANOMALY_NONE"
        ]
    );
}

#[test]
fn the_interface_has_the_operations_of_tao_in_their_order() {
    let specification = specification();
    let declared = punctual_idl_describe::interfaces(&specification)
        .next()
        .unwrap();
    let described = punctual_idl_describe::interface(&specification, declared.id).unwrap();
    let names: Vec<_> = described
        .operations
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, OPERATIONS);
}

#[test]
fn omniidl_accepts_the_idl() {
    let file = Path::new(FOLDER).join("RtecScheduler.idl");
    let mut omniidl = Command::new("omniidl");
    let output = omniidl.args(["-bdump", "-I", FOLDER]).arg(&file).output();
    let Ok(output) = output else {
        println!("skipped: omniidl is not installed (Debian: omniidl)");
        return;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors, "");
}
