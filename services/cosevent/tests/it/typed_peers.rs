//! Peers of typed channels: their connections, their ends, their limits, and those that block, fail or are gone.

use std::net::TcpListener;

use punctual::{
    Interface, ObjectRef, OperationError, SystemException, SystemExceptionKind as Kind,
};
use punctual_cosevent::cos_event_channel_admin::ProxyPushSupplierConnectPushConsumerError as ConnectError;
use punctual_cosevent::cos_event_comm::{PullSupplier, PushConsumer, PushSupplier};
use punctual_cosevent::cos_typed_event_channel_admin::TypedEventChannel;
use punctual_cosevent::{EventService, Limits};
use punctual_host::access::Rules;
use punctual_naming_client::cos_naming::NameComponent;

use crate::peers::{End, Sink};
use crate::plant::{Alarms, Beats};
use crate::support::{Program, Served, exists, limits, until};
use crate::typed::{
    Panel, Station, alarms, channel, consumers, entrance, interfaces, obtained, panel,
    pulls_alarms, reading, served, served_with, suppliers,
};

#[test]
fn a_consumer_without_an_object_of_the_interface_is_refused_and_another_may_connect() {
    let (served, program) = (served(), Program::new());
    let proxy = obtained(&served, &program, Alarms::REPOSITORY_ID);
    let nil = proxy.connect_push_consumer(None).unwrap_err();
    assert_eq!(nil.system().unwrap().kind(), Kind::BadParam);
    let untyped: PushConsumer = program.object(Sink::default());
    let other: PushSupplier = program.object(End::default());
    for wrong in [
        untyped,
        Station::default().connectable(&program),
        Station::of(other.as_object()).connectable(&program),
    ] {
        let refused = proxy.connect_push_consumer(Some(&wrong)).unwrap_err();
        assert!(matches!(refused, ConnectError::TypeError(_)), "{refused}");
    }
    let panel: Alarms = program.object(Panel::default());
    let right = Station::of(panel.as_object()).connectable(&program);
    proxy.connect_push_consumer(Some(&right)).unwrap();
    let again = proxy.connect_push_consumer(Some(&right)).unwrap_err();
    assert!(matches!(again, ConnectError::AlreadyConnected(_)));
}

#[test]
fn suppliers_call_between_the_connection_and_its_end() {
    let (served, program) = (served(), Program::new());
    let (_, panel, _) = panel(&served, &program);
    let admin = suppliers(&served, &program);
    let proxy = admin.obtain_typed_push_consumer(Alarms::REPOSITORY_ID);
    let proxy = proxy.unwrap().unwrap();
    let supplier: Alarms = entrance(&proxy);
    assert_eq!(supplier.silence().unwrap_err().kind(), Kind::BadInvOrder);
    let end = End::default();
    let object: PushSupplier = program.object(end.clone());
    proxy.connect_push_supplier(Some(&object)).unwrap();
    supplier.silence().unwrap();
    proxy.disconnect_push_consumer().unwrap();
    until(|| end.disconnects() == 1);
    assert_eq!(supplier.silence().unwrap_err().kind(), Kind::ObjectNotExist);
    assert!(!exists(&proxy) && !exists(&supplier));
    assert_eq!(panel.wait_for(1), ["silence"]);
}

#[test]
fn a_consumer_disconnects_and_destroy_disconnects_all() {
    let (served, program) = (served(), Program::new());
    let (ends, _, station) = panel(&served, &program);
    ends.disconnect_push_supplier().unwrap();
    until(|| station.disconnects() == 1);
    let again = ends.disconnect_push_supplier().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
    let (_, _, station) = panel(&served, &program);
    let supplier = alarms(&served, &program);
    channel(&served, &program).destroy().unwrap();
    until(|| station.disconnects() == 1 && !exists(&supplier));
    // The channel stays.
    let (_, panel, _) = panel(&served, &program);
    alarms(&served, &program).beat(1).unwrap();
    assert_eq!(panel.wait_for(1), ["beat 1"]);
}

#[test]
fn a_consumer_that_blocks_delays_no_other_and_its_queue_is_bounded() {
    let (served, program) = (
        served_with(Limits {
            queue_events: 3,
            ..limits()
        }),
        Program::new(),
    );
    let (_, blocked, _) = panel(&served, &program);
    let (_, quick, _) = panel(&served, &program);
    let guard = blocked.block();
    let supplier = alarms(&served, &program);
    for number in 0..10 {
        supplier.beat(number).unwrap();
        quick.wait_for(number as usize + 1);
        until(|| blocked.begun() == 1);
    }
    // One is being executed, and three wait.
    assert_eq!(served.metric("discarded_total"), 6);
    drop(guard);
    assert_eq!(
        blocked.wait_for(4),
        ["beat 0", "beat 7", "beat 8", "beat 9"]
    );
}

#[test]
fn one_way_calls_wait_for_a_consumer_that_blocks() {
    let (served, program) = (
        served_with(Limits {
            queue_events: 3,
            ..limits()
        }),
        Program::new(),
    );
    let (_, blocked, _) = panel(&served, &program);
    let guard = blocked.block();
    let supplier = alarms(&served, &program);
    supplier.cleared("t0", "").unwrap();
    until(|| blocked.begun() == 1);
    for number in 1..10 {
        supplier.cleared(&format!("t{number}"), "").unwrap();
    }
    // One is being executed, and three wait.
    until(|| served.metric("discarded_total") == 6);
    assert_eq!(blocked.begun(), 1);
    drop(guard);
    blocked.wait_for(4);
}

#[test]
fn a_consumer_whose_calls_raise_exceptions_is_disconnected_and_the_others_go_on() {
    let (served, program) = (
        served_with(Limits {
            failures: 2,
            ..limits()
        }),
        Program::new(),
    );
    let (proxy, bad, station) = panel(&served, &program);
    bad.refuse();
    let (_, good, _) = panel(&served, &program);
    let supplier = alarms(&served, &program);
    supplier.silence().unwrap();
    supplier.cleared("t1", "well").unwrap();
    assert_eq!(good.wait_for(2), ["silence", "cleared t1 well"]);
    until(|| station.disconnects() == 1);
    until(|| !exists(&proxy));
    until(|| served.metric("lost_peers_total") == 1);
    until(|| served.metric("undelivered_total") == 2);
    assert_eq!(bad.begun(), 2);
}

#[test]
fn a_consumer_whose_object_is_gone_is_disconnected() {
    let (served, program) = (served(), Program::new());
    let other = Program::new();
    let object: Alarms = other.object(Panel::default());
    let station = Station::of(object.as_object());
    let proxy = obtained(&served, &program, Alarms::REPOSITORY_ID);
    let consumer = station.connectable(&program);
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    let (_, panel, _) = panel(&served, &program);
    let id = other.poa.reference_to_id(&object).unwrap();
    other.poa.deactivate_object(&id).unwrap();
    alarms(&served, &program).silence().unwrap();
    until(|| !exists(&proxy));
    assert_eq!(panel.wait_for(1), ["silence"]);
}

#[test]
fn a_consumer_that_cannot_be_reached_is_refused_and_others_connect() {
    let (served, program) = (served(), Program::new());
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let place = listener.local_addr().unwrap();
    drop(listener);
    let gone = format!("corbaloc:iiop:{place}/gone");
    let gone = PushConsumer::from_object(program.orb.string_to_object(&gone).unwrap());
    let proxy = obtained(&served, &program, Alarms::REPOSITORY_ID);
    let refused = proxy.connect_push_consumer(Some(&gone)).unwrap_err();
    let refused = refused.system().unwrap();
    assert_eq!(refused.kind(), Kind::Transient, "{refused}");
    panel(&served, &program);
}

#[test]
fn calls_that_are_too_large_and_proxies_beyond_the_limit_are_refused() {
    let (served, program) = (
        served_with(Limits {
            event_bytes: 2_000,
            proxies: 2,
            ..limits()
        }),
        Program::new(),
    );
    let (_, panel, _) = panel(&served, &program);
    let supplier = alarms(&served, &program);
    let history = vec![reading("t1"); 100];
    let refused = supplier.raised(1, &reading("t1"), &history, None::<&ObjectRef>);
    assert_eq!(refused.unwrap_err().kind(), Kind::ImpLimit);
    supplier.silence().unwrap();
    assert_eq!(panel.wait_for(1), ["silence"]);
    let refused = suppliers(&served, &program).obtain_typed_push_consumer(Beats::REPOSITORY_ID);
    assert_eq!(
        refused.unwrap_err().system().unwrap().kind(),
        Kind::NoResources
    );
    let refused = consumers(&served, &program).obtain_typed_push_supplier(Beats::REPOSITORY_ID);
    assert_eq!(
        refused.unwrap_err().system().unwrap().kind(),
        Kind::NoResources
    );
}

#[test]
fn peers_without_a_grant_do_not_supply_typed_events() {
    let service = EventService::in_memory();
    service.set_limits(limits());
    service.set_interfaces(interfaces());
    service.set_writers(Rules::of(&["10.0.0.0/8".to_owned()]).unwrap());
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let admin = suppliers(&served, &program);
    let refused = admin.obtain_typed_push_consumer(Alarms::REPOSITORY_ID);
    let refused: Result<_, SystemException> =
        refused.map_err(|error| error.system().cloned().unwrap());
    for refused in [
        refused.map(drop),
        admin.obtain_push_consumer().map(drop),
        admin.obtain_pull_consumer().map(drop),
        channel(&served, &program).destroy(),
    ] {
        assert_eq!(refused.unwrap_err().kind(), Kind::NoPermission);
    }
    panel(&served, &program);
}

#[test]
fn typed_channels_of_clients_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let stored = || {
        let service = EventService::open(&path).unwrap();
        service.set_limits(limits());
        service.set_interfaces(interfaces());
        Served::of(service, ("127.0.0.1", 0))
    };
    let served = stored();
    let key = [NameComponent {
        id: "TypedEventChannel".to_owned(),
        kind: "object interface".to_owned(),
    }];
    served.factory.create_object(&key, &[]).unwrap();
    let gone = served.factory.create_object(&key, &[]).unwrap().unwrap();
    let gone = TypedEventChannel::narrow(gone).unwrap();
    assert_eq!(served.service.size(), (4, 0));
    gone.destroy().unwrap();
    drop(served);
    assert_eq!(stored().service.size(), (3, 0));
}

#[test]
fn typed_connections_are_there_after_a_restart_without_their_idl() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let program = Program::new();
    // No other program and no other test uses this address of the loopback interface.
    let free = TcpListener::bind(("127.77.1.9", 0)).unwrap();
    let place = ("127.77.1.9", free.local_addr().unwrap().port());
    drop(free);
    let service = EventService::open(&path).unwrap();
    service.set_limits(limits());
    service.set_interfaces(interfaces());
    let before = Served::of(service, place);
    let (proxy, panel, station) = panel(&before, &program);
    let (pulled, pulls) = pulls_alarms(&before, &program);
    let supplier = alarms(&before, &program);
    supplier.beat(1).unwrap();
    assert_eq!(panel.wait_for(1), ["beat 1"]);
    drop(before);

    let service = EventService::open(&path).unwrap();
    service.set_limits(limits());
    let after = Served::of(service, place);
    assert_eq!(after.service.size(), (2, 3));
    // Events are not kept.
    assert!(!pulls.try_beat().unwrap().0);
    supplier.beat(2).unwrap();
    assert_eq!(pulls.pull_beat().unwrap(), 2);
    assert!(
        pulled
            .as_object()
            .is_a(PullSupplier::REPOSITORY_ID)
            .unwrap()
    );
    pulled.disconnect_pull_supplier().unwrap();
    assert!(!exists(&pulls));
    supplier.cleared("t1", "well").unwrap();
    assert_eq!(panel.wait_for(3), ["beat 1", "beat 2", "cleared t1 well"]);
    assert_eq!(station.asked(), 2, "once before and once after");
    proxy.disconnect_push_supplier().unwrap();
    until(|| station.disconnects() == 1);
    drop(after);

    let service = EventService::open(&path).unwrap();
    service.set_limits(limits());
    let last = Served::of(service, place);
    assert_eq!(last.service.size(), (2, 1));
}
