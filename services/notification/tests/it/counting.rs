//! What a channel tells of its proxies (`PunctualNotify::Channel`).

use punctual::Interface;
use punctual_notification::cos_notification::MAX_EVENTS_PER_CONSUMER;
use punctual_notification::cos_notify_channel_admin::{EventChannel, ProxyType};
use punctual_notification::cos_notify_comm::StructuredPushConsumer;
use punctual_notification::punctual_notify::{Channel, ChannelCounts, ConnectionState};

use crate::filters::filter;
use crate::support::{Program, Served, event, property, until};

/// Returns the counts, which a client reads that knows the standard's reference.
fn counts(program: &Program, channel: &EventChannel, most: u32) -> ChannelCounts {
    let channel = program.see(channel);
    let object = channel.as_object();
    assert!(object.is_a(Channel::REPOSITORY_ID).unwrap());
    let channel = Channel::from_object(object.clone());
    channel.counts(most).unwrap()
}

#[test]
fn a_channel_tells_what_waits_for_each_consumer_and_what_was_lost() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (slow, _sink) = program.sink(&channel);
    slow.set_qos(&[property(MAX_EVENTS_PER_CONSUMER, 3)])
        .unwrap();
    slow.suspend_connection().unwrap();
    let (_, quick) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..5 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    quick.wait_for(5);
    until(|| counts(&program, &channel, 9).delivered == 5);
    let all = counts(&program, &channel, 9);
    assert_eq!((all.received, all.discarded, all.held), (5, 2, 3));
    assert_eq!((all.consumer_count, all.supplier_count), (2, 1));
    // The one that lags is the first.
    let [slow, quick] = all.consumers.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(slow.place.state, ConnectionState::Suspended);
    assert_eq!(slow.place.kind, ProxyType::PushStructured);
    assert_eq!((slow.queued, slow.discarded, slow.delivered), (3, 2, 0));
    assert!(slow.lag > 0 && slow.queued_octets > 0, "{slow:?}");
    assert_eq!(quick.place.state, ConnectionState::Connected);
    assert!(quick.place.peer.starts_with("iiop://127.0.0.1:"), "{quick:?}");
    assert_eq!((quick.queued, quick.delivered), (0, 5));
    assert_eq!(all.suppliers.len(), 1);
    assert_eq!(all.suppliers[0].received, 5);
    assert_eq!(counts(&program, &channel, 1).consumers.len(), 1);
}

#[test]
fn what_filters_keep_out_is_counted_at_the_supplier_and_stays_in_the_sums_when_it_is_gone() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let pushes = program.pushes_to(&channel);
    let filter = filter(&program.see(&channel), &["$.remainder_of_body > 2"]);
    pushes.add_filter(Some(&filter)).unwrap();
    for number in 0..5 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    let all = counts(&program, &channel, 9);
    assert_eq!(all.suppliers[0].filtered, 3);
    pushes.disconnect_structured_push_consumer().unwrap();
    let all = counts(&program, &channel, 9);
    assert_eq!((all.supplier_count, all.filtered, all.received), (0, 3, 5));
}

#[test]
fn the_reason_of_a_call_that_failed_is_told() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let proxy = program.unconnected(&channel);
    let unconnected = counts(&program, &channel, 9);
    let state = unconnected.consumers[0].place.state;
    assert_eq!(state, ConnectionState::Unconnected);
    let orb = punctual::Orb::builder().build().unwrap();
    let object = orb.string_to_object("corbaloc:iiop:127.77.0.39:1/sink");
    let consumer = StructuredPushConsumer::from_object(object.unwrap());
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(1)).unwrap();
    until(|| counts(&program, &channel, 9).consumers[0].place.retried > 0);
    let failing = counts(&program, &channel, 9);
    let place = &failing.consumers[0].place;
    assert_eq!(place.state, ConnectionState::Failing);
    assert!(!place.last_failure.is_empty());
    assert_eq!(failing.undelivered, 0);
}
