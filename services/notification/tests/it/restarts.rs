//! What is there after a restart.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use punctual::{Any, Interface, NotNil};
use punctual_notification::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::{
    self as names, BEST_EFFORT, CONNECTION_RELIABILITY, PERSISTENT, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator as Operator, ObtainInfoMode,
    StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{NotifySubscribe, StructuredPushSupplier};
use punctual_notification::cos_notify_filter::{Filter, FilterFactory};
use punctual_notification::{Limits, NotificationService};

use crate::clients::{Peer, Received};
use crate::filters::constraint;
use crate::support::{
    Program, Served, consumers, event, event_of, event_type, exists, limits, narrowed, number,
    property, until,
};

/// Returns a port that stays free, as no other program and no other test uses this address of the loopback interface.
pub(crate) fn place(host: &str) -> (&str, u16) {
    let free = TcpListener::bind((host, 0)).unwrap();
    (host, free.local_addr().unwrap().port())
}

pub(crate) fn stored(path: &Path) -> NotificationService {
    let service = NotificationService::open(path).unwrap();
    service.set_limits(limits());
    service
}

pub(crate) fn persistent() -> Property {
    property(CONNECTION_RELIABILITY, PERSISTENT)
}

fn factory(channel: &EventChannel) -> FilterFactory {
    channel.default_filter_factory().unwrap().not_nil().unwrap()
}

pub(crate) fn filter(channel: &EventChannel, text: &str) -> Filter {
    let made = factory(channel).create_filter("EXTENDED_TCL");
    let filter = made.unwrap().not_nil().unwrap();
    filter.add_constraints(&[constraint(&[], text)]).unwrap();
    filter
}

#[test]
fn persistent_channels_and_connections_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.1"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = served.channel(&[persistent()], &[]);
    let (push_supplier, sink) = program.sink(&channel);
    let (_, sequence_sink) = program.sequence_sink(&channel);
    let (pulled, source) = program.is_pulled_by(&channel);
    let pushes = program.pushes_to(&channel);
    let sequences = program.pushes_sequences_to(&channel);
    let pulls = program.pulls_from(&channel);
    let unconnected = program.unconnected(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 1);
    let channel = program.see(&channel);
    drop(served);

    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size().0, 1);
    assert_eq!(served.service.size().1, 6);
    assert!(exists(&channel) && !exists(&unconnected));
    pushes.push_structured_event(&event(2)).unwrap();
    sequences.push_structured_events(&[event(3)]).unwrap();
    source.supply(Received::Structured(Box::new(event(4))));
    let mut all = sink.wait_for(4);
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3, 4]);
    assert_eq!(sequence_sink.wait_for(4).len(), 4);
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 2);
    push_supplier.disconnect_structured_push_supplier().unwrap();
    pulled.disconnect_structured_pull_consumer().unwrap();
    drop(served);

    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size().1, 4);
    assert!(!exists(&push_supplier) && !exists(&pulled));
    channel.destroy().unwrap();
    drop(served);
    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size(), (0, 0, 0));
    assert!(!exists(&channel));
}

#[test]
fn ids_and_what_was_stated_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.2"), Program::new());
    let served = Served::of(stored(&path), place);
    let service_factory = program.see(&served.factory);
    service_factory.create_channel(&[], &[]).unwrap();
    let created = service_factory
        .create_channel(&[persistent()], &[])
        .unwrap();
    let (channel, channel_id) = (created.0.not_nil().unwrap(), created.1);
    channel
        .set_admin(&[property(names::MAX_CONSUMERS, 3)])
        .unwrap();
    channel
        .set_qos(&[property(names::ORDER_POLICY, names::FIFO_ORDER)])
        .unwrap();
    let (admin, admin_id) = channel.new_for_consumers(Operator::OrOp).unwrap();
    let admin = admin.not_nil().unwrap();
    let admin_filter = filter(&channel, "$number == 1");
    let of_admin = admin.add_filter(Some(&admin_filter)).unwrap();
    let (proxy, proxy_id) = admin
        .obtain_notification_push_supplier(ClientType::StructuredEvent)
        .unwrap();
    let proxy: StructuredProxyPushSupplier = narrowed(&proxy.not_nil().unwrap());
    let sink = program.connect(&proxy);
    let own_filter = filter(&channel, "$number == 2");
    let of_proxy = proxy.add_filter(Some(&own_filter)).unwrap();
    proxy.set_qos(&[property(names::PRIORITY, 7_i16)]).unwrap();
    proxy
        .subscription_change(&[event_type("Telecom", "*")], &[])
        .unwrap();
    proxy
        .obtain_offered_types(ObtainInfoMode::NoneNowUpdatesOff)
        .unwrap();
    let pushes = program.pushes_to(&channel);
    proxy.suspend_connection().unwrap();
    let before = (channel.get_qos().unwrap(), channel.get_admin().unwrap());
    let quality = proxy.get_qos().unwrap();
    drop(served);

    let _served = Served::of(stored(&path), place);
    assert_eq!(service_factory.get_all_channels().unwrap(), [channel_id]);
    assert_eq!(
        (channel.get_qos().unwrap(), channel.get_admin().unwrap()),
        before
    );
    assert_eq!(channel.get_all_consumeradmins().unwrap(), [0, admin_id]);
    assert_eq!(admin.my_operator().unwrap(), Operator::OrOp);
    assert_eq!(admin.push_suppliers().unwrap(), [proxy_id]);
    assert_eq!(admin.get_all_filters().unwrap(), [of_admin]);
    assert_eq!(proxy.get_filter(of_proxy).unwrap().unwrap(), own_filter);
    assert_eq!(own_filter.get_all_constraints().unwrap().len(), 1);
    assert_eq!(proxy.get_qos().unwrap(), quality);
    assert!(proxy.suspend_connection().is_err());
    for number in 1..=3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let other = event_of(("Finance", "Alarm"), 2);
    pushes.push_structured_event(&other).unwrap();
    assert!(sink.received().is_empty());
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(2), [1, 2]);
    let (_, next) = channel.new_for_consumers(Operator::AndOp).unwrap();
    assert!(next > admin_id);
    let (_, next) = service_factory.create_channel(&[], &[]).unwrap();
    assert!(next > channel_id);
}

#[test]
fn what_is_not_persistent_ends_with_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.3"), Program::new());
    let served = Served::of(stored(&path), place);
    let plain = program.see(&served.channel(&[], &[]));
    let (under_plain, _) = program.sink(&plain);
    under_plain.set_qos(&[persistent()]).unwrap();
    let kept = program.see(&served.channel(&[persistent()], &[]));
    let (best_effort, _) = program.sink(&kept);
    best_effort
        .set_qos(&[property(CONNECTION_RELIABILITY, BEST_EFFORT)])
        .unwrap();
    let later = program.see(&served.channel(&[], &[]));
    let default = consumers(&later);
    default
        .set_qos(&[property(names::PRIORITY, 9_i16)])
        .unwrap();
    let (later_proxy, sink) = program.sink(&later);
    later_proxy.set_qos(&[persistent()]).unwrap();
    later.set_qos(&[persistent()]).unwrap();
    drop(served);

    let served = Served::of(stored(&path), place);
    assert!(!exists(&plain) && !exists(&under_plain));
    assert!(exists(&kept) && !exists(&best_effort));
    // The channel was made persistent later; its default administrators and persistent connections stay with it.
    let priority = |one: &Property| one.name == names::PRIORITY;
    let quality = default.get_qos().unwrap().into_iter().find(priority);
    assert_eq!(quality.unwrap().value.extract::<i16>().unwrap(), 9);
    assert!(exists(&later_proxy));
    later
        .set_qos(&[property(CONNECTION_RELIABILITY, BEST_EFFORT)])
        .unwrap();
    drop((served, sink));
    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size().0, 1);
    assert!(!exists(&later) && !exists(&default));
}

#[test]
fn a_destroyed_filter_that_is_attached_goes_on_filtering_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.4"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = program.see(&served.channel(&[persistent()], &[]));
    let (proxy, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let attached = filter(&channel, "$number == 2");
    let id = proxy.add_filter(Some(&attached)).unwrap();
    attached.destroy().unwrap();
    let other = filter(&channel, "$number == 3");
    other.destroy().unwrap();
    let mapping = factory(&channel)
        .create_mapping_filter("TCL", &Any::new(&5_i16).unwrap())
        .unwrap()
        .not_nil()
        .unwrap();
    proxy.set_priority_filter(Some(&mapping)).unwrap();
    drop(served);

    let served = Served::of(stored(&path), place);
    assert!(!exists(&attached) && !exists(&other) && exists(&mapping));
    assert_eq!(proxy.priority_filter().unwrap().unwrap(), mapping);
    let default: i16 = mapping.default_value().unwrap().extract().unwrap();
    assert_eq!(default, 5);
    for number in 1..=2 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(sink.wait_for(1), [2]);
    proxy.remove_filter(id).unwrap();
    pushes.push_structured_event(&event(3)).unwrap();
    assert_eq!(sink.wait_for(2), [2, 3]);
    drop(served);
    // The filter that nothing has attached any more is removed, and the mapping filter is still there.
    let _served = Served::of(stored(&path), place);
    assert!(exists(&mapping));
    assert!(proxy.get_all_filters().unwrap().is_empty());
}

#[test]
fn filters_that_their_clients_have_left_are_removed_unless_they_are_attached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.12"), Program::new());
    let with_idle = |idle| {
        let service = NotificationService::open(&path).unwrap();
        service.set_limits(Limits { idle, ..limits() });
        Served::of(service, place)
    };
    let served = with_idle(None);
    let channel = program.see(&served.channel(&[persistent()], &[]));
    let (proxy, _) = program.sink(&channel);
    let (attached, left) = (filter(&channel, "TRUE"), filter(&channel, "TRUE"));
    let mapping = factory(&channel).create_mapping_filter("TCL", &Any::new(&5_i16).unwrap());
    let mapping = mapping.unwrap().not_nil().unwrap();
    proxy.add_filter(Some(&attached)).unwrap();
    assert_eq!(served.metric("filters"), 3);
    drop(served);

    let served = with_idle(Some(Duration::from_millis(1)));
    until(|| served.metric("filters") == 1);
    assert!(exists(&attached) && !exists(&left) && !exists(&mapping));
    drop(served);

    let served = with_idle(None);
    assert_eq!(served.metric("filters"), 1);
    assert!(exists(&attached));
}

#[test]
fn callbacks_of_filters_hear_of_types_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.7"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = program.see(&served.channel(&[persistent()], &[]));
    let filter = filter(&channel, "$number == 1");
    let [staying, leaving] = [(); 2].map(|()| Peer::default());
    let callback = |peer: &Peer| {
        let object: StructuredPushSupplier = program.object(peer.clone());
        NotifySubscribe::from_object(object.as_object().clone())
    };
    let id = filter.attach_callback(Some(&callback(&staying))).unwrap();
    let other = filter.attach_callback(Some(&callback(&leaving))).unwrap();
    filter.detach_callback(other).unwrap();
    drop(served);

    let _served = Served::of(stored(&path), place);
    assert_eq!(filter.get_callbacks().unwrap(), [id]);
    filter
        .add_constraints(&[constraint(&[("Telecom", "Alarm")], "")])
        .unwrap();
    until(|| staying.changes() == ["+Telecom/Alarm"]);
    assert!(leaving.changes().is_empty());
    assert!(filter.attach_callback(Some(&callback(&leaving))).unwrap() > id);
    filter.destroy().unwrap();
}

#[test]
fn clients_of_the_event_service_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.5"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = program.see(&served.channel(&[persistent()], &[]));
    let plain: event_admin::EventChannel = channel.clone().into();
    let consumers = plain.for_consumers().unwrap().not_nil().unwrap();
    let proxy = consumers.obtain_push_supplier().unwrap().not_nil().unwrap();
    let sink = Peer::default();
    proxy
        .connect_push_consumer(Some(&program.object(sink.clone())))
        .unwrap();
    let suppliers = plain.for_suppliers().unwrap().not_nil().unwrap();
    let pushes = suppliers.obtain_push_consumer().unwrap().not_nil().unwrap();
    pushes.connect_push_supplier(None).unwrap();
    drop(served);
    let _served = Served::of(stored(&path), place);
    pushes.push(&Any::new(&1).unwrap()).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
    proxy.disconnect_push_supplier().unwrap();
    until(|| !exists(&proxy));
}

#[test]
fn connections_are_kept_when_the_service_ends_while_a_client_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.1.6"), Program::new());
    let served = Served::of(stored(&path), place);
    let channel = program.see(&served.channel(&[persistent()], &[]));
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    sink.block(true);
    let large: Vec<StructuredEvent> = (1..=3).map(event).collect();
    for one in &large {
        pushes.push_structured_event(one).unwrap();
    }
    served.service.end_waiting();
    served.orb.shutdown(false).unwrap();
    sink.block(false);
    drop(served);
    let served = Served::of(stored(&path), place);
    assert_eq!(served.service.size().1, 2);
}
