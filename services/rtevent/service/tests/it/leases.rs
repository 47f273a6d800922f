//! Suppliers without an object, which end with their connections.

use crate::support::{Served, event, eventually, header, orb, synchronous};
use punctual::{Interface, Orb};
use punctual_rtevent::Liveness;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_channel_admin::{
    EventChannel, ProxyPushConsumer, SupplierQos,
};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3_600);

fn served(lease: Duration) -> Served {
    let mut options = ServiceOptions {
        lease,
        ..ServiceOptions::default()
    };
    options.channel.liveness = Some(Liveness {
        interval: Duration::from_millis(5),
        // The consumer may answer late on a busy machine.
        most_unanswered: u32::MAX - 1,
    });
    Served::new(options)
}

fn suppliers(served: &Served) -> usize {
    served.service.channel().statistics().suppliers
}

/// Returns a proxy with a nil supplier, by an ORB of its own, whose end closes the connection.
fn nil_supplier(served: &Served) -> (Orb, ProxyPushConsumer) {
    let (orb, _) = orb();
    let channel = orb.string_to_object(&served.reference()).unwrap();
    let admin = EventChannel::from_object(channel).for_suppliers().unwrap();
    let proxy = admin.unwrap().obtain_push_consumer().unwrap().unwrap();
    proxy
        .connect_push_supplier(None, &SupplierQos::default())
        .unwrap();
    (orb, synchronous(&proxy))
}

#[test]
fn a_supplier_without_an_object_ends_with_its_connection() {
    let served = served(Duration::ZERO);
    let consumer = served.consumer(&[header(16, 0)]);
    let (orb, proxy) = nil_supplier(&served);
    // Several rounds of questions find the connection there.
    for number in 1..=20 {
        proxy.push(&[event(16, 0, b"")]).unwrap();
        consumer.inbox.events(number);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(suppliers(&served), 1);
    orb.shutdown(true).unwrap();
    eventually("the supplier has ended", || suppliers(&served) == 0);
}

#[test]
fn a_supplier_without_an_object_may_connect_again_within_its_lease() {
    let served = served(LONG);
    let consumer = served.consumer(&[header(16, 0)]);
    let (orb, proxy) = nil_supplier(&served);
    let text = orb.object_to_string(proxy.as_object()).unwrap();
    orb.shutdown(true).unwrap();
    let (again, _) = crate::support::orb();
    let proxy = again.string_to_object(&text).unwrap();
    let proxy = synchronous(&ProxyPushConsumer::from_object(proxy));
    proxy.push(&[event(16, 0, b"")]).unwrap();
    consumer.inbox.events(1);
    assert_eq!(suppliers(&served), 1);
    again.shutdown(true).unwrap();
}
