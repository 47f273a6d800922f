//! Shared code of the tests: a service in an ORB of its own, called by requests.

use std::time::Duration;

use punctual::config::{Concurrency, PoolSize};
use punctual::policy::Collocation;
use punctual::stub::GiopVersion;
use punctual::{Any, Implements, Interface, ListenEndpoint, NotNil, Orb, OrbConfig, Poa, RootPoa};
use punctual_cosevent::cos_event_channel_admin::{
    ProxyPullConsumer, ProxyPullSupplier, ProxyPushConsumer, ProxyPushSupplier,
};
use punctual_cosevent::cos_typed_event_channel_admin::TypedEventChannel;
use punctual_cosevent::omni_events::{EventChannel, EventChannelFactory};
use punctual_cosevent::{EventService, Limits, Root};
use punctual_host::Service;
use punctual_host::metrics::Exposition;

use crate::peers::{Sink, Source};

/// Service that is called by requests, until this is dropped.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) service: EventService,
    pub(crate) channel: EventChannel,
    pub(crate) factory: EventChannelFactory,
    pub(crate) typed_channel: Option<TypedEventChannel>,
}

impl Served {
    pub(crate) fn new() -> Self {
        Self::with(limits())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let service = EventService::in_memory();
        service.set_limits(limits);
        Self::of(service, ("127.0.0.1", 0))
    }

    pub(crate) fn at(place: (&str, u16)) -> Self {
        let service = EventService::in_memory();
        service.set_limits(limits());
        Self::of(service, place)
    }

    /// Serves at a host and a port; 0 is any.
    pub(crate) fn of(service: EventService, (host, port): (&str, u16)) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop(host, port))
            .configure(|config| {
                EventService::configure(config);
                config.collocation = Collocation::None;
            })
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        let Root {
            channel,
            factory,
            typed_channel,
        } = service.serve(&poa).unwrap();
        poa.manager().activate().unwrap();
        Self {
            orb,
            service,
            channel,
            factory,
            typed_channel,
        }
    }

    /// Returns the value of a metric without labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let mut out = Exposition::of("cosevent");
        self.service.write_metrics(&mut out);
        let text = out.into_text();
        let start = format!("punctual_cosevent_{name} ");
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

/// Limits for tests: peers are not asked whether they exist, and suppliers are asked often.
pub(crate) fn limits() -> Limits {
    Limits {
        pull_interval: Duration::from_millis(1),
        call_timeout: Duration::from_secs(60),
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
        Self::with(GiopVersion::V1_2)
    }

    /// Makes a program that speaks no newer version of GIOP.
    pub(crate) fn with(version: GiopVersion) -> Self {
        let configure = |config: &mut OrbConfig| {
            config.giop_version = version;
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
        let text = object
            .as_object()
            .orb()
            .object_to_string(object.as_object())
            .unwrap();
        I::from_object(self.orb.string_to_object(&text).unwrap())
    }

    /// Connects a supplier that pushes, without a reference to it.
    pub(crate) fn pushes_to(&self, channel: &EventChannel) -> ProxyPushConsumer {
        let proxy = push_consumer(&self.see(channel));
        proxy.connect_push_supplier(None).unwrap();
        proxy
    }

    /// Connects a consumer that pulls, without a reference to it.
    pub(crate) fn pulls_from(&self, channel: &EventChannel) -> ProxyPullSupplier {
        let proxy = pull_supplier(&self.see(channel));
        proxy.connect_pull_consumer(None).unwrap();
        proxy
    }

    /// Connects a consumer that is pushed to.
    pub(crate) fn sink(&self, channel: &EventChannel) -> (ProxyPushSupplier, Sink) {
        let sink = Sink::default();
        let proxy = push_supplier(&self.see(channel));
        let object = self.object(sink.clone());
        proxy.connect_push_consumer(Some(&object)).unwrap();
        (proxy, sink)
    }

    /// Connects a supplier that is pulled from.
    pub(crate) fn source(&self, channel: &EventChannel) -> (ProxyPullConsumer, Source) {
        let source = Source::default();
        let proxy = pull_consumer(&self.see(channel));
        let object = self.object(source.clone());
        proxy.connect_pull_supplier(Some(&object)).unwrap();
        (proxy, source)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

pub(crate) fn push_consumer(channel: &EventChannel) -> ProxyPushConsumer {
    let admin = channel.for_suppliers().unwrap().not_nil().unwrap();
    admin.obtain_push_consumer().unwrap().not_nil().unwrap()
}

pub(crate) fn pull_consumer(channel: &EventChannel) -> ProxyPullConsumer {
    let admin = channel.for_suppliers().unwrap().not_nil().unwrap();
    admin.obtain_pull_consumer().unwrap().not_nil().unwrap()
}

pub(crate) fn push_supplier(channel: &EventChannel) -> ProxyPushSupplier {
    let admin = channel.for_consumers().unwrap().not_nil().unwrap();
    admin.obtain_push_supplier().unwrap().not_nil().unwrap()
}

pub(crate) fn pull_supplier(channel: &EventChannel) -> ProxyPullSupplier {
    let admin = channel.for_consumers().unwrap().not_nil().unwrap();
    admin.obtain_pull_supplier().unwrap().not_nil().unwrap()
}

pub(crate) fn event(number: i32) -> Any {
    Any::new(&number).unwrap()
}

pub(crate) fn number(event: &Any) -> i32 {
    event.extract().unwrap()
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
