//! Channel in an ORB of its own, clients in another, and the events that the benchmarks push. All are in one process, and
//! call each other by TCP.
#![allow(dead_code, reason = "each benchmark uses a part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::policy::Collocation;
use punctual::{Any, Interface, ListenEndpoint, NotNil, Orb, RootPoa, SystemException};
use punctual_host::Service;
use punctual_notification::cos_notification::{EventType, Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, SequenceProxyPushConsumer,
    SequenceProxyPushSupplier, StructuredProxyPullSupplier, StructuredProxyPushConsumer,
    StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm::{
    NotifyPublishOfferChangeError, NotifyPublishServant, SequencePushConsumer,
    SequencePushConsumerPushStructuredEventsError, SequencePushConsumerServant,
    StructuredPushConsumer, StructuredPushConsumerPushStructuredEventError,
    StructuredPushConsumerServant,
};
use punctual_notification::cos_notify_filter::{ConstraintExp, Filter};
use punctual_notification::{Limits, NotificationService};

/// Service with one channel.
pub(crate) struct Served {
    clients: Orb,
    server: Orb,
    pub(crate) service: NotificationService,
    pub(crate) channel: EventChannel,
}

/// Consumer that counts, keeps the time of each event if it is asked to, and takes a time for each.
#[derive(Clone, Default)]
pub(crate) struct Counter {
    count: Arc<AtomicU64>,
    times: Option<Arc<Mutex<Vec<Instant>>>>,
    takes: Duration,
}

impl Served {
    pub(crate) fn new(limits: Limits) -> Self {
        Self::of(NotificationService::in_memory(), limits, &[])
    }

    /// Serves a service, and creates a channel with the given QoS.
    pub(crate) fn of(service: NotificationService, limits: Limits, qos: &[Property]) -> Self {
        let (clients, server) = (orb(), orb());
        service.set_limits(limits);
        for orb in [&clients, &server] {
            orb.root_poa().unwrap().manager().activate().unwrap();
        }
        let factory = service.serve(&server.root_poa().unwrap()).unwrap();
        let factory: EventChannelFactory = seen(&clients, &factory);
        let (channel, _) = factory.create_channel(qos, &[]).unwrap();
        Self {
            channel: channel.not_nil().unwrap(),
            clients,
            server,
            service,
        }
    }

    /// Activates a consumer.
    pub(crate) fn structured(&self, counter: &Counter) -> StructuredPushConsumer {
        let poa = self.clients.root_poa().unwrap();
        poa.activate(counter.clone()).unwrap()
    }

    /// Returns a reference of the service's ORB to a consumer, which calls it directly.
    pub(crate) fn direct(&self, consumer: &StructuredPushConsumer) -> StructuredPushConsumer {
        seen(&self.server, consumer)
    }

    /// Connects a consumer of single events.
    pub(crate) fn connect(&self, consumer: &StructuredPushConsumer, filter: Option<&Filter>) {
        let proxy = self.obtain_supplier(ClientType::StructuredEvent);
        let proxy = StructuredProxyPushSupplier::narrow(proxy).unwrap();
        if filter.is_some() {
            proxy.add_filter(filter).unwrap();
        }
        proxy
            .connect_structured_push_consumer(Some(consumer))
            .unwrap();
    }

    /// Connects a consumer of batches.
    pub(crate) fn connect_batches(
        &self,
        counter: &Counter,
        quality: &[Property],
        filter: Option<&Filter>,
    ) {
        let poa = self.clients.root_poa().unwrap();
        let consumer: SequencePushConsumer = poa.activate(counter.clone()).unwrap();
        let proxy = self.obtain_supplier(ClientType::SequenceEvent);
        let proxy = SequenceProxyPushSupplier::narrow(proxy).unwrap();
        proxy.set_qos(quality).unwrap();
        if filter.is_some() {
            proxy.add_filter(filter).unwrap();
        }
        proxy
            .connect_sequence_push_consumer(Some(&consumer))
            .unwrap();
    }

    /// Returns a proxy for a consumer that pulls single events, to be connected.
    pub(crate) fn pulls(&self) -> StructuredProxyPullSupplier {
        let admin = self.channel.default_consumer_admin().unwrap();
        let obtained = admin
            .not_nil()
            .unwrap()
            .obtain_notification_pull_supplier(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().0.not_nil().unwrap();
        StructuredProxyPullSupplier::narrow(proxy.as_object().clone()).unwrap()
    }

    fn obtain_supplier(&self, kind: ClientType) -> punctual::ObjectRef {
        let admin = self.channel.default_consumer_admin().unwrap();
        let obtained = admin
            .not_nil()
            .unwrap()
            .obtain_notification_push_supplier(kind);
        let proxy = obtained.unwrap().0.not_nil().unwrap();
        proxy.as_object().clone()
    }

    fn obtain_consumer(&self, kind: ClientType) -> punctual::ObjectRef {
        let admin = self.channel.default_supplier_admin().unwrap();
        let obtained = admin
            .not_nil()
            .unwrap()
            .obtain_notification_push_consumer(kind);
        let proxy = obtained.unwrap().0.not_nil().unwrap();
        proxy.as_object().clone()
    }

    /// Connects a supplier of single events.
    pub(crate) fn pushes(&self) -> StructuredProxyPushConsumer {
        let proxy = self.obtain_consumer(ClientType::StructuredEvent);
        let proxy = StructuredProxyPushConsumer::narrow(proxy).unwrap();
        proxy.connect_structured_push_supplier(None).unwrap();
        proxy
    }

    /// Connects a supplier of batches.
    pub(crate) fn pushes_batches(&self) -> SequenceProxyPushConsumer {
        let proxy = self.obtain_consumer(ClientType::SequenceEvent);
        let proxy = SequenceProxyPushConsumer::narrow(proxy).unwrap();
        proxy.connect_sequence_push_supplier(None).unwrap();
        proxy
    }

    /// Makes a filter of one constraint for events of all types.
    pub(crate) fn filter(&self, constraint_expr: String) -> Filter {
        let filters = self.channel.default_filter_factory().unwrap();
        let filter = filters.not_nil().unwrap().create_filter("ETCL").unwrap();
        let filter = filter.not_nil().unwrap();
        let constraint = ConstraintExp {
            event_types: Vec::new(),
            constraint_expr,
        };
        filter.add_constraints(&[constraint]).unwrap();
        filter
    }

    /// Returns the value of a metric.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let mut out = punctual_host::metrics::Exposition::of("notification");
        self.service.write_metrics(&mut out);
        let text = out.into_text();
        let name = format!("punctual_notification_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.and_then(|count| count.parse().ok())
            .unwrap_or_default()
    }

    pub(crate) fn end(self) {
        self.service.end_waiting();
        self.server.shutdown(true).unwrap();
        self.clients.shutdown(true).unwrap();
        self.service.stop();
    }
}

pub(crate) fn orb() -> Orb {
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

/// Makes an alarm with 20 filterable fields, whose field `number0` is given.
pub(crate) fn alarm(number0: i32) -> StructuredEvent {
    let mut event = StructuredEvent::default();
    let event_type = &mut event.header.fixed_header.event_type;
    event_type.domain_name = "Telecom".to_owned();
    event_type.type_name = "NT_ALARM".to_owned();
    for field in 0..10 {
        let number = if field == 0 { number0 } else { field };
        let text = format!("value of field {field}");
        for (name, value) in [
            (format!("number{field}"), Any::new(&number).unwrap()),
            (format!("text{field}"), Any::new(text.as_str()).unwrap()),
        ] {
            event.filterable_data.push(Property { name, value });
        }
    }
    event
}

impl Counter {
    /// Makes a consumer that keeps the time of each event.
    pub(crate) fn with_times() -> Self {
        Self {
            times: Some(Arc::default()),
            ..Self::default()
        }
    }

    /// Makes a consumer that takes a time for each event or batch.
    pub(crate) fn that_takes(takes: Duration) -> Self {
        Self {
            takes,
            ..Self::default()
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn wait_for(&self, count: u64) {
        while self.count() < count {
            std::thread::yield_now();
        }
    }

    /// Takes the time at which each event came.
    pub(crate) fn times(&self) -> Vec<Instant> {
        let times = self.times.as_ref();
        times
            .map(|times| std::mem::take(&mut *times.lock()))
            .unwrap_or_default()
    }

    fn add(&self, count: usize) {
        if !self.takes.is_zero() {
            std::thread::sleep(self.takes);
        }
        if let Some(times) = &self.times {
            times.lock().push(Instant::now());
        }
        let count = u64::try_from(count).unwrap();
        self.count.fetch_add(count, Ordering::AcqRel);
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
        self.add(1);
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl SequencePushConsumerServant for Counter {
    fn push_structured_events(
        &self,
        events: &[StructuredEvent],
    ) -> Result<(), SequencePushConsumerPushStructuredEventsError> {
        self.add(events.len());
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}
