//! Consumers whose filters each ask for another type of events: what an event costs that is for one of them.
//!
//! `cargo bench -p punctual-notification --bench subscriptions` prints a line for each number of consumers, with the time
//! that it adds to that of one. Supplier and channel are in one process, and call each other by TCP.
#![allow(missing_docs, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, NotNil, Orb, RootPoa};
use punctual_host::Service;
use punctual_notification::cos_notification::{MAX_EVENTS_PER_CONSUMER, Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer,
};
use punctual_notification::cos_notify_filter::ConstraintExp;
use punctual_notification::{Limits, NotificationService};

const NUMBERS: [usize; 3] = [1, 1_000, 10_000];

/// Events of a round; the fastest round counts.
const EVENTS: u32 = 2_000;
const ROUNDS: usize = 9;

fn orb() -> Orb {
    Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| {
            NotificationService::configure(config);
            config.collocation = Collocation::None;
        })
        .build()
        .unwrap()
}

fn event(kind: usize) -> StructuredEvent {
    let mut event = StructuredEvent::default();
    event.header.fixed_header.event_type.domain_name = "Telecom".to_owned();
    event.header.fixed_header.event_type.type_name = format!("T{kind}");
    event
}

/// Connects a consumer that keeps one event, and asks for one type.
fn subscribe(channel: &EventChannel, kind: usize) {
    let filters = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let filter = filters.create_filter("ETCL").unwrap().not_nil().unwrap();
    let constraint = ConstraintExp {
        event_types: Vec::new(),
        constraint_expr: format!("$type_name == 'T{kind}'"),
    };
    filter.add_constraints(&[constraint]).unwrap();
    let admin = channel.default_consumer_admin().unwrap().not_nil().unwrap();
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().0.not_nil().unwrap();
    let proxy = StructuredProxyPullSupplier::narrow(proxy.as_object().clone()).unwrap();
    let one = Property {
        name: MAX_EVENTS_PER_CONSUMER.to_owned(),
        value: punctual::Any::new(&1).unwrap(),
    };
    proxy.set_qos(&[one]).unwrap();
    proxy.add_filter(Some(&filter)).unwrap();
    proxy.connect_structured_pull_consumer(None).unwrap();
}

fn supplier(channel: &EventChannel) -> StructuredProxyPushConsumer {
    let admin = channel.default_supplier_admin().unwrap().not_nil().unwrap();
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().0.not_nil().unwrap();
    let pushes = StructuredProxyPushConsumer::narrow(proxy.as_object().clone()).unwrap();
    pushes.connect_structured_push_supplier(None).unwrap();
    pushes
}

fn round(pushes: &StructuredProxyPushConsumer, event: &StructuredEvent) -> Duration {
    let begin = Instant::now();
    for _ in 0..EVENTS {
        pushes.push_structured_event(event).unwrap();
    }
    begin.elapsed() / EVENTS
}

fn main() {
    let (clients, server) = (orb(), orb());
    let poa = server.root_poa().unwrap();
    let service = NotificationService::in_memory();
    service.set_limits(Limits {
        filters: 20_000,
        proxies: 20_000,
        ..Limits::default()
    });
    let factory = service.serve(&poa).unwrap();
    poa.manager().activate().unwrap();
    let text = server.object_to_string(factory.as_object()).unwrap();
    let factory = EventChannelFactory::from_object(clients.string_to_object(&text).unwrap());
    let channel = factory
        .create_channel(&[], &[])
        .unwrap()
        .0
        .not_nil()
        .unwrap();
    let (mut consumers, mut of_one) = (0, Duration::ZERO);
    for number in NUMBERS {
        (consumers..number).for_each(|kind| subscribe(&channel, kind));
        consumers = number;
        let (pushes, event) = (supplier(&channel), event(0));
        // As many events as there are consumers go before the selection is made.
        (0..number).for_each(|_| pushes.push_structured_event(&event).unwrap());
        let rounds = (0..ROUNDS).map(|_| round(&pushes, &event));
        let fastest = rounds.min().unwrap_or_default();
        if number == 1 {
            of_one = fastest;
        }
        let more = fastest.saturating_sub(of_one);
        println!("{number} consumers: {fastest:?} an event, {more:?} more than with one");
    }
    service.end_waiting();
    server.shutdown(true).unwrap();
    clients.shutdown(true).unwrap();
    service.stop();
}
