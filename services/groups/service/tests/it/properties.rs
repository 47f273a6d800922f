//! Properties: of all types, of one, of a group; which are supported, and which values.

use punctual::{Any, SystemExceptionKind};
use punctual_groups_client::cos_load_balancing::StrategyInfo;
use punctual_groups_client::portable_group::{
    Property, PropertyManagerRemoveDefaultPropertiesError,
    PropertyManagerSetDefaultPropertiesError, PropertyManagerSetPropertiesDynamicallyError,
    PropertyManagerSetTypePropertiesError,
};
use punctual_groups_service::ft;

use crate::support::{Served, TYPE, property};

fn style(value: i32) -> Property {
    property("org.omg.ft.ReplicationStyle", Any::new(&value).unwrap())
}

fn minimum(value: u16) -> Property {
    property(
        "org.omg.ft.MinimumNumberReplicas",
        Any::new(&value).unwrap(),
    )
}

#[test]
fn a_groups_properties_go_before_those_of_its_type_and_these_before_the_defaults() {
    let served = Served::new();
    let manager = &served.replication;
    manager
        .set_default_properties(&[minimum(1), style(ft::WARM_PASSIVE)])
        .unwrap();
    manager.set_type_properties(TYPE, &[minimum(2)]).unwrap();
    let (group, _) = manager.create_object(TYPE, &[]).unwrap();
    let shown = |expected: u16| {
        let all = manager.get_properties(group.as_ref()).unwrap();
        assert_eq!(all, [minimum(expected), style(ft::WARM_PASSIVE)]);
    };
    shown(2);
    manager
        .set_properties_dynamically(group.as_ref(), &[minimum(3)])
        .unwrap();
    shown(3);
    assert_eq!(
        manager.get_default_properties().unwrap(),
        [minimum(1), style(ft::WARM_PASSIVE)]
    );
    assert_eq!(
        manager.get_type_properties(TYPE).unwrap(),
        [minimum(2), style(ft::WARM_PASSIVE)]
    );
    assert_eq!(
        served.replication.list(0, 100).unwrap()[0].style,
        "warm-passive"
    );
    // Properties are removed by their names.
    manager.remove_default_properties(&[style(0)]).unwrap();
    assert_eq!(
        served.replication.list(0, 100).unwrap()[0].style,
        "stateless"
    );
    manager.remove_type_properties(TYPE, &[minimum(0)]).unwrap();
    assert_eq!(manager.get_type_properties(TYPE).unwrap(), [minimum(1)]);
    assert_eq!(
        manager.get_properties(group.as_ref()).unwrap(),
        [minimum(3)]
    );
}

#[test]
fn unsupported_styles_are_refused_by_name_and_nonsense_is_invalid() {
    let served = Served::new();
    let manager = &served.replication;
    for unsupported in [
        style(ft::ACTIVE_WITH_VOTING),
        property(
            "org.omg.ft.FaultMonitoringGranularity",
            Any::new(&ft::LOC).unwrap(),
        ),
        property("org.example.Colour", Any::new(&1_i32).unwrap()),
        property("", Any::default()),
        property(&"org.omg.ft.".repeat(1_000), Any::default()),
    ] {
        let refused = manager.set_default_properties(std::slice::from_ref(&unsupported));
        let Err(PropertyManagerSetDefaultPropertiesError::UnsupportedProperty(raised)) = refused
        else {
            panic!("{unsupported:?}: {refused:?}");
        };
        assert_eq!(raised.nam, unsupported.nam);
        let removed =
            manager.remove_default_properties(&[property("org.example.Colour", Any::default())]);
        assert!(matches!(
            removed,
            Err(PropertyManagerRemoveDefaultPropertiesError::UnsupportedProperty(_))
        ));
    }
    let strategy = |name: &str, props: Vec<Property>| {
        let info = StrategyInfo {
            name: name.to_owned(),
            props,
        };
        property(
            "org.omg.CosLoadBalancing.StrategyInfo",
            Any::new(&info).unwrap(),
        )
    };
    let tolerance = property(
        "org.omg.CosLoadBalancing.Strategy.LoadAverage.Tolerance",
        Any::new(&0.5_f32).unwrap(),
    );
    for invalid in [
        style(-1),
        property("org.omg.ft.ReplicationStyle", Any::new("warm").unwrap()),
        property("org.omg.ft.MembershipStyle", Any::new(&2_i32).unwrap()),
        property(
            "org.omg.ft.InitialNumberReplicas",
            Any::new(&60_000_u16).unwrap(),
        ),
        property("org.omg.ft.MinimumNumberReplicas", Any::default()),
        property("org.omg.ft.CheckpointInterval", Any::new(&1_u64).unwrap()),
        property("org.omg.ft.Factories", Any::new(&7_i32).unwrap()),
        property(
            "org.omg.ft.FaultMonitoringIntervalAndTimeout",
            Any::new(&7_u64).unwrap(),
        ),
        property(
            "org.omg.CosLoadBalancing.CustomStrategy",
            Any::new(&7_i32).unwrap(),
        ),
        strategy("Fairest", Vec::new()),
        strategy("LoadAverage", vec![tolerance]),
    ] {
        let refused = manager.set_type_properties(TYPE, std::slice::from_ref(&invalid));
        let Err(PropertyManagerSetTypePropertiesError::InvalidProperty(raised)) = refused else {
            panic!("{invalid:?}: {refused:?}");
        };
        assert_eq!(raised.nam, invalid.nam);
    }
    assert!(manager.get_type_properties(TYPE).unwrap().is_empty());
}

#[test]
fn values_of_other_integer_types_are_taken_as_clients_give_them() {
    let served = Served::new();
    let (group, _) = served.group("", "");
    let short = property("org.omg.ft.ReplicationStyle", Any::new(&2_u16).unwrap());
    served
        .replication
        .set_properties_dynamically(Some(&group), &[short])
        .unwrap();
    assert_eq!(
        served.replication.list(0, 100).unwrap()[0].style,
        "warm-passive"
    );
    let nowhere = served
        .replication
        .set_properties_dynamically(None, &[style(0)]);
    assert!(matches!(
        nowhere,
        Err(PropertyManagerSetPropertiesDynamicallyError::ObjectGroupNotFound(_))
    ));
}

#[test]
fn properties_are_bounded_in_number_in_bytes_and_in_types() {
    let served = Served::with(|limits| {
        limits.properties = 2;
        limits.property_bytes = 1_000;
        limits.types = 1;
    });
    let manager = &served.replication;
    let limit = |set: Result<(), PropertyManagerSetTypePropertiesError>| match set {
        Err(PropertyManagerSetTypePropertiesError::System(exception)) => {
            assert_eq!(exception.kind(), SystemExceptionKind::ImpLimit);
        }
        other => panic!("{other:?}"),
    };
    let initial = property(
        "org.omg.ft.InitialNumberReplicas",
        Any::new(&1_u16).unwrap(),
    );
    limit(manager.set_type_properties(TYPE, &[minimum(1), style(0), initial]));
    let long = StrategyInfo {
        name: "RoundRobin".to_owned(),
        props: Vec::new(),
    };
    let infos = property(
        "org.omg.CosLoadBalancing.StrategyInfo",
        Any::new(&long).unwrap(),
    );
    manager
        .set_type_properties(TYPE, &[infos, minimum(1)])
        .unwrap();
    limit(manager.set_type_properties("IDL:Other:1.0", &[minimum(1)]));
    assert!(manager.set_type_properties("", &[minimum(1)]).is_err());
    assert!(
        manager
            .set_type_properties(&"x".repeat(100_000), &[minimum(1)])
            .is_err()
    );
}
