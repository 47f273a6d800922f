//! Subscriptions at another priority than events.

use crate::support::{event, header, orb, synchronous, wants};
use parking_lot::{Condvar, Mutex};
use punctual::rt::{NativePolicy, PoolThreads, Priority, RtConfig, RtOrb, ThreadpoolOptions};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemException};
use punctual_rtevent_service::rtec_event_channel_admin::{
    ConsumerQos, EventChannel, Observer, ObserverServant, SupplierQos,
};
use punctual_rtevent_service::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use punctual_rtevent_service::{AdapterPolicies, EventService, ServiceOptions};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

/// Observer that does not return from its first call until it is let go.
#[derive(Default)]
struct Hangs {
    is_called: Mutex<bool>,
    may_return: Mutex<bool>,
    changed: Condvar,
}

impl Hangs {
    fn wait(&self, for_what: &Mutex<bool>) {
        let mut is = for_what.lock();
        while !*is {
            self.changed.wait(&mut is);
        }
    }

    fn set(&self, what: &Mutex<bool>) {
        *what.lock() = true;
        self.changed.notify_all();
    }
}

impl ObserverServant for Hangs {
    fn update_consumer(&self, _: &ConsumerQos) -> Result<(), SystemException> {
        self.set(&self.is_called);
        self.wait(&self.may_return);
        Ok(())
    }

    fn update_supplier(&self, _: &SupplierQos) -> Result<(), SystemException> {
        Ok(())
    }
}

struct Received(Mutex<Sender<usize>>);

impl PushConsumerServant for Received {
    fn push(&self, data: &[Event]) -> Result<(), SystemException> {
        let _ = self.0.lock().send(data.len());
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

fn lane(priority: i16) -> PoolThreads {
    PoolThreads {
        priority: Priority::new(priority).unwrap(),
        static_threads: 1,
        dynamic_threads: 0,
        reservation: None,
    }
}

/// Channel whose administration has the priority 10, and whose events have 20.
struct InLanes {
    _rt: Arc<RtOrb>,
    server: Orb,
    channel: EventChannel,
}

impl InLanes {
    fn new(service: ServiceOptions) -> Self {
        let rt = RtOrb::new(RtConfig {
            policy: NativePolicy::Other,
            ..RtConfig::default()
        });
        let rt = rt.unwrap();
        let builder = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
        let server = rt.extend(builder).unwrap().build().unwrap();
        let root = server.root_poa().unwrap();
        root.manager().activate().unwrap();
        let options = ThreadpoolOptions::default();
        let adapters =
            AdapterPolicies::in_lanes(&rt, &server, lane(10), lane(20), &options).unwrap();
        let service = EventService::new(service).unwrap();
        let channel = service.serve_by(&root, &adapters).unwrap();
        Self {
            _rt: rt,
            server,
            channel,
        }
    }
}

#[test]
fn administration_that_hangs_delays_no_event_as_events_have_a_lane_of_their_own() {
    let InLanes {
        server, channel, ..
    } = &InLanes::new(ServiceOptions {
        push_timeout: Duration::from_secs(600),
        ..ServiceOptions::default()
    });
    let text = server.object_to_string(channel.as_object()).unwrap();
    let (client, poa) = orb();
    let channel_there = EventChannel::from_object(client.string_to_object(&text).unwrap());
    let (events, received) = mpsc::channel();
    let consumer: PushConsumer = poa.activate(Received(Mutex::new(events))).unwrap();
    let consumers = channel_there.for_consumers().unwrap().unwrap();
    let proxy = consumers.obtain_push_supplier().unwrap().unwrap();
    proxy
        .connect_push_consumer(Some(&consumer), &wants(&[header(0, 0)]))
        .unwrap();
    let suppliers = channel_there.for_suppliers().unwrap().unwrap();
    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    supplier
        .connect_push_supplier(None, &SupplierQos::default())
        .unwrap();
    let hangs = Arc::new(Hangs::default());
    let observer: Observer = poa.activate(hangs.clone()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| channel_there.append_observer(Some(&observer)).unwrap());
        hangs.wait(&hangs.is_called);
        // The only thread of administration is in that call; events pass all the same.
        let pushed = synchronous(&supplier).push(&[event(16, 1, b"")]);
        let arrived = received.recv_timeout(Duration::from_secs(60));
        hangs.set(&hangs.may_return);
        pushed.unwrap();
        assert_eq!(arrived.unwrap(), 1);
    });
    for orb in [server, &client] {
        orb.shutdown(true).unwrap();
    }
}

#[test]
fn references_of_administration_and_of_events_have_their_priorities() {
    let InLanes {
        server, channel, ..
    } = &InLanes::new(ServiceOptions::default());
    let consumers = channel.for_consumers().unwrap().unwrap();
    let of_consumer = consumers.obtain_push_supplier().unwrap().unwrap();
    let suppliers = channel.for_suppliers().unwrap().unwrap();
    let of_supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    let places = |object: &punctual::ObjectRef| {
        let endpoints = punctual::protocol::endpoints_of(object.orb(), object.ior());
        let priorities = endpoints.iter().map(|one| one.qualities.priority);
        priorities.flatten().map(i32::from).collect::<Vec<_>>()
    };
    assert_eq!(places(channel.as_object()), [10]);
    assert_eq!(places(of_consumer.as_object()), [10]);
    assert_eq!(places(of_supplier.as_object()), [20]);
    server.shutdown(true).unwrap();
}
