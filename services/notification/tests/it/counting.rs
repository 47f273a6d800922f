//! What a channel tells of its proxies and of what clients state, and names (`PunctualNotify::Channel`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use punctual::Interface;
use punctual_notification::cos_notification::{
    FIFO_ORDER, MAX_EVENTS_PER_CONSUMER, ORDER_POLICY, START_TIME,
};
use punctual_notification::cos_notify_channel_admin::{
    EventChannel, InterFilterGroupOperator, ProxyType,
};
use punctual_notification::cos_notify_comm::StructuredPushConsumer;
use punctual_notification::punctual_notify::{Channel, ChannelCounts, ConnectionState};
use punctual_notification::time_base::UtcT;

use crate::filters::filter;
use crate::support::{Program, Served, consumers, event, event_type, property, until};

/// Returns the counts, which a client reads that knows the standard's reference.
fn counts(program: &Program, channel: &EventChannel, most: u32) -> ChannelCounts {
    extended(program, channel).counts(most).unwrap()
}

fn extended(program: &Program, channel: &EventChannel) -> Channel {
    let channel = program.see(channel);
    let object = channel.as_object();
    assert!(object.is_a(Channel::REPOSITORY_ID).unwrap());
    Channel::from_object(object.clone())
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
    assert!(
        quick.place.peer.starts_with("iiop://127.0.0.1:"),
        "{quick:?}"
    );
    assert_eq!((quick.queued, quick.delivered), (0, 5));
    assert_eq!(all.suppliers.len(), 1);
    assert_eq!(all.suppliers[0].received, 5);
    assert_eq!(counts(&program, &channel, 1).consumers.len(), 1);
}

#[test]
fn events_of_a_call_that_has_not_returned_and_those_that_wait_for_their_time_count_as_waiting() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (_proxy, sink) = program.sink(&channel);
    sink.block(true);
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&event(0)).unwrap();
    until(|| sink.begun() == 1);
    let mut later = event(1);
    later.header.variable_header = vec![property(START_TIME, in_an_hour())];
    pushes.push_structured_event(&later).unwrap();
    let all = counts(&program, &channel, 9);
    let [slow] = all.consumers.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!((slow.queued, slow.delivered), (2, 0));
    assert!(slow.lag > 0 && slow.queued_octets > 0, "{slow:?}");
    assert_eq!(served.metric("queued"), 2);
    sink.block(false);
    until(|| counts(&program, &channel, 9).delivered == 1);
    let all = counts(&program, &channel, 9);
    assert_eq!((all.consumers[0].queued, all.consumers[0].lag), (1, 0));
}

/// Returns the time of day in an hour.
fn in_an_hour() -> UtcT {
    let to_unix = 0x01b2_1dd2_1381_4000;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let since = since + Duration::from_secs(3_600);
    UtcT {
        time: to_unix + u64::try_from(since.as_nanos() / 100).unwrap(),
        ..UtcT::default()
    }
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

#[test]
fn a_channel_is_described_with_all_that_clients_state() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[property(ORDER_POLICY, FIFO_ORDER)], &[]);
    let (proxy, _sink) = program.sink(&channel);
    program.unconnected(&channel);
    proxy
        .subscription_change(&[event_type("Telecom", "T*")], &[])
        .unwrap();
    let filter = filter(&program.see(&channel), &["$a == 1"]);
    consumers(&program.see(&channel))
        .add_filter(Some(&filter))
        .unwrap();
    let described = extended(&program, &channel).describe().unwrap();
    assert!(
        described
            .quality
            .contains(&property(ORDER_POLICY, FIFO_ORDER))
    );
    assert_eq!(
        (described.consumers.len(), described.suppliers.len()),
        (1, 1)
    );
    let admin = &described.consumers[0];
    let [filter] = admin.stated.filters.as_slice() else {
        panic!("{admin:?}");
    };
    assert_eq!(filter.grammar, "EXTENDED_TCL");
    assert_eq!(filter.constraints[0].constraint_expr, "$a == 1");
    assert!(!admin.stated.has_types && !admin.stated.has_mappings);
    // Without the one that is not connected.
    let [proxy] = admin.proxies.as_slice() else {
        panic!("{admin:?}");
    };
    assert_eq!(proxy.stated.types, [event_type("Telecom", "T*")]);
    assert!(proxy.client.starts_with("IOR:"), "{proxy:?}");
}

#[test]
fn a_name_is_that_of_one_channel_and_of_one_administrator_of_a_side() {
    use punctual_notification::punctual_notify::{
        ChannelSetAdminNameError as AdminError, ChannelSetNameError as NameError,
    };
    let (served, program) = (Served::new(), Program::new());
    let [first, second] = [(); 2].map(|()| served.channel(&[], &[]));
    let (one, other) = (extended(&program, &first), extended(&program, &second));
    one.set_name("alarms").unwrap();
    one.set_name("alarms").unwrap();
    let taken = other.set_name("alarms").unwrap_err();
    assert!(matches!(taken, NameError::NameTaken(_)), "{taken:?}");
    let long = other.set_name(&"x".repeat(256)).unwrap_err();
    assert!(matches!(long, NameError::NameTooLong(_)), "{long:?}");
    let (_, id) = one
        .new_for_consumers(InterFilterGroupOperator::OrOp)
        .unwrap();
    one.set_admin_name(true, id, "readers").unwrap();
    one.set_admin_name(false, 0, "readers").unwrap();
    let taken = one.set_admin_name(true, 0, "readers").unwrap_err();
    assert!(matches!(taken, AdminError::NameTaken(_)), "{taken:?}");
    let absent = one.set_admin_name(false, id, "readers").unwrap_err();
    assert!(matches!(absent, AdminError::AdminNotFound(_)), "{absent:?}");
    let described = one.describe().unwrap();
    assert_eq!(described.name, "alarms");
    let names: Vec<_> = described.consumers.iter().map(|one| &one.name).collect();
    assert_eq!(names, ["", "readers"]);
    // The name of a channel that is gone can be given again.
    one.destroy().unwrap();
    other.set_name("alarms").unwrap();
    other.set_name("").unwrap();
    assert_eq!(other.describe().unwrap().name, "");
}
