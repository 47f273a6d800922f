//! Clients that connect again when the channel's process was started again.

use crate::support::{Served, eventually, orb};
use parking_lot::Mutex;
use punctual::{ListenEndpoint, Orb, Poa};
use punctual_rtevent::{Consumer, Dependency, Header, Pushed, Selector};
use punctual_rtevent_service::client::{Publisher, Subscriber, SubscriberOptions};
use punctual_rtevent_service::{Data, Event, Form, ServiceOptions};
use std::sync::Arc;
use std::time::Duration;

/// Consumer that keeps the types of events.
#[derive(Default)]
struct Kinds(Mutex<Vec<i32>>);

impl Consumer<Data> for Kinds {
    fn push(&self, events: &[Event]) -> Pushed {
        self.0
            .lock()
            .extend(events.iter().map(|event| event.header.kind));
        Pushed::Done
    }
}

struct Clients {
    _orb: Orb,
    kinds: Arc<Kinds>,
    subscriber: Subscriber,
    publisher: Publisher,
}

fn clients(channel: &str) -> Clients {
    let (orb, poa): (Orb, Poa) = orb();
    let kinds = Arc::new(Kinds::default());
    let filter = vec![Dependency {
        header: Header::new(0, 0),
        rt_info: 0,
    }];
    let options = SubscriberOptions {
        ask: Duration::from_millis(50),
        timeout: Duration::from_millis(500),
        longest_wait: Duration::from_millis(200),
        ..SubscriberOptions::default()
    };
    Clients {
        subscriber: Subscriber::start(&poa, channel, filter, options, kinds.clone()).unwrap(),
        publisher: Publisher::new(&poa, channel, Form::default(), vec![Selector::new(16, 1)]),
        kinds,
        _orb: orb,
    }
}

fn event(kind: i32) -> Event {
    Event::new(Header::new(kind, 1), Data::default())
}

#[test]
fn events_flow_again_after_the_channel_was_started_again_and_losses_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let endpoint = ListenEndpoint::new("uiop", folder.path().join("socket").to_str().unwrap());
        Served::at(endpoint, ServiceOptions::default())
    };
    let channel = start();
    let clients = clients(&channel.reference());
    let has = |kind| clients.kinds.0.lock().contains(&kind);
    eventually("the subscriber connects", || {
        clients.subscriber.counts().is_connected
    });
    clients.publisher.push(&[event(16)]).unwrap();
    eventually("the first event arrives", || has(16));
    drop(channel);
    eventually("a push fails", || {
        clients.publisher.push(&[event(17)]).is_err()
    });
    let channel = start();
    eventually("the subscriber connects again", || {
        clients.subscriber.counts().connections == 2
    });
    // Pushes fail until the publisher has tried again.
    eventually("an event arrives again", || {
        let _ = clients.publisher.push(&[event(18)]);
        has(18)
    });
    let counts = clients.publisher.counts();
    assert_eq!(counts.connections, 2);
    assert!(counts.lost >= 1, "{counts:?}");
    drop(channel);
}

#[test]
fn a_subscriber_s_filter_can_be_changed() {
    let channel = Served::new(ServiceOptions::default());
    let clients = clients(&channel.reference());
    eventually("the subscriber connects", || {
        clients.subscriber.counts().is_connected
    });
    let only = Dependency {
        header: Header::new(18, 0),
        rt_info: 0,
    };
    clients.subscriber.set_filter(vec![only]);
    eventually("only events of the filter arrive", || {
        clients.publisher.push(&[event(17), event(18)]).unwrap();
        clients.kinds.0.lock().ends_with(&[18, 18])
    });
    assert_eq!(clients.subscriber.counts().connections, 1);
    clients.subscriber.set_filter(Vec::new());
    eventually("without a filter there is no connection", || {
        channel.service.channel().statistics().consumers.is_empty()
    });
}

#[test]
fn a_subscriber_that_is_dropped_disconnects() {
    let channel = Served::new(ServiceOptions::default());
    let clients = clients(&channel.reference());
    eventually("the subscriber connects", || {
        clients.subscriber.counts().is_connected
    });
    drop(clients);
    let statistics = || channel.service.channel().statistics();
    eventually("both are disconnected", || {
        statistics().consumers.is_empty() && statistics().suppliers == 0
    });
}

#[test]
fn what_an_abandoned_proxy_pushes_reaches_a_subscriber_no_more() {
    let channel = Served::new(ServiceOptions::default());
    let clients = clients(&channel.reference());
    eventually("the subscriber connects", || {
        clients.subscriber.counts().is_connected
    });
    // The proxy is not asked in time, as by a channel that stands still: the subscriber connects by another.
    channel.stand_still(|| {
        eventually("the subscriber gives up", || {
            !clients.subscriber.counts().is_connected
        });
    });
    eventually("the subscriber connects again", || {
        clients.subscriber.counts().connections == 2
    });
    eventually("the abandoned proxy is disconnected", || {
        channel.service.channel().statistics().consumers.len() == 1
    });
    clients.publisher.push(&[event(16), event(17)]).unwrap();
    eventually("the events arrive", || clients.kinds.0.lock().contains(&17));
    assert_eq!(*clients.kinds.0.lock(), [16, 17]);
}

#[test]
fn a_publisher_that_is_gone_is_disconnected() {
    let mut options = ServiceOptions::default();
    options.channel.liveness = Some(punctual_rtevent::Liveness {
        interval: Duration::from_millis(20),
        most_unanswered: 3,
    });
    let channel = Served::new(options);
    let clients = clients(&channel.reference());
    clients.publisher.push(&[event(16)]).unwrap();
    let suppliers = || channel.service.channel().statistics().suppliers;
    eventually("the publisher is connected", || suppliers() == 1);
    // Its ORB ends before it can disconnect, as with a program that is killed.
    clients._orb.shutdown(true).unwrap();
    eventually("the publisher is disconnected", || suppliers() == 0);
}
