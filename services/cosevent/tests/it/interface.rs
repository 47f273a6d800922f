//! Each operation of each interface, as the standard describes it.

use punctual::{Interface, NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_cosevent::cos_event_channel_admin::{
    ProxyPullConsumerConnectPullSupplierError as PullSupplierError,
    ProxyPullSupplierConnectPullConsumerError as PullConsumerError,
    ProxyPushConsumerConnectPushSupplierError as PushSupplierError,
    ProxyPushSupplierConnectPushConsumerError as PushConsumerError,
};
use punctual_cosevent::cos_event_comm::{PullConsumer, PullSupplier, PushConsumer, PushSupplier};

use crate::peers::{End, Sink, Source};
use crate::support::{
    Program, Served, event, exists, number, pull_consumer, pull_supplier, push_consumer,
    push_supplier, until,
};

#[test]
fn a_channel_always_returns_the_same_administrators() {
    let served = Served::new();
    let consumers = || served.channel.for_consumers().unwrap().not_nil().unwrap();
    let suppliers = || served.channel.for_suppliers().unwrap().not_nil().unwrap();
    assert!(
        consumers()
            .as_object()
            .is_equivalent(consumers().as_object())
    );
    assert!(
        suppliers()
            .as_object()
            .is_equivalent(suppliers().as_object())
    );
    assert!(served.channel.is_alive().unwrap());
    assert!(
        served
            .channel
            .as_object()
            .is_a("IDL:omg.org/CosEventChannelAdmin/EventChannel:1.0")
            .unwrap()
    );
}

#[test]
fn each_proxy_is_an_object_of_its_own_with_the_standards_type() {
    let served = Served::new();
    let channel = &served.channel;
    let types = [
        (
            push_consumer(channel).as_object().clone(),
            "ProxyPushConsumer",
        ),
        (
            push_consumer(channel).as_object().clone(),
            "ProxyPushConsumer",
        ),
        (
            pull_consumer(channel).as_object().clone(),
            "ProxyPullConsumer",
        ),
        (
            push_supplier(channel).as_object().clone(),
            "ProxyPushSupplier",
        ),
        (
            pull_supplier(channel).as_object().clone(),
            "ProxyPullSupplier",
        ),
    ];
    for (place, (object, name)) in types.iter().enumerate() {
        let id = format!("IDL:omg.org/CosEventChannelAdmin/{name}:1.0");
        assert_eq!(object.type_id(), id);
        let others = types.iter().skip(place + 1);
        assert!(!others.clone().any(|(other, _)| other.is_equivalent(object)));
    }
    assert_eq!(served.service.size(), (1, 5));
}

#[test]
fn a_supplier_that_pushes_may_be_nil_and_connects_once() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = push_consumer(&served.channel);
    proxy.connect_push_supplier(None).unwrap();
    let supplier: PushSupplier = program.object(End::default());
    let again = proxy.connect_push_supplier(Some(&supplier)).unwrap_err();
    assert!(matches!(again, PushSupplierError::AlreadyConnected(_)));
    proxy.push(&event(1)).unwrap();
}

#[test]
fn a_consumer_that_pulls_may_be_nil_and_connects_once() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = pull_supplier(&served.channel);
    proxy.connect_pull_consumer(None).unwrap();
    let consumer: PullConsumer = program.object(End::default());
    let again = proxy.connect_pull_consumer(Some(&consumer)).unwrap_err();
    assert!(matches!(again, PullConsumerError::AlreadyConnected(_)));
    program.pushes_to(&served.channel).push(&event(1)).unwrap();
    assert_eq!(number(&proxy.pull().unwrap()), 1);
}

#[test]
fn a_consumer_that_is_pushed_to_is_not_nil_and_connects_once() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = push_supplier(&served.channel);
    let nil = proxy.connect_push_consumer(None).unwrap_err();
    assert_eq!(nil.system().unwrap().kind(), Kind::BadParam);
    let consumer: PushConsumer = program.object(Sink::default());
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    let again = proxy.connect_push_consumer(Some(&consumer)).unwrap_err();
    assert!(matches!(again, PushConsumerError::AlreadyConnected(_)));
}

#[test]
fn a_supplier_that_is_pulled_from_is_not_nil_and_connects_once() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = pull_consumer(&served.channel);
    let nil = proxy.connect_pull_supplier(None).unwrap_err();
    assert_eq!(nil.system().unwrap().kind(), Kind::BadParam);
    let supplier: PullSupplier = program.object(Source::default());
    proxy.connect_pull_supplier(Some(&supplier)).unwrap();
    let again = proxy.connect_pull_supplier(Some(&supplier)).unwrap_err();
    assert!(matches!(again, PullSupplierError::AlreadyConnected(_)));
}

#[test]
fn destroy_disconnects_all_peers_once_and_ends_the_channel() {
    let (served, program) = (Served::new(), Program::new());
    let created = program
        .see(&served.factory)
        .create_channel("short")
        .unwrap();
    let channel = punctual_cosevent::omni_events::EventChannel::from_object(
        created.unwrap().as_object().clone(),
    );
    let (push_end, pull_end) = (End::default(), End::default());
    let pushes = push_consumer(&channel);
    let supplier: PushSupplier = program.object(push_end.clone());
    pushes.connect_push_supplier(Some(&supplier)).unwrap();
    let pulls = pull_supplier(&channel);
    let consumer: PullConsumer = program.object(pull_end.clone());
    pulls.connect_pull_consumer(Some(&consumer)).unwrap();
    let (_, sink) = program.sink(&channel);
    let (_, source) = program.source(&channel);
    channel.destroy().unwrap();
    until(|| push_end.disconnects() == 1 && pull_end.disconnects() == 1);
    until(|| sink.disconnects() == 1 && source.disconnects() == 1);
    assert!(!exists(&channel) && !exists(&pushes) && !exists(&pulls));
    assert_eq!(channel.destroy().unwrap_err().kind(), Kind::ObjectNotExist);
    assert_eq!(served.service.size(), (1, 0));
    // The name is free again.
    program
        .see(&served.factory)
        .create_channel("short")
        .unwrap();
}

#[test]
fn the_default_channel_loses_its_connections_by_destroy_and_stays() {
    let (served, program) = (Served::new(), Program::new());
    let (_, sink) = program.sink(&served.channel);
    served.channel.destroy().unwrap();
    until(|| sink.disconnects() == 1);
    let pulls = program.pulls_from(&served.channel);
    program.pushes_to(&served.channel).push(&event(1)).unwrap();
    assert_eq!(number(&pulls.pull().unwrap()), 1);
}
