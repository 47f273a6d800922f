//! Names and numbers of the standard's IDL, as literals.

use punctual::{Interface, Typed};
use punctual_log::ds_log_admin as idl;

use crate::support::Served;

#[test]
fn repository_ids_are_those_of_the_standard() {
    let served = Served::new();
    let log = served.log();
    let manager = log.log_factory().unwrap().unwrap();
    for (object, id) in [
        (log.as_object(), "IDL:omg.org/DsLogAdmin/Log:1.0"),
        (log.as_object(), "IDL:omg.org/DsLogAdmin/BasicLog:1.0"),
        (manager.as_object(), "IDL:omg.org/DsLogAdmin/LogMgr:1.0"),
        (
            served.factory.as_object(),
            "IDL:omg.org/DsLogAdmin/BasicLogFactory:1.0",
        ),
    ] {
        assert!(object.is_a(id).unwrap(), "{id}");
    }
    let iterator = idl::Iterator::type_code();
    assert_eq!(
        iterator.id().unwrap(),
        "IDL:omg.org/DsLogAdmin/Iterator:1.0"
    );
    for (type_code, name) in [
        (idl::LogRecord::type_code(), "LogRecord"),
        (idl::NvPair::type_code(), "NVPair"),
        (idl::TimeInterval::type_code(), "TimeInterval"),
        (idl::AvailabilityStatus::type_code(), "AvailabilityStatus"),
        (idl::WeekMaskItem::type_code(), "WeekMaskItem"),
        (idl::Time24Interval::type_code(), "Time24Interval"),
        (idl::OperationalState::type_code(), "OperationalState"),
        (idl::AdministrativeState::type_code(), "AdministrativeState"),
        (idl::ForwardingState::type_code(), "ForwardingState"),
        (idl::LogFull::type_code(), "LogFull"),
        (idl::InvalidAttribute::type_code(), "InvalidAttribute"),
        (idl::UnsupportedQoS::type_code(), "UnsupportedQoS"),
    ] {
        let id = format!("IDL:omg.org/DsLogAdmin/{name}:1.0");
        assert_eq!(type_code.id().unwrap(), id);
        assert_eq!(type_code.name().unwrap(), name);
    }
}

#[test]
fn constants_are_those_of_the_standard() {
    assert_eq!((idl::WRAP, idl::HALT), (0, 1));
    let days = [
        idl::SUNDAY,
        idl::MONDAY,
        idl::TUESDAY,
        idl::WEDNESDAY,
        idl::THURSDAY,
        idl::FRIDAY,
        idl::SATURDAY,
    ];
    assert_eq!(days, [1, 2, 4, 8, 16, 32, 64]);
    let qos = [idl::QO_S_NONE, idl::QO_S_FLUSH, idl::QO_S_RELIABILITY];
    assert_eq!(qos, [0, 1, 2]);
    assert_eq!(idl::DEFAULT_GRAMMAR, "EXTENDED_TCL");
    assert_eq!(idl::OperationalState::Disabled as u32, 0);
    assert_eq!(idl::AdministrativeState::Locked as u32, 0);
    assert_eq!(idl::ForwardingState::On as u32, 0);
}
