//! Shared code of the tests: a channel in an ORB of its own, and peers in another.

use parking_lot::{Condvar, Mutex};
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, Orb, Poa, RootPoa, SystemException};
use punctual_host::Service;
use punctual_rtevent::{ChannelOptions, Dispatching, Threads, ThreadsOptions};
use punctual_rtevent_service::rtec_event_channel_admin::{
    ConsumerQos, Dependency, EventChannel, ProxyPushConsumer, ProxyPushSupplier, SupplierQos,
};
use punctual_rtevent_service::rtec_event_comm::{
    Event, EventHeader, PushConsumer, PushConsumerServant, PushSupplier, PushSupplierServant,
};
use punctual_rtevent_service::{EventService, RtecEventData, ServiceOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time after which something that should happen has not: long, for busy machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// ORB without calls inside the process, with an active root adapter.
pub(crate) fn orb() -> (Orb, Poa) {
    orb_at(ListenEndpoint::iiop("127.0.0.1", 0))
}

pub(crate) fn orb_at(endpoint: ListenEndpoint) -> (Orb, Poa) {
    let orb = Orb::builder()
        .listen(endpoint)
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    (orb, poa)
}

/// A channel that is served, and peers that have an ORB of their own, until this is dropped.
pub(crate) struct Served {
    orbs: [Orb; 2],
    poa: Poa,
    pub(crate) service: EventService,
    pub(crate) channel: EventChannel,
}

impl Served {
    pub(crate) fn new(options: ServiceOptions) -> Self {
        Self::at(ListenEndpoint::iiop("127.0.0.1", 0), options)
    }

    /// Serves a channel at an endpoint, where it has the same reference each time.
    pub(crate) fn at(endpoint: ListenEndpoint, options: ServiceOptions) -> Self {
        Self::on(orb_at(endpoint), options)
    }

    /// Serves a channel on an ORB.
    pub(crate) fn on((server, server_poa): (Orb, Poa), options: ServiceOptions) -> Self {
        let service = EventService::new(options).unwrap();
        let object = Service::serve(&service, &server_poa).unwrap();
        let (client, poa) = orb();
        let channel = client
            .string_to_object(&server.object_to_string(&object).unwrap())
            .unwrap();
        Self {
            orbs: [server, client],
            poa,
            service,
            channel: EventChannel::from_object(channel),
        }
    }

    /// Returns a reference to the channel as text.
    pub(crate) fn reference(&self) -> String {
        self.orbs[0]
            .object_to_string(self.channel.as_object())
            .unwrap()
    }

    /// Holds all requests while the closure runs, as a channel that stands still.
    pub(crate) fn stand_still(&self, meanwhile: impl FnOnce()) {
        let poa = self.orbs[0].root_poa().unwrap();
        poa.manager().hold_requests(false).unwrap();
        meanwhile();
        poa.manager().activate().unwrap();
    }

    /// Returns an object of the server as the peers refer to it.
    pub(crate) fn there<I: Interface>(&self, object: &I) -> I {
        let text = self.orbs[0].object_to_string(object.as_object()).unwrap();
        I::from_object(self.orbs[1].string_to_object(&text).unwrap())
    }

    /// Returns an adapter of the peers.
    pub(crate) fn peers(&self) -> &Poa {
        &self.poa
    }

    pub(crate) fn proxy_supplier(&self) -> ProxyPushSupplier {
        let admin = self.channel.for_consumers().unwrap().unwrap();
        admin.obtain_push_supplier().unwrap().unwrap()
    }

    pub(crate) fn proxy_consumer(&self) -> ProxyPushConsumer {
        let admin = self.channel.for_suppliers().unwrap().unwrap();
        admin.obtain_push_consumer().unwrap().unwrap()
    }

    /// Connects a consumer with a filter.
    pub(crate) fn consumer(&self, filter: &[EventHeader]) -> Received {
        let consumer = self.unconnected();
        let reference = Some(&consumer.reference);
        consumer
            .proxy
            .connect_push_consumer(reference, &wants(filter))
            .unwrap();
        consumer
    }

    /// Makes a consumer, and a proxy for it.
    pub(crate) fn unconnected(&self) -> Received {
        let inbox = Arc::new(Inbox::default());
        Received {
            reference: self.poa.activate(inbox.clone()).unwrap(),
            proxy: self.proxy_supplier(),
            inbox,
        }
    }

    /// Connects a supplier, whose pushes return when the channel has the events.
    pub(crate) fn supplier(&self) -> ProxyPushConsumer {
        let proxy = self.proxy_consumer();
        proxy
            .connect_push_supplier(None, &SupplierQos::default())
            .unwrap();
        synchronous(&proxy)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for orb in &self.orbs {
            let _ = orb.shutdown(true);
        }
    }
}

/// Returns a proxy whose pushes return when they have been executed, with their exceptions.
pub(crate) fn synchronous(proxy: &ProxyPushConsumer) -> ProxyPushConsumer {
    use punctual::policy::SyncScope;
    use punctual::{Policy, SetOverride};
    let policies = [Policy::SyncScope(SyncScope::WithTarget)];
    let object = proxy
        .as_object()
        .set_policy_overrides(&policies, SetOverride::Add);
    ProxyPushConsumer::from_object(object.unwrap())
}

/// Consumer that keeps what it receives.
pub(crate) struct Received {
    pub(crate) reference: PushConsumer,
    pub(crate) proxy: ProxyPushSupplier,
    pub(crate) inbox: Arc<Inbox>,
}

/// Events that have been received.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    pushes: Vec<Vec<Event>>,
    is_disconnected: bool,
}

impl Inbox {
    /// Waits until so many pushes have been received, and returns them.
    pub(crate) fn pushes(&self, count: usize) -> Vec<Vec<Event>> {
        let mut state = self.state.lock();
        while state.pushes.len() < count {
            let late = self.changed.wait_for(&mut state, PATIENCE).timed_out();
            assert!(!late, "{} of {count} pushes came", state.pushes.len());
        }
        state.pushes.clone()
    }

    /// Waits until so many events have been received, and returns their types.
    pub(crate) fn kinds(&self, count: usize) -> Vec<i32> {
        self.events(count)
            .iter()
            .map(|event| event.header.r#type)
            .collect()
    }

    /// Waits until so many events have been received, and returns them.
    pub(crate) fn events(&self, count: usize) -> Vec<Event> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state.lock();
        loop {
            let events = state.pushes.concat();
            if events.len() >= count {
                return events;
            }
            let late = self.changed.wait_until(&mut state, deadline).timed_out();
            assert!(!late, "{} of {count} events came", events.len());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().pushes.is_empty()
    }

    /// Waits until the channel has ended the connection.
    pub(crate) fn disconnection(&self) {
        let mut state = self.state.lock();
        while !state.is_disconnected {
            let late = self.changed.wait_for(&mut state, PATIENCE).timed_out();
            assert!(!late, "the channel has not ended the connection");
        }
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        self.state.lock().is_disconnected
    }
}

impl PushConsumerServant for Inbox {
    fn push(&self, data: &[Event]) -> Result<(), SystemException> {
        self.state.lock().pushes.push(data.to_vec());
        self.changed.notify_all();
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        self.state.lock().is_disconnected = true;
        self.changed.notify_all();
        Ok(())
    }
}

impl PushSupplierServant for Inbox {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        PushConsumerServant::disconnect_push_consumer(self)
    }
}

/// Supplier that notes its disconnection.
pub(crate) fn supplier_object(poa: &Poa) -> (PushSupplier, Arc<Inbox>) {
    let inbox = Arc::new(Inbox::default());
    (poa.activate(inbox.clone()).unwrap(), inbox)
}

/// Header of a type and source, also as an entry of a filter.
pub(crate) fn header(kind: i32, source: i32) -> EventHeader {
    EventHeader {
        r#type: kind,
        source,
        ..EventHeader::default()
    }
}

/// Event with a payload.
pub(crate) fn event(kind: i32, source: i32, payload: &[u8]) -> Event {
    Event {
        header: header(kind, source),
        data: RtecEventData {
            payload: payload.to_vec(),
            ..RtecEventData::default()
        },
    }
}

/// Subscription with a filter.
pub(crate) fn wants(filter: &[EventHeader]) -> ConsumerQos {
    let dependencies = filter.iter().map(|header| Dependency {
        event: Event {
            header: *header,
            ..Event::default()
        },
        rt_info: 0,
    });
    ConsumerQos {
        dependencies: dependencies.collect(),
        is_gateway: false,
    }
}

/// Returns the options of a channel with a thread for each level.
pub(crate) fn by_threads() -> ServiceOptions {
    let threads = Threads::new(ThreadsOptions::default()).unwrap();
    ServiceOptions {
        channel: ChannelOptions {
            dispatching: Dispatching::Queued(Arc::new(threads)),
            ..ChannelOptions::default()
        },
        ..ServiceOptions::default()
    }
}

/// Waits until the condition holds.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
