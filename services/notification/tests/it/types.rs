//! Types of events: who gets which, and who hears of whose.

use punctual::SystemExceptionKind as Kind;
use punctual_notification::Limits;
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ObtainInfoMode as Mode, StructuredProxyPushConsumer,
};

use crate::clients::Peer;
use crate::support::{
    Program, Served, consumers, event_of, event_type, kind_of, limits, narrowed, push_consumer,
    suppliers, until,
};

#[test]
fn a_consumer_gets_the_types_that_it_subscribes_to() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (exact, of_exact) = program.sink(&channel);
    exact
        .subscription_change(&[event_type("Telecom", "Alarm")], &[])
        .unwrap();
    let (wild, of_wild) = program.sink(&channel);
    wild.subscription_change(&[event_type("Tele*", "%ALL")], &[])
        .unwrap();
    let (none, of_none) = program.sink(&channel);
    none.subscription_change(&[], &[event_type("*", "%ALL")])
        .unwrap();
    let (_, of_all) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for (number, event_type) in [
        ("Telecom", "Alarm"),
        ("Telecom", "Call"),
        ("Finance", "Alarm"),
    ]
    .into_iter()
    .enumerate()
    {
        let number = i32::try_from(number).unwrap();
        pushes
            .push_structured_event(&event_of(event_type, number))
            .unwrap();
    }
    assert_eq!(of_all.wait_for(3), [0, 1, 2]);
    assert_eq!(of_wild.wait_for(2), [0, 1]);
    assert_eq!(of_exact.wait_for(1), [0]);
    // Events pass in their order, so that nothing is still to come.
    exact
        .subscription_change(&[event_type("*", "*")], &[])
        .unwrap();
    pushes
        .push_structured_event(&event_of(("Finance", "Call"), 3))
        .unwrap();
    assert_eq!(of_exact.wait_for(2), [0, 3]);
    assert!(of_none.numbers().is_empty());
}

#[test]
fn the_types_of_an_administrator_are_those_of_its_proxies_that_state_none() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (_, of_admin) = program.sink(&channel);
    let (own, of_own) = program.sink(&channel);
    own.subscription_change(&[event_type("Finance", "%ALL")], &[])
        .unwrap();
    let admin = consumers(&channel);
    admin
        .subscription_change(&[event_type("Telecom", "%ALL")], &[])
        .unwrap();
    let pushes = program.pushes_to(&channel);
    for (number, domain) in [
        (0, "Finance"),
        (1, "Telecom"),
        (2, "Finance"),
        (3, "Telecom"),
    ] {
        pushes
            .push_structured_event(&event_of((domain, "Call"), number))
            .unwrap();
    }
    assert_eq!(of_admin.wait_for(2), [1, 3]);
    assert_eq!(of_own.wait_for(2), [0, 2]);
}

#[test]
fn suppliers_hear_which_types_are_subscribed_to() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let proxy: StructuredProxyPushConsumer = narrowed(&push_consumer(
        &suppliers(&channel),
        ClientType::StructuredEvent,
    ));
    let supplier = Peer::default();
    proxy
        .connect_structured_push_supplier(Some(&program.object(supplier.clone())))
        .unwrap();
    assert!(
        proxy
            .obtain_subscription_types(Mode::AllNowUpdatesOn)
            .unwrap()
            .is_empty()
    );
    let (consumer, _) = program.sink(&channel);
    until(|| supplier.changes() == ["+*/%ALL"]);
    consumer
        .subscription_change(&[event_type("Telecom", "Alarm")], &[])
        .unwrap();
    until(|| supplier.changes().len() == 2);
    assert_eq!(supplier.changes()[1], "+Telecom/Alarm -*/%ALL");
    let types = proxy
        .obtain_subscription_types(Mode::AllNowUpdatesOff)
        .unwrap();
    assert_eq!(types, [event_type("Telecom", "Alarm")]);
    consumer
        .subscription_change(&[event_type("Telecom", "Call")], &[])
        .unwrap();
    assert!(
        proxy
            .obtain_subscription_types(Mode::NoneNowUpdatesOff)
            .unwrap()
            .is_empty()
    );
    assert!(
        proxy
            .obtain_subscription_types(Mode::NoneNowUpdatesOn)
            .unwrap()
            .is_empty()
    );
    consumer.disconnect_structured_push_supplier().unwrap();
    until(|| supplier.changes().len() == 3);
    assert_eq!(supplier.changes()[2], "-Telecom/Alarm -Telecom/Call");
}

#[test]
fn consumers_hear_which_types_are_offered() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, consumer) = program.sink(&channel);
    assert!(
        proxy
            .obtain_offered_types(Mode::AllNowUpdatesOn)
            .unwrap()
            .is_empty()
    );
    let pushes = program.pushes_to(&channel);
    until(|| consumer.changes() == ["+*/%ALL"]);
    pushes
        .offer_change(&[event_type("Telecom", "Alarm")], &[])
        .unwrap();
    until(|| consumer.changes().len() == 2);
    assert_eq!(consumer.changes()[1], "+Telecom/Alarm -*/%ALL");
    let types = proxy.obtain_offered_types(Mode::AllNowUpdatesOff).unwrap();
    assert_eq!(types, [event_type("Telecom", "Alarm")]);
    // Of all suppliers of an administrator.
    suppliers(&channel)
        .offer_change(&[event_type("Finance", "Stock")], &[])
        .unwrap();
    let other = program.pushes_to(&channel);
    let types = proxy.obtain_offered_types(Mode::AllNowUpdatesOn).unwrap();
    assert_eq!(
        types,
        [
            event_type("Finance", "Stock"),
            event_type("Telecom", "Alarm")
        ]
    );
    other.disconnect_structured_push_consumer().unwrap();
    until(|| consumer.changes().len() == 3);
    assert_eq!(consumer.changes()[2], "-Finance/Stock");
    assert!(
        proxy
            .obtain_offered_types(Mode::NoneNowUpdatesOn)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn types_that_are_too_long_or_too_many_are_refused() {
    let served = Served::with(Limits {
        types: 1,
        ..limits()
    });
    let program = Program::new();
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, _) = program.sink(&channel);
    let long = event_type(&"x".repeat(2_000), "Alarm");
    let error = proxy
        .subscription_change(std::slice::from_ref(&long), &[])
        .unwrap_err();
    assert!(error.to_string().contains("InvalidEventType"), "{error}");
    let two = [event_type("A", "1"), event_type("A", "2")];
    assert_eq!(
        kind_of(proxy.subscription_change(&two, &[])),
        Kind::ImpLimit
    );
    let pushes = program.pushes_to(&channel);
    assert!(pushes.offer_change(&[long], &[]).is_err());
    let offered = suppliers(&channel).offer_change(&two, &[]);
    assert_eq!(kind_of(offered), Kind::ImpLimit);
}
