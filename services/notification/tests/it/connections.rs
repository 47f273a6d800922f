//! Connections: when they begin, are suspended and end.

use punctual::{Any, NotNil, SystemExceptionKind as Kind};
use punctual_notification::Limits;
use punctual_notification::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notify_channel_admin::{
    self as admin, ClientType, SequenceProxyPullConsumer, SequenceProxyPullSupplier,
    SequenceProxyPushConsumer, SequenceProxyPushSupplier, StructuredProxyPullConsumer,
    StructuredProxyPullSupplier, StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{
    StructuredPullSupplierPullStructuredEventError, StructuredPushConsumerPushStructuredEventError,
};

use crate::clients::{Peer, Received};
use crate::support::{
    Program, Served, consumers, event, exists, kind_of, limits, narrowed, number, pull_supplier,
    push_consumer, push_supplier, suppliers, until,
};

#[test]
fn consumers_that_are_pushed_to_connect_once_and_hear_the_end_once() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let of = |client| push_supplier(&consumers(&channel), client);
    let peer = Peer::default();
    let any: admin::ProxyPushSupplier = narrowed(&of(ClientType::AnyEvent));
    assert_eq!(kind_of(any.connect_any_push_consumer(None)), Kind::BadParam);
    let object = program.object(peer.clone());
    any.connect_any_push_consumer(Some(&object)).unwrap();
    let again = any.connect_any_push_consumer(Some(&object)).unwrap_err();
    assert!(again.to_string().contains("AlreadyConnected"), "{again}");
    any.disconnect_push_supplier().unwrap();
    until(|| peer.disconnects() == 1);
    let structured: StructuredProxyPushSupplier = narrowed(&of(ClientType::StructuredEvent));
    assert_eq!(
        kind_of(structured.connect_structured_push_consumer(None)),
        Kind::BadParam
    );
    let object = program.object(peer.clone());
    structured
        .connect_structured_push_consumer(Some(&object))
        .unwrap();
    assert!(
        structured
            .connect_structured_push_consumer(Some(&object))
            .is_err()
    );
    structured.disconnect_structured_push_supplier().unwrap();
    until(|| peer.disconnects() == 2);
    let sequence: SequenceProxyPushSupplier = narrowed(&of(ClientType::SequenceEvent));
    assert_eq!(
        kind_of(sequence.connect_sequence_push_consumer(None)),
        Kind::BadParam
    );
    let object = program.object(peer.clone());
    sequence
        .connect_sequence_push_consumer(Some(&object))
        .unwrap();
    assert!(
        sequence
            .connect_sequence_push_consumer(Some(&object))
            .is_err()
    );
    sequence.disconnect_sequence_push_supplier().unwrap();
    until(|| peer.disconnects() == 3);
    assert!(!exists(&any) && !exists(&structured) && !exists(&sequence));
}

#[test]
fn consumers_that_pull_may_be_nil_connect_once_and_hear_the_end_once() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let of = |client| pull_supplier(&consumers(&channel), client);
    let peer = Peer::default();
    let any: admin::ProxyPullSupplier = narrowed(&of(ClientType::AnyEvent));
    any.connect_any_pull_consumer(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(any.connect_any_pull_consumer(None).is_err());
    any.disconnect_pull_supplier().unwrap();
    let structured: StructuredProxyPullSupplier = narrowed(&of(ClientType::StructuredEvent));
    structured
        .connect_structured_pull_consumer(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(structured.connect_structured_pull_consumer(None).is_err());
    structured.disconnect_structured_pull_supplier().unwrap();
    let sequence: SequenceProxyPullSupplier = narrowed(&of(ClientType::SequenceEvent));
    sequence
        .connect_sequence_pull_consumer(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(sequence.connect_sequence_pull_consumer(None).is_err());
    sequence.disconnect_sequence_pull_supplier().unwrap();
    until(|| peer.disconnects() == 3);
    let nil = program.pulls_from(&channel);
    nil.disconnect_structured_pull_supplier().unwrap();
}

#[test]
fn suppliers_that_push_may_be_nil_connect_once_and_hear_the_end_once() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let of = |client| push_consumer(&suppliers(&channel), client);
    let peer = Peer::default();
    let any: admin::ProxyPushConsumer = narrowed(&of(ClientType::AnyEvent));
    any.connect_any_push_supplier(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(any.connect_any_push_supplier(None).is_err());
    any.disconnect_push_consumer().unwrap();
    let structured: StructuredProxyPushConsumer = narrowed(&of(ClientType::StructuredEvent));
    structured
        .connect_structured_push_supplier(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(structured.connect_structured_push_supplier(None).is_err());
    structured.disconnect_structured_push_consumer().unwrap();
    let sequence: SequenceProxyPushConsumer = narrowed(&of(ClientType::SequenceEvent));
    sequence
        .connect_sequence_push_supplier(Some(&program.object(peer.clone())))
        .unwrap();
    assert!(sequence.connect_sequence_push_supplier(None).is_err());
    sequence.disconnect_sequence_push_consumer().unwrap();
    until(|| peer.disconnects() == 3);
    let admin: event_admin::SupplierAdmin = suppliers(&channel).into();
    let plain = admin.obtain_push_consumer().unwrap().not_nil().unwrap();
    plain.connect_push_supplier(None).unwrap();
    assert!(plain.connect_push_supplier(None).is_err());
}

#[test]
fn suppliers_that_are_pulled_from_connect_once_and_hear_the_end_once() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let admin = suppliers(&channel);
    let of = |client| {
        let obtained = admin.obtain_notification_pull_consumer(client);
        obtained.unwrap().0.not_nil().unwrap()
    };
    let peer = Peer::default();
    let any: admin::ProxyPullConsumer = narrowed(&of(ClientType::AnyEvent));
    assert_eq!(kind_of(any.connect_any_pull_supplier(None)), Kind::BadParam);
    let object = program.object(peer.clone());
    any.connect_any_pull_supplier(Some(&object)).unwrap();
    assert!(any.connect_any_pull_supplier(Some(&object)).is_err());
    any.disconnect_pull_consumer().unwrap();
    let structured: StructuredProxyPullConsumer = narrowed(&of(ClientType::StructuredEvent));
    assert_eq!(
        kind_of(structured.connect_structured_pull_supplier(None)),
        Kind::BadParam
    );
    let object = program.object(peer.clone());
    structured
        .connect_structured_pull_supplier(Some(&object))
        .unwrap();
    assert!(
        structured
            .connect_structured_pull_supplier(Some(&object))
            .is_err()
    );
    structured.disconnect_structured_pull_consumer().unwrap();
    let sequence: SequenceProxyPullConsumer = narrowed(&of(ClientType::SequenceEvent));
    assert_eq!(
        kind_of(sequence.connect_sequence_pull_supplier(None)),
        Kind::BadParam
    );
    let object = program.object(peer.clone());
    sequence
        .connect_sequence_pull_supplier(Some(&object))
        .unwrap();
    assert!(
        sequence
            .connect_sequence_pull_supplier(Some(&object))
            .is_err()
    );
    sequence.disconnect_sequence_pull_consumer().unwrap();
    until(|| peer.disconnects() == 3);
}

#[test]
fn a_consumer_that_is_suspended_gets_the_events_when_it_is_resumed() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let any: admin::ProxyPushSupplier =
        narrowed(&push_supplier(&consumers(&channel), ClientType::AnyEvent));
    assert!(
        any.suspend_connection()
            .unwrap_err()
            .to_string()
            .contains("NotConnected")
    );
    assert!(
        any.resume_connection()
            .unwrap_err()
            .to_string()
            .contains("NotConnected")
    );
    let (structured, sink) = program.sink(&channel);
    let (sequence, batches) = program.sequence_sink(&channel);
    let error = structured.resume_connection().unwrap_err();
    assert!(
        error.to_string().contains("ConnectionAlreadyActive"),
        "{error}"
    );
    structured.suspend_connection().unwrap();
    sequence.suspend_connection().unwrap();
    let error = structured.suspend_connection().unwrap_err();
    assert!(
        error.to_string().contains("ConnectionAlreadyInactive"),
        "{error}"
    );
    let (_, other) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(other.wait_for(3), [0, 1, 2]);
    assert!(sink.numbers().is_empty() && batches.numbers().is_empty());
    structured.resume_connection().unwrap();
    sequence.resume_connection().unwrap();
    assert_eq!(sink.wait_for(3), [0, 1, 2]);
    assert_eq!(batches.wait_for(3), [0, 1, 2]);
}

#[test]
fn a_supplier_that_is_suspended_is_not_pulled_from() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (structured, source) = program.is_pulled_by(&channel);
    structured.suspend_connection().unwrap();
    assert!(structured.suspend_connection().is_err());
    let admin = suppliers(&channel);
    let obtained = admin.obtain_notification_pull_consumer(ClientType::SequenceEvent);
    let sequence: SequenceProxyPullConsumer = narrowed(&obtained.unwrap().0.not_nil().unwrap());
    assert!(sequence.suspend_connection().is_err() && sequence.resume_connection().is_err());
    let obtained = admin.obtain_notification_pull_consumer(ClientType::AnyEvent);
    let any: admin::ProxyPullConsumer = narrowed(&obtained.unwrap().0.not_nil().unwrap());
    let of_any = Peer::default();
    any.connect_any_pull_supplier(Some(&program.object(of_any.clone())))
        .unwrap();
    any.suspend_connection().unwrap();
    any.resume_connection().unwrap();
    assert!(any.resume_connection().is_err());
    let pulls = program.pulls_from(&channel);
    source.supply(Received::Structured(Box::new(event(1))));
    of_any.supply(Received::Any(Any::new(&2).unwrap()));
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 2);
    structured.resume_connection().unwrap();
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 1);
}

#[test]
fn a_pull_waits_for_the_next_event_and_ends_with_its_connection() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pulls.pull_structured_event());
        pushes.push_structured_event(&event(4)).unwrap();
        assert_eq!(number(&waiting.join().unwrap().unwrap()), 4);
    });
    let unconnected: StructuredProxyPullSupplier = narrowed(&pull_supplier(
        &consumers(&channel),
        ClientType::StructuredEvent,
    ));
    let error = unconnected.pull_structured_event().unwrap_err();
    assert!(matches!(
        error,
        StructuredPullSupplierPullStructuredEventError::Disconnected(_)
    ));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pulls.pull_structured_event());
        // It may not have come yet, and then meets an object that is gone.
        pulls.disconnect_structured_pull_supplier().unwrap();
        waiting.join().unwrap().unwrap_err();
    });
}

#[test]
fn pulls_beyond_the_limit_are_refused() {
    let served = Served::with(Limits {
        waiting_pulls: 0,
        ..limits()
    });
    let program = Program::new();
    let pulls = program.pulls_from(&served.channel(&[], &[]));
    assert_eq!(kind_of(pulls.pull_structured_event()), Kind::Transient);
}

#[test]
fn before_they_are_connected_proxies_take_and_give_nothing() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let proxy: StructuredProxyPushConsumer = narrowed(&push_consumer(
        &suppliers(&channel),
        ClientType::StructuredEvent,
    ));
    let error = proxy.push_structured_event(&event(1)).unwrap_err();
    assert!(matches!(
        error,
        StructuredPushConsumerPushStructuredEventError::Disconnected(_)
    ));
    let later = program.unconnected(&channel);
    program
        .pushes_to(&channel)
        .push_structured_event(&event(1))
        .unwrap();
    let sink = program.connect(&later);
    program
        .pushes_to(&channel)
        .push_structured_event(&event(2))
        .unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}
