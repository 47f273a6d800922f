//! Quality of service and administrative properties.

use std::time::Duration;

use punctual::{Any, SystemExceptionKind as Kind};
use punctual_notification::cos_notification::{
    self as names, AdminPropertiesAdminSetAdminError, NamedPropertyRange, Property,
    QoSAdminSetQosError, QoSErrorCode as Code, StructuredEvent, UnsupportedQoS,
};
use punctual_notification::cos_notify_channel_admin::EventChannelFactoryCreateChannelError;
use punctual_notification::time_base::UtcT;

use crate::support::{
    Program, Served, consumers, event, kind_of, number, property, suppliers, until,
};

fn value(properties: &[Property], name: &str) -> Any {
    let found = properties.iter().find(|one| one.name == name);
    found.map(|one| one.value.clone()).unwrap_or_default()
}

fn names_of(ranges: &[NamedPropertyRange]) -> Vec<&str> {
    ranges.iter().map(|one| one.name.as_str()).collect()
}

fn with_header(number: i32, header: Vec<Property>) -> StructuredEvent {
    let mut event = event(number);
    event.header.variable_header = header;
    event
}

#[test]
fn administrators_and_proxies_begin_with_what_was_above_them() {
    let (served, program) = (Served::new(), Program::new());
    let quality = [
        property(names::PRIORITY, 7_i16),
        property(names::PACING_INTERVAL, 5_u64),
    ];
    let channel = program.see(&served.channel(&quality, &[]));
    let of_admin = consumers(&channel).get_qos().unwrap();
    assert_eq!(value(&of_admin, names::PRIORITY), Any::new(&7_i16).unwrap());
    let (proxy, _) = program.sink(&channel);
    channel
        .set_qos(&[property(names::PRIORITY, 8_i16)])
        .unwrap();
    let of_channel = channel.get_qos().unwrap();
    assert_eq!(
        value(&of_channel, names::PRIORITY),
        Any::new(&8_i16).unwrap()
    );
    let of_proxy = proxy.get_qos().unwrap();
    assert_eq!(value(&of_proxy, names::PRIORITY), Any::new(&7_i16).unwrap());
    assert_eq!(
        value(&of_proxy, names::PACING_INTERVAL),
        Any::new(&5_u64).unwrap()
    );
    proxy.set_qos(&[property(names::PRIORITY, 9_i16)]).unwrap();
    assert_eq!(
        value(&proxy.get_qos().unwrap(), names::PRIORITY),
        Any::new(&9_i16).unwrap()
    );
    let pushes = program.pushes_to(&channel);
    pushes.set_qos(&[property(names::PRIORITY, 1_i16)]).unwrap();
    assert_eq!(
        value(&pushes.get_qos().unwrap(), names::PRIORITY),
        Any::new(&1_i16).unwrap()
    );
    let admin = suppliers(&channel);
    admin.set_qos(&[property(names::TIMEOUT, 1_u64)]).unwrap();
    assert_eq!(
        value(&admin.get_qos().unwrap(), names::TIMEOUT),
        Any::new(&1_u64).unwrap()
    );
}

#[test]
fn what_the_service_cannot_do_is_refused_with_what_it_can() {
    let (served, program) = (Served::new(), Program::new());
    let persistent = [property(names::EVENT_RELIABILITY, names::PERSISTENT)];
    let factory = program.see(&served.factory);
    let error = factory.create_channel(&persistent, &[]).unwrap_err();
    let EventChannelFactoryCreateChannelError::UnsupportedQoS(UnsupportedQoS { qos_err }) = error
    else {
        panic!("{error}");
    };
    assert_eq!(qos_err[0].code, Code::UnsupportedValue);
    assert_eq!(
        qos_err[0].available_range.high_val,
        Any::new(&names::BEST_EFFORT).unwrap()
    );
    let bad = [property("MaxQueue", 1)];
    let error = factory.create_channel(&[], &bad).unwrap_err();
    assert!(matches!(
        error,
        EventChannelFactoryCreateChannelError::UnsupportedAdmin(_)
    ));
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, _) = program.sink(&channel);
    let wrong = [property("Colour", 1), property(names::ORDER_POLICY, 9_i16)];
    let Err(QoSAdminSetQosError::UnsupportedQoS(UnsupportedQoS { qos_err })) =
        proxy.set_qos(&wrong)
    else {
        panic!("it was set");
    };
    let codes: Vec<_> = qos_err.iter().map(|error| error.code).collect();
    assert_eq!(codes, [Code::BadProperty, Code::BadValue]);
}

#[test]
fn validation_tells_what_else_could_be_set() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let required = [property(names::PRIORITY, 1_i16)];
    let available = channel.validate_qos(&required).unwrap();
    assert!(names_of(&available).contains(&names::EVENT_RELIABILITY));
    assert!(!names_of(&available).contains(&names::PRIORITY));
    let (proxy, _) = program.sink(&channel);
    let available = proxy.validate_qos(&[]).unwrap();
    assert!(!names_of(&available).contains(&names::START_TIME));
    let available = proxy.validate_event_qos(&required).unwrap();
    let wanted = [
        names::EVENT_RELIABILITY,
        names::START_TIME,
        names::STOP_TIME,
        names::TIMEOUT,
    ];
    assert_eq!(names_of(&available), wanted);
    let of_proxies = [property(names::ORDER_POLICY, 1_i16)];
    assert!(proxy.validate_event_qos(&of_proxies).is_err());
    let pushes = program.pushes_to(&channel);
    assert_eq!(
        names_of(&pushes.validate_event_qos(&required).unwrap()),
        wanted
    );
    assert!(pushes.validate_qos(&[property("Colour", 1)]).is_err());
    assert!(consumers(&channel).validate_qos(&of_proxies).is_ok());
    assert!(suppliers(&channel).validate_qos(&of_proxies).is_ok());
    // Nothing was set.
    let set = proxy.get_qos().unwrap();
    assert_eq!(value(&set, names::PRIORITY), Any::new(&0_i16).unwrap());
}

#[test]
fn administrative_properties_are_set_all_or_none() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[property(names::MAX_CONSUMERS, 3)]));
    let set = channel.get_admin().unwrap();
    assert_eq!(value(&set, names::MAX_CONSUMERS), Any::new(&3).unwrap());
    let both = [
        property(names::MAX_CONSUMERS, 4),
        property(names::MAX_SUPPLIERS, -1),
    ];
    let error = channel.set_admin(&both).unwrap_err();
    assert!(matches!(
        error,
        AdminPropertiesAdminSetAdminError::UnsupportedAdmin(_)
    ));
    assert_eq!(channel.get_admin().unwrap(), set);
    channel.set_admin(&both[..1]).unwrap();
    assert_eq!(
        value(&channel.get_admin().unwrap(), names::MAX_CONSUMERS),
        Any::new(&4).unwrap()
    );
}

#[test]
fn a_full_channel_rejects_events_if_it_is_to() {
    let (served, program) = (Served::new(), Program::new());
    let administration = [
        property(names::MAX_QUEUE_LENGTH, 2),
        property(names::REJECT_NEW_EVENTS, true),
    ];
    let channel = program.see(&served.channel(&[], &administration));
    let pulls = program.pulls_from(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(0)).unwrap();
    pushes.push_structured_event(&event(1)).unwrap();
    assert_eq!(
        kind_of(pushes.push_structured_event(&event(2))),
        Kind::ImpLimit
    );
    assert_eq!(served.metric("rejected_total"), 1);
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 0);
    // The event's memory is released once its answer is on the way.
    until(|| pushes.push_structured_event(&event(3)).is_ok());
    // Without rejection a queue gives up its oldest events.
    channel
        .set_admin(&[property(names::REJECT_NEW_EVENTS, false)])
        .unwrap();
    pushes.push_structured_event(&event(4)).unwrap();
    assert_eq!(number(&pulls.pull_structured_event().unwrap()), 3);
}

#[test]
fn events_come_by_priority_or_deadline_or_in_their_order() {
    let (served, program) = (Served::new(), Program::new());
    for (policy, wanted) in [
        (names::FIFO_ORDER, [0, 1, 2]),
        (names::PRIORITY_ORDER, [2, 0, 1]),
        (names::DEADLINE_ORDER, [1, 2, 0]),
    ] {
        let channel = program.see(&served.channel(&[property(names::ORDER_POLICY, policy)], &[]));
        let pulls = program.pulls_from(&channel);
        let pushes = program.pushes_to(&channel);
        let hour = 36_000_000_000_u64;
        for (number, priority, timeout) in [(0, 5_i16, 0), (1, -5, hour), (2, 9, 2 * hour)] {
            let header = vec![
                property(names::PRIORITY, priority),
                property(names::TIMEOUT, timeout),
            ];
            pushes
                .push_structured_event(&with_header(number, header))
                .unwrap();
        }
        let pulled = [(); 3].map(|()| number(&pulls.pull_structured_event().unwrap()));
        assert_eq!(pulled, wanted);
    }
}

#[test]
fn an_event_whose_life_has_ended_is_not_delivered() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let pushes = program.pushes_to(&channel);
    let short = vec![property(names::TIMEOUT, 1_u64)];
    pushes
        .push_structured_event(&with_header(0, short))
        .unwrap();
    let past = UtcT {
        time: 1,
        ..UtcT::default()
    };
    let stopped = vec![property(names::STOP_TIME, past)];
    pushes
        .push_structured_event(&with_header(1, stopped.clone()))
        .unwrap();
    pushes.push_structured_event(&event(2)).unwrap();
    std::thread::sleep(Duration::from_millis(1));
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(1), [2]);
    assert_eq!(served.metric("expired_total"), 2);
    // A proxy may disregard it.
    proxy
        .set_qos(&[property(names::STOP_TIME_SUPPORTED, false)])
        .unwrap();
    pushes
        .push_structured_event(&with_header(3, stopped))
        .unwrap();
    assert_eq!(sink.wait_for(2), [2, 3]);
}

#[test]
fn an_event_waits_for_its_start_unless_the_proxy_disregards_it() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (_, sink) = program.sink(&channel);
    let (at_once, other) = program.sink(&channel);
    at_once
        .set_qos(&[property(names::START_TIME_SUPPORTED, false)])
        .unwrap();
    let pushes = program.pushes_to(&channel);
    let never = UtcT {
        time: u64::MAX,
        ..UtcT::default()
    };
    let header = vec![property(names::START_TIME, never)];
    pushes
        .push_structured_event(&with_header(0, header))
        .unwrap();
    // 15 October 1582 is long past.
    let begun = vec![property(names::START_TIME, UtcT::default())];
    pushes
        .push_structured_event(&with_header(1, begun))
        .unwrap();
    assert_eq!(other.wait_for(2), [0, 1]);
    assert_eq!(sink.wait_for(1), [1]);
}

#[test]
fn batches_are_as_large_as_their_limit_and_wait_for_their_pace() {
    let (served, program) = (Served::new(), Program::new());
    let quality = [
        property(names::MAXIMUM_BATCH_SIZE, 3),
        // For ever, as far as a test is concerned.
        property(names::PACING_INTERVAL, 1_u64 << 50),
    ];
    let channel = program.see(&served.channel(&quality, &[]));
    let (proxy, sink) = program.sequence_sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..7 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(sink.wait_for(6), [0, 1, 2, 3, 4, 5]);
    assert_eq!(sink.batches(), [3, 3]);
    proxy
        .set_qos(&[property(names::PACING_INTERVAL, 0_u64)])
        .unwrap();
    assert_eq!(sink.wait_for(7)[6], 6);
    assert_eq!(sink.batches(), [3, 3, 1]);
    proxy
        .set_qos(&[property(names::PACING_INTERVAL, 10_000_u64)])
        .unwrap();
    pushes.push_structured_event(&event(7)).unwrap();
    assert_eq!(sink.wait_for(8)[7], 7);
}
