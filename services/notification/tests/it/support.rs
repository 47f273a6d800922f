//! Shared code of the tests: a service in an ORB of its own, called by requests, and a program of clients.

use std::time::Duration;

use punctual::config::{Concurrency, PoolSize};
use punctual::policy::Collocation;
use punctual::{
    Any, Implements, Interface, ListenEndpoint, NotNil, OperationError, Orb, OrbConfig, Poa,
    RootPoa, SystemException, SystemExceptionKind as Kind,
};
use punctual_host::Service;
use punctual_host::metrics::Exposition;
use punctual_notification::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, EventChannel, EventChannelFactory, ProxyConsumer, ProxySupplier,
    SequenceProxyPullSupplier, SequenceProxyPushConsumer, SequenceProxyPushSupplier,
    StructuredProxyPullConsumer, StructuredProxyPullSupplier, StructuredProxyPushConsumer,
    StructuredProxyPushSupplier, SupplierAdmin,
};
use punctual_notification::{Limits, NotificationService};

use crate::clients::Peer;

/// Service that is called by requests, until this is dropped.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) service: NotificationService,
    pub(crate) factory: EventChannelFactory,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(limits())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let service = NotificationService::in_memory();
        service.set_limits(limits);
        Self::of(service, ("127.0.0.1", 0))
    }

    /// Serves a service at a place.
    pub(crate) fn of(service: NotificationService, (host, port): (&str, u16)) -> Self {
        Self::at(service, ListenEndpoint::iiop(host, port))
    }

    /// Serves a service at an endpoint.
    pub(crate) fn at(service: NotificationService, endpoint: ListenEndpoint) -> Self {
        let orb = Orb::builder()
            .listen(endpoint)
            .configure(|config| {
                NotificationService::configure(config);
                config.collocation = Collocation::None;
            })
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let factory = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        Self {
            orb,
            service,
            factory,
        }
    }

    /// Creates a channel with properties.
    pub(crate) fn channel(
        &self,
        quality: &[Property],
        administration: &[Property],
    ) -> EventChannel {
        let created = self.factory.create_channel(quality, administration);
        created.unwrap().0.not_nil().unwrap()
    }

    /// Returns the value of a metric without labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let mut out = Exposition::of("notification");
        self.service.write_metrics(&mut out);
        let text = out.into_text();
        let start = format!("punctual_notification_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{name}: {text}"))
            .parse()
            .unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.end_waiting();
        let _ = self.orb.shutdown(true);
        self.service.stop();
    }
}

/// Limits for tests: peers are not asked whether they exist, and called again soon.
pub(crate) fn limits() -> Limits {
    Limits {
        pull_interval: Duration::from_millis(1),
        call_timeout: Duration::from_secs(60),
        retry: Duration::from_millis(1),
        longest_retry: Duration::from_millis(20),
        check: None,
        ..Limits::default()
    }
}

/// Program of suppliers and consumers: an ORB with endpoints and objects.
pub(crate) struct Program {
    pub(crate) orb: Orb,
    pub(crate) poa: Poa,
}

impl Program {
    pub(crate) fn new() -> Self {
        let configure = |config: &mut OrbConfig| {
            config.collocation = Collocation::None;
            config.concurrency = Concurrency::LeaderFollowers(PoolSize {
                reserve: false,
                ..PoolSize::default()
            });
        };
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(configure)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        Self { orb, poa }
    }

    /// Activates a servant.
    pub(crate) fn object<I: Interface + Implements<S>, S>(&self, servant: S) -> I {
        self.poa.activate(servant).unwrap()
    }

    /// Returns a reference of this program to an object of another.
    pub(crate) fn see<I: Interface>(&self, object: &I) -> I {
        let object = object.as_object();
        let text = object.orb().object_to_string(object).unwrap();
        I::from_object(self.orb.string_to_object(&text).unwrap())
    }

    /// Connects a supplier that pushes structured events.
    pub(crate) fn pushes_to(&self, channel: &EventChannel) -> StructuredProxyPushConsumer {
        let proxy = push_consumer(&suppliers(&self.see(channel)), ClientType::StructuredEvent);
        let proxy: StructuredProxyPushConsumer = narrowed(&proxy);
        proxy.connect_structured_push_supplier(None).unwrap();
        proxy
    }

    /// Connects a supplier of structured events that is pulled from.
    pub(crate) fn is_pulled_by(
        &self,
        channel: &EventChannel,
    ) -> (StructuredProxyPullConsumer, Peer) {
        let peer = Peer::default();
        let admin = suppliers(&self.see(channel));
        let obtained = admin.obtain_notification_pull_consumer(ClientType::StructuredEvent);
        let proxy: StructuredProxyPullConsumer = narrowed(&obtained.unwrap().0.not_nil().unwrap());
        let object = self.object(peer.clone());
        proxy
            .connect_structured_pull_supplier(Some(&object))
            .unwrap();
        (proxy, peer)
    }

    /// Obtains a proxy for a consumer that structured events are pushed to, and does not connect it.
    pub(crate) fn unconnected(&self, channel: &EventChannel) -> StructuredProxyPushSupplier {
        let proxy = push_supplier(&consumers(&self.see(channel)), ClientType::StructuredEvent);
        narrowed(&proxy)
    }

    /// Connects a consumer that structured events are pushed to.
    pub(crate) fn connect(&self, proxy: &StructuredProxyPushSupplier) -> Peer {
        let peer = Peer::default();
        let object = self.object(peer.clone());
        proxy
            .connect_structured_push_consumer(Some(&object))
            .unwrap();
        peer
    }

    /// Obtains and connects a consumer that structured events are pushed to.
    pub(crate) fn sink(&self, channel: &EventChannel) -> (StructuredProxyPushSupplier, Peer) {
        let proxy = self.unconnected(channel);
        let peer = self.connect(&proxy);
        (proxy, peer)
    }

    /// Obtains and connects a consumer that sequences are pushed to.
    pub(crate) fn sequence_sink(
        &self,
        channel: &EventChannel,
    ) -> (SequenceProxyPushSupplier, Peer) {
        let proxy = push_supplier(&consumers(&self.see(channel)), ClientType::SequenceEvent);
        let proxy: SequenceProxyPushSupplier = narrowed(&proxy);
        let peer = Peer::default();
        let object = self.object(peer.clone());
        proxy.connect_sequence_push_consumer(Some(&object)).unwrap();
        (proxy, peer)
    }

    /// Connects a consumer that pulls structured events.
    pub(crate) fn pulls_from(&self, channel: &EventChannel) -> StructuredProxyPullSupplier {
        let proxy = pull_supplier(&consumers(&self.see(channel)), ClientType::StructuredEvent);
        let proxy: StructuredProxyPullSupplier = narrowed(&proxy);
        proxy.connect_structured_pull_consumer(None).unwrap();
        proxy
    }

    /// Connects a consumer that pulls sequences.
    pub(crate) fn pulls_sequences_from(&self, channel: &EventChannel) -> SequenceProxyPullSupplier {
        let proxy = pull_supplier(&consumers(&self.see(channel)), ClientType::SequenceEvent);
        let proxy: SequenceProxyPullSupplier = narrowed(&proxy);
        proxy.connect_sequence_pull_consumer(None).unwrap();
        proxy
    }

    /// Connects a supplier that pushes sequences.
    pub(crate) fn pushes_sequences_to(&self, channel: &EventChannel) -> SequenceProxyPushConsumer {
        let proxy = push_consumer(&suppliers(&self.see(channel)), ClientType::SequenceEvent);
        let proxy: SequenceProxyPushConsumer = narrowed(&proxy);
        proxy.connect_sequence_push_supplier(None).unwrap();
        proxy
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

pub(crate) fn narrowed<I: Interface>(object: &impl Interface) -> I {
    I::narrow(object.as_object().clone()).unwrap()
}

pub(crate) fn consumers(channel: &EventChannel) -> ConsumerAdmin {
    channel.default_consumer_admin().unwrap().not_nil().unwrap()
}

pub(crate) fn suppliers(channel: &EventChannel) -> SupplierAdmin {
    channel.default_supplier_admin().unwrap().not_nil().unwrap()
}

pub(crate) fn push_supplier(admin: &ConsumerAdmin, client: ClientType) -> ProxySupplier {
    let obtained = admin.obtain_notification_push_supplier(client);
    obtained.unwrap().0.not_nil().unwrap()
}

pub(crate) fn pull_supplier(admin: &ConsumerAdmin, client: ClientType) -> ProxySupplier {
    let obtained = admin.obtain_notification_pull_supplier(client);
    obtained.unwrap().0.not_nil().unwrap()
}

pub(crate) fn push_consumer(admin: &SupplierAdmin, client: ClientType) -> ProxyConsumer {
    let obtained = admin.obtain_notification_push_consumer(client);
    obtained.unwrap().0.not_nil().unwrap()
}

pub(crate) fn property(name: &str, value: impl Into<Value>) -> Property {
    Property {
        name: name.to_owned(),
        value: value.into().0,
    }
}

/// Any of a basic type.
pub(crate) struct Value(Any);

macro_rules! values {
    ($($kind:ty),*) => {
        $(
            impl From<$kind> for Value {
                fn from(value: $kind) -> Self {
                    Self(Any::new(&value).unwrap())
                }
            }
        )*
    };
}

values!(
    i16,
    i32,
    u64,
    bool,
    Any,
    punctual_notification::time_base::UtcT
);

pub(crate) fn event_type(domain: &str, name: &str) -> EventType {
    EventType {
        domain_name: domain.to_owned(),
        type_name: name.to_owned(),
    }
}

/// Returns an event with a number of a type.
pub(crate) fn event_of((domain, name): (&str, &str), number: i32) -> StructuredEvent {
    StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: event_type(domain, name),
                event_name: format!("event {number}"),
            },
            variable_header: Vec::new(),
        },
        filterable_data: vec![property("number", number)],
        remainder_of_body: Any::new(&number).unwrap(),
    }
}

pub(crate) fn event(number: i32) -> StructuredEvent {
    event_of(("Telecom", "Alarm"), number)
}

pub(crate) fn number(event: &StructuredEvent) -> i32 {
    event.remainder_of_body.extract().unwrap()
}

/// Returns the kind of the system exception by which a call has failed.
pub(crate) fn kind_of<R: std::fmt::Debug, E: OperationError>(outcome: Result<R, E>) -> Kind {
    let error = outcome.unwrap_err();
    error.system().map(SystemException::kind).unwrap()
}

/// Waits until something holds, for at most five minutes: a test that waits longer fails instead of running on.
#[track_caller]
pub(crate) fn until(holds: impl Fn() -> bool) {
    let end = std::time::Instant::now() + Duration::from_secs(300);
    while !holds() {
        assert!(
            std::time::Instant::now() < end,
            "it does not hold after five minutes"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns whether an object exists.
pub(crate) fn exists(object: &impl Interface) -> bool {
    !object.as_object().non_existent().unwrap()
}
