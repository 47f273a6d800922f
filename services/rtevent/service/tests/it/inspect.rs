//! What the channel has counted, and what passes.

use crate::support::{Served, event, eventually, header};
use punctual::Interface;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::punctual_events::{Channel, ChannelCounts, ConnectionState};

fn counting(served: &Served) -> Channel {
    Channel::narrow(served.channel.as_object().clone()).unwrap()
}

#[test]
fn the_reference_names_the_interface_of_tao_and_the_object_has_the_extension() {
    let served = Served::new(ServiceOptions::default());
    let id = served.channel.as_object().type_id();
    assert_eq!(id, "IDL:RtecEventChannelAdmin/EventChannel:1.0");
    let counts = counting(&served).counts(10).unwrap();
    assert_eq!(counts, ChannelCounts::default());
}

#[test]
fn counts_tell_which_consumer_got_what_and_where_it_is() {
    let served = Served::new(ServiceOptions::default());
    let all = served.consumer(&[header(0, 0)]);
    let suspended = served.consumer(&[header(16, 0)]);
    suspended.proxy.suspend_connection().unwrap();
    served
        .supplier()
        .push(&[event(16, 1, b"ten octets")])
        .unwrap();
    all.inbox.events(1);
    let channel = counting(&served);
    eventually("the push is counted", || {
        channel
            .counts(10)
            .unwrap()
            .consumers
            .iter()
            .any(|one| one.pushed == 1)
    });
    let counts = channel.counts(10).unwrap();
    assert_eq!((counts.received, counts.lost, counts.suppliers), (1, 1, 1));
    assert_eq!(counts.consumer_count, 2);
    let of = |state| {
        counts
            .consumers
            .iter()
            .find(|one| one.state == state)
            .unwrap()
    };
    let connected = of(ConnectionState::Connected);
    assert_eq!((connected.pushed, connected.queued), (1, 0));
    assert!(
        connected.peer.starts_with("iiop://127.0.0.1:"),
        "{}",
        connected.peer
    );
    assert_eq!(of(ConnectionState::Suspended).not_delivered, 1);
    assert_ne!(counts.consumers[0].number, counts.consumers[1].number);
}

#[test]
fn as_many_consumers_are_told_as_asked_for() {
    let served = Served::new(ServiceOptions::default());
    let consumers: Vec<_> = (0..3).map(|_| served.consumer(&[header(0, 0)])).collect();
    let counts = counting(&served).counts(2).unwrap();
    assert_eq!((counts.consumer_count, counts.consumers.len()), (3, 2));
    for consumer in &consumers {
        consumer.proxy.disconnect_push_supplier().unwrap();
    }
    assert_eq!(counting(&served).counts(2).unwrap().consumer_count, 0);
}
