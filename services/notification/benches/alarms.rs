//! Alarms with 20 filterable fields: by a direct call, and through a channel.
//!
//! `cargo bench -p punctual-notification` prints one line for each: events, time of each, and the ratio to two direct calls.
//! Consumer, supplier and channel are in one process, and call each other by TCP.
#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use punctual::policy::Collocation;
use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa, SystemException};
use punctual_host::Service;
use punctual_notification::NotificationService;
use punctual_notification::cos_notification::{EventType, Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, StructuredProxyPushConsumer,
    StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{
    NotifyPublishOfferChangeError, NotifyPublishServant, StructuredPushConsumer,
    StructuredPushConsumerPushStructuredEventError, StructuredPushConsumerServant,
};

const EVENTS: u64 = 20_000;

/// Consumer that counts.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU64>);

impl Counter {
    fn wait_for(&self, count: u64) {
        while self.0.load(Ordering::Acquire) < count {
            std::thread::yield_now();
        }
    }
}

impl NotifyPublishServant for Counter {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl StructuredPushConsumerServant for Counter {
    fn push_structured_event(
        &self,
        _: &StructuredEvent,
    ) -> Result<(), StructuredPushConsumerPushStructuredEventError> {
        self.0.fetch_add(1, Ordering::Release);
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

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

/// Returns a reference of an ORB to an object of another.
fn seen<I: Interface>(orb: &Orb, object: &I) -> I {
    let object = object.as_object();
    let text = object.orb().object_to_string(object).unwrap();
    I::from_object(orb.string_to_object(&text).unwrap())
}

fn alarm() -> StructuredEvent {
    let mut event = StructuredEvent::default();
    let event_type = &mut event.header.fixed_header.event_type;
    event_type.domain_name = "Telecom".to_owned();
    event_type.type_name = "NT_ALARM".to_owned();
    for number in 0..10 {
        let text = format!("value of field {number}");
        for (name, value) in [
            (format!("number{number}"), Any::new(&number).unwrap()),
            (format!("text{number}"), Any::new(text.as_str()).unwrap()),
        ] {
            event.filterable_data.push(Property { name, value });
        }
    }
    event
}

fn timed(what: &str, two: Option<Duration>, work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    let each = begin.elapsed() / u32::try_from(EVENTS).unwrap();
    let ratio = two.map(|two| each.as_secs_f64() / two.as_secs_f64());
    println!("{what}: {EVENTS} events, {each:?} each, ratio {ratio:.2?}");
    each
}

fn main() {
    let (clients, server) = (orb(), orb());
    let clients_poa = clients.root_poa().unwrap();
    clients_poa.manager().activate().unwrap();
    let server_poa = server.root_poa().unwrap();
    let service = NotificationService::in_memory();
    let factory: EventChannelFactory = service.serve(&server_poa).unwrap();
    server_poa.manager().activate().unwrap();
    let factory = seen(&clients, &factory);
    let (channel, _) = factory.create_channel(&[], &[]).unwrap();
    let channel: EventChannel = channel.not_nil().unwrap();

    let (counter, event) = (Counter::default(), alarm());
    let consumer: StructuredPushConsumer = clients_poa.activate(counter.clone()).unwrap();
    let direct = seen(&server, &consumer);
    let push_direct = || direct.push_structured_event(&event).unwrap();
    for _ in 0..EVENTS / 10 {
        push_direct();
    }
    let one = timed("direct", None, || (0..EVENTS).for_each(|_| push_direct()));

    let admin = channel.default_consumer_admin().unwrap().not_nil().unwrap();
    let obtained = admin.obtain_notification_push_supplier(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().0.not_nil().unwrap();
    let to_consumer = StructuredProxyPushSupplier::narrow(proxy.as_object().clone()).unwrap();
    to_consumer
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let admin = channel.default_supplier_admin().unwrap().not_nil().unwrap();
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().0.not_nil().unwrap();
    let pushes = StructuredProxyPushConsumer::narrow(proxy.as_object().clone()).unwrap();
    pushes.connect_structured_push_supplier(None).unwrap();
    counter.0.store(0, Ordering::Release);
    timed("one after the other", Some(one * 2), || {
        for number in 0..EVENTS {
            pushes.push_structured_event(&event).unwrap();
            counter.wait_for(number + 1);
        }
    });
    counter.0.store(0, Ordering::Release);
    timed("as fast as the channel takes them", Some(one * 2), || {
        for _ in 0..EVENTS {
            pushes.push_structured_event(&event).unwrap();
        }
        counter.wait_for(EVENTS - lost(&service));
    });
    service.end_waiting();
    server.shutdown(true).unwrap();
    clients.shutdown(true).unwrap();
    service.stop();
}

/// Returns the number of events that the queue gave up.
fn lost(service: &NotificationService) -> u64 {
    let mut out = punctual_host::metrics::Exposition::of("notification");
    service.write_metrics(&mut out);
    let text = out.into_text();
    let name = "punctual_notification_discarded_total ";
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|count| count.parse().ok())
        .unwrap_or_default()
}
