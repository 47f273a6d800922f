//! Interfaces of typed channels: where they are described, and which of them are refused.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use punctual::{
    Any, Interface, ListenEndpoint, OperationError, Orb, RootPoa, SystemExceptionKind as Kind,
};
use punctual_cosevent::cos_life_cycle::NameValuePair;
use punctual_cosevent::cos_typed_event_channel_admin::{
    TypedConsumerAdminObtainTypedPullSupplierError as PullSupplierError,
    TypedConsumerAdminObtainTypedPushSupplierError as PushSupplierError, TypedEventChannel,
    TypedSupplierAdminObtainTypedPullConsumerError as PullConsumerError,
    TypedSupplierAdminObtainTypedPushConsumerError as PushConsumerError,
};
use punctual_cosevent::openorb_event::EventChannelFactoryCreateChannelError as CreateChannelError;
use punctual_cosevent::{EventInterfaces, EventService, Limits};
use punctual_host::Service;
use punctual_ifr::{InterfaceRepository, RepositoryServer};
use punctual_naming_client::cos_naming::NameComponent;

use crate::plant::{Alarms, Gauge, PullDoors, Pump, Valve};
use crate::support::{Program, Served, exists, limits};
use crate::typed::{
    alarms, consumers, interfaces, memo, notes, panel, pulls, pulls_alarms, served, suppliers,
};

const HERE: &str = "IDL:punctual.test/plant/Here:1.0";

#[test]
fn interfaces_that_are_unknown_or_return_something_are_refused() {
    let (served, program) = (served(), Program::new());
    let (suppliers, consumers) = (suppliers(&served, &program), consumers(&served, &program));
    for id in [
        "IDL:punctual.test/plant/Unknown:1.0",
        "",
        "\u{1b}[2J",
        Valve::REPOSITORY_ID,
        Pump::REPOSITORY_ID,
        Gauge::REPOSITORY_ID,
        HERE,
    ] {
        let refused = suppliers.obtain_typed_push_consumer(id).unwrap_err();
        let is_refused = matches!(refused, PushConsumerError::InterfaceNotSupported(_));
        assert!(is_refused, "{id}: {refused}");
        let refused = consumers.obtain_typed_push_supplier(id).unwrap_err();
        let is_refused = matches!(refused, PushSupplierError::NoSuchImplementation(_));
        assert!(is_refused, "{id}: {refused}");
    }
    assert_eq!(served.service.size(), (2, 0));
    alarms(&served, &program);
}

#[test]
fn interfaces_to_pull_by_are_those_of_interfaces_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("more.idl");
    // Each event of maps is larger than the service takes. Nothing describes `PullMarks`, and `PullBells` lacks an operation.
    let idl = "typedef long Plane[512][1024];
        interface Maps { void drawn(in Plane plane); };
        interface Marks { void marked(in string place); };
        interface Bells { void rung(); };
        interface PullBells { void pull_rung(); };
        interface Custom { void done(); };
        typeid Custom \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\";";
    std::fs::write(&file, idl).unwrap();
    let mut all = interfaces();
    all.add_idl(&file, &[]).unwrap();
    let service = EventService::in_memory();
    service.set_limits(limits());
    service.set_interfaces(all);
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let (suppliers, consumers) = (suppliers(&served, &program), consumers(&served, &program));
    for id in [
        Alarms::REPOSITORY_ID,
        PullDoors::REPOSITORY_ID,
        "IDL:punctual.test/plant/PullUnknown:1.0",
        "IDL:punctual.test/plant/PullValve:1.0",
        "IDL:punctual.test/plant/PullAlarms:2.0",
        "IDL:punctual.test/plant/Pull:1.0",
        "IDL:PullMaps:1.0",
        "IDL:PullBells:1.0",
        "IDL:PullCustom:1.0",
        "DCE:Pull700dc518-0110-11ce-ac8f-0800090b5d3e:1",
        "Pull",
        "IDL:é",
        "",
    ] {
        let refused = consumers.obtain_typed_pull_supplier(id).unwrap_err();
        let is_refused = matches!(refused, PullSupplierError::InterfaceNotSupported(_));
        assert!(is_refused, "{id}: {refused}");
        let refused = suppliers.obtain_typed_pull_consumer(id).unwrap_err();
        let is_refused = matches!(refused, PullConsumerError::NoSuchImplementation(_));
        assert!(is_refused, "{id}: {refused}");
    }
    assert_eq!(served.service.size(), (2, 0));
    pulls_alarms(&served, &program);
    let marks = pulls(&served, &program, "IDL:PullMarks:1.0");
    let object = marks.get_typed_supplier().unwrap().unwrap();
    assert!(object.is_a("IDL:PullMarks:1.0").unwrap());
}

#[test]
fn a_service_that_knows_no_interface_has_no_typed_channel() {
    let served = Served::new();
    assert!(served.typed_channel.is_none());
    assert_eq!(served.service.size(), (1, 0));
}

#[test]
fn idl_that_does_not_compile_is_refused_with_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.idl");
    std::fs::write(&file, "interface Wrong { void said(in Text text); };").unwrap();
    let mut interfaces = EventInterfaces::default();
    let messages = interfaces.add_idl(&file, &[]).unwrap_err();
    assert!(messages.contains("`Text`"), "{messages}");
    assert!(messages.contains("wrong.idl"), "{messages}");
}

#[test]
fn interfaces_that_are_declared_and_not_defined_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("later.idl");
    std::fs::write(&file, "interface Later; interface Now { void said(); };").unwrap();
    let mut interfaces = EventInterfaces::default();
    interfaces.add_idl(&file, &[]).unwrap();
    let ids = interfaces.described.iter().map(|one| one.id.as_str());
    assert_eq!(ids.collect::<Vec<_>>(), ["IDL:Now:1.0"]);
}

/// Returns a service that asks a repository.
fn asking(repository: String, limits: Limits) -> Served {
    let service = EventService::in_memory();
    service.set_limits(limits);
    service.set_interfaces(EventInterfaces {
        repository: Some(repository),
        ..EventInterfaces::default()
    });
    Served::of(service, ("127.0.0.1", 0))
}

#[test]
fn interfaces_of_a_repository_are_supported() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/idl/plant.idl");
    let compiled = punctual_idl::compile(Path::new(file), &punctual_idl::Options::default());
    let repository = InterfaceRepository::in_memory();
    repository.load(&compiled.unwrap().specification).unwrap();
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    let server = RepositoryServer {
        repository,
        is_writable: false,
    };
    let reference = Service::serve(&server, &poa).unwrap();
    poa.manager().activate().unwrap();
    let reference = orb.object_to_string(&reference).unwrap();

    let (served, program) = (asking(reference, limits()), Program::new());
    let (_, panel, _) = panel(&served, &program);
    let supplier = alarms(&served, &program);
    supplier.cleared("t1", "well").unwrap();
    supplier.beat(1).unwrap();
    assert_eq!(panel.wait_for(2), ["cleared t1 well", "beat 1"]);
    let (_, pulls) = pulls_alarms(&served, &program);
    supplier.beat(6).unwrap();
    assert_eq!(pulls.pull_beat().unwrap(), 6);
    panel.wait_for(3);
    let (noted, supplier) = notes(&served, &program);
    supplier.noted(Some(&memo()), Some(&memo())).unwrap();
    assert_eq!(noted.wait_for(1), ["noted 3 one one"]);
    let suppliers = suppliers(&served, &program);
    for id in ["IDL:nowhere:1.0", Valve::REPOSITORY_ID] {
        let refused = suppliers.obtain_typed_push_consumer(id).unwrap_err();
        assert!(matches!(
            refused,
            PushConsumerError::InterfaceNotSupported(_)
        ));
    }
    // Known from now on.
    orb.shutdown(true).unwrap();
    alarms(&served, &program).beat(2).unwrap();
    assert_eq!(panel.wait_for(4)[3], "beat 2");
}

#[test]
fn a_repository_that_does_not_answer_delays_no_other() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let place = silent.local_addr().unwrap();
    let timeout = Duration::from_millis(50);
    let served = asking(
        format!("corbaloc:iiop:{place}/InterfaceRepository"),
        Limits {
            call_timeout: timeout,
            ..limits()
        },
    );
    let program = Program::new();
    let suppliers = suppliers(&served, &program);
    let refused = suppliers
        .obtain_typed_push_consumer(Alarms::REPOSITORY_ID)
        .unwrap_err();
    let refused = refused.system().unwrap();
    assert!(
        matches!(refused.kind(), Kind::Timeout | Kind::Transient),
        "{refused}"
    );
    let pushes = suppliers.obtain_push_consumer().unwrap().unwrap();
    pushes.connect_push_supplier(None).unwrap();
    pushes.push(&crate::support::event(1)).unwrap();
}

#[test]
fn the_factory_makes_typed_channels_of_a_service_that_knows_interfaces() {
    let (served, program) = (served(), Program::new());
    let key = [NameComponent {
        id: "TypedEventChannel".to_owned(),
        kind: "object interface".to_owned(),
    }];
    let factory = program.see(&served.factory);
    assert!(factory.supports(&key).unwrap());
    let named = [NameValuePair {
        name: "InsName".to_owned(),
        value: Any::new("plant").unwrap(),
    }];
    let made = factory.create_object(&key, &named).unwrap().unwrap();
    let made = TypedEventChannel::narrow(made).unwrap();
    let admin = made.for_suppliers().unwrap().unwrap();
    let proxy = admin.obtain_typed_push_consumer(Alarms::REPOSITORY_ID);
    assert!(proxy.unwrap().is_some());
    assert_eq!(served.service.size(), (3, 1));
    assert!(factory.join_channel("plant").is_err(), "it is typed");
    made.destroy().unwrap();
    assert!(!exists(&made));
    assert_eq!(served.service.size(), (2, 0));
    let taken = factory.create_channel("TypedEventChannel").unwrap_err();
    assert!(matches!(taken, CreateChannelError::NameAlreadyUsed(_)));
    let without = Served::new();
    assert!(!without.factory.supports(&key).unwrap());
}
