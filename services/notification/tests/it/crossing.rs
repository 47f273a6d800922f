//! Events from suppliers of every kind to consumers of every kind, and what becomes of their form.

use punctual::{Any, NotNil, SystemExceptionKind as Kind};
use punctual_notification::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::{
    self as admin, ClientType, EventChannel, SequenceProxyPullConsumer, SequenceProxyPullSupplier,
    StructuredProxyPullSupplier,
};

use crate::clients::{Peer, Received};
use crate::support::{
    Program, Served, consumers, event, kind_of, narrowed, pull_supplier, push_consumer,
    push_supplier, suppliers, until,
};

/// Consumer of any kind: what it has received since the last time.
type Consumer = Box<dyn FnMut() -> Received>;

/// Supplier of any kind.
type Supplier = Box<dyn FnMut(&StructuredEvent)>;

fn pushed(peer: Peer) -> Consumer {
    let mut taken = 0;
    Box::new(move || {
        until(|| peer.received().len() > taken);
        taken += 1;
        peer.received()[taken - 1].clone()
    })
}

fn structured(event: StructuredEvent) -> Received {
    Received::Structured(Box::new(event))
}

fn any_of(event: &StructuredEvent) -> Any {
    Any::new(event).unwrap()
}

fn all_consumers(program: &Program, channel: &EventChannel) -> Vec<(&'static str, Consumer)> {
    let admin = consumers(&program.see(channel));
    let peers: [Peer; 2] = Default::default();
    let any: admin::ProxyPushSupplier = narrowed(&push_supplier(&admin, ClientType::AnyEvent));
    let object = program.object(peers[0].clone());
    any.connect_any_push_consumer(Some(&object)).unwrap();
    let plain = event_admin::ConsumerAdmin::from(admin.clone());
    let plain = plain.obtain_push_supplier().unwrap().not_nil().unwrap();
    let object = program.object(peers[1].clone());
    plain.connect_push_consumer(Some(&object)).unwrap();
    let pulled_any: admin::ProxyPullSupplier =
        narrowed(&pull_supplier(&admin, ClientType::AnyEvent));
    pulled_any.connect_any_pull_consumer(None).unwrap();
    let pulled: StructuredProxyPullSupplier = program.pulls_from(channel);
    let pulled_batch: SequenceProxyPullSupplier = program.pulls_sequences_from(channel);
    let (_, structured_sink) = program.sink(channel);
    let (_, sequence_sink) = program.sequence_sink(channel);
    let [any_sink, plain_sink] = peers;
    vec![
        ("any push", pushed(any_sink)),
        ("push of the Event Service", pushed(plain_sink)),
        ("structured push", pushed(structured_sink)),
        ("sequence push", pushed(sequence_sink)),
        (
            "any pull",
            Box::new(move || Received::Any(pulled_any.pull().unwrap())),
        ),
        (
            "structured pull",
            Box::new(move || structured(pulled.pull_structured_event().unwrap())),
        ),
        (
            "sequence pull",
            Box::new(move || {
                let mut batch = pulled_batch.pull_structured_events(1).unwrap();
                structured(batch.remove(0))
            }),
        ),
    ]
}

fn all_suppliers(program: &Program, channel: &EventChannel) -> Vec<(&'static str, Supplier)> {
    let admin = suppliers(&program.see(channel));
    let any: admin::ProxyPushConsumer = narrowed(&push_consumer(&admin, ClientType::AnyEvent));
    any.connect_any_push_supplier(None).unwrap();
    let plain = event_admin::SupplierAdmin::from(admin.clone());
    let plain = plain.obtain_push_consumer().unwrap().not_nil().unwrap();
    plain.connect_push_supplier(None).unwrap();
    let pushes = program.pushes_to(channel);
    let batches = program.pushes_sequences_to(channel);
    let peers: [Peer; 2] = Default::default();
    let obtained = admin.obtain_notification_pull_consumer(ClientType::AnyEvent);
    let pulls_any: admin::ProxyPullConsumer = narrowed(&obtained.unwrap().0.not_nil().unwrap());
    let object = program.object(peers[0].clone());
    pulls_any.connect_any_pull_supplier(Some(&object)).unwrap();
    let obtained = admin.obtain_notification_pull_consumer(ClientType::SequenceEvent);
    let pulls: SequenceProxyPullConsumer = narrowed(&obtained.unwrap().0.not_nil().unwrap());
    let object = program.object(peers[1].clone());
    pulls.connect_sequence_pull_supplier(Some(&object)).unwrap();
    let (_, pulled) = program.is_pulled_by(channel);
    let [pulled_any, pulled_batch] = peers;
    vec![
        (
            "any push",
            Box::new(move |event| any.push(&any_of(event)).unwrap()),
        ),
        (
            "push of the Event Service",
            Box::new(move |event| plain.push(&any_of(event)).unwrap()),
        ),
        (
            "structured push",
            Box::new(move |event| pushes.push_structured_event(event).unwrap()),
        ),
        (
            "sequence push",
            Box::new(move |event| {
                batches
                    .push_structured_events(std::slice::from_ref(event))
                    .unwrap();
            }),
        ),
        (
            "any pull",
            Box::new(move |event| pulled_any.supply(structured(event.clone()))),
        ),
        (
            "structured pull",
            Box::new(move |event| pulled.supply(structured(event.clone()))),
        ),
        (
            "sequence pull",
            Box::new(move |event| pulled_batch.supply(structured(event.clone()))),
        ),
    ]
}

#[test]
fn structured_events_reach_consumers_of_every_kind_from_suppliers_of_every_kind() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let mut consumers = all_consumers(&program, &channel);
    for (at, (supplier, mut supply)) in all_suppliers(&program, &channel).into_iter().enumerate() {
        let sent = event(i32::try_from(at).unwrap());
        supply(&sent);
        for (consumer, next) in &mut consumers {
            let wanted = match consumer.starts_with("any") || consumer.contains("Event Service") {
                true => Received::Any(any_of(&sent)),
                false => structured(sent.clone()),
            };
            assert_eq!(next(), wanted, "{supplier} to {consumer}");
        }
    }
    assert_eq!(served.metric("received_total"), 7);
}

#[test]
fn anys_are_anys_again_behind_structured_clients() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let admin = suppliers(&program.see(&channel));
    let any: admin::ProxyPushConsumer = narrowed(&push_consumer(&admin, ClientType::AnyEvent));
    any.connect_any_push_supplier(None).unwrap();
    let pulls = program.pulls_from(&channel);
    any.push(&Any::new(&5).unwrap()).unwrap();
    let around = pulls.pull_structured_event().unwrap();
    let event_type = &around.header.fixed_header.event_type;
    assert_eq!(
        (
            event_type.domain_name.as_str(),
            event_type.type_name.as_str()
        ),
        ("", "%ANY")
    );
    assert_eq!(around.remainder_of_body, Any::new(&5).unwrap());
    // And back.
    let other = served.channel(&[], &[]);
    let admin = consumers(&program.see(&other));
    let pulls: admin::ProxyPullSupplier = narrowed(&pull_supplier(&admin, ClientType::AnyEvent));
    pulls.connect_any_pull_consumer(None).unwrap();
    program
        .pushes_to(&other)
        .push_structured_event(&around)
        .unwrap();
    assert_eq!(pulls.pull().unwrap(), Any::new(&5).unwrap());
    let (nothing, has_event) = pulls.try_pull().unwrap();
    assert!(!has_event && nothing.is_null());
}

#[test]
fn sequences_are_pulled_as_long_as_there_are_events_and_no_longer() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let pulls = program.pulls_sequences_from(&channel);
    let batch: Vec<_> = (0..5).map(event).collect();
    program
        .pushes_sequences_to(&channel)
        .push_structured_events(&batch)
        .unwrap();
    assert_eq!(pulls.pull_structured_events(3).unwrap(), batch[..3]);
    assert_eq!(
        pulls.try_pull_structured_events(9).unwrap(),
        (batch[3..].to_vec(), true)
    );
    assert_eq!(
        pulls.try_pull_structured_events(9).unwrap(),
        (Vec::new(), false)
    );
    assert_eq!(kind_of(pulls.pull_structured_events(0)), Kind::BadParam);
    assert_eq!(
        kind_of(pulls.try_pull_structured_events(-1)),
        Kind::BadParam
    );
    let single = program.pulls_from(&channel);
    let (_, has_event) = single.try_pull_structured_event().unwrap();
    assert!(!has_event);
}
