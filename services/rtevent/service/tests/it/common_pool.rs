//! Long payloads for several consumers over shared memory: the number of copies that the channel makes.

use crate::support::{Inbox, Served, by_threads, event, header, orb_at, wants};
use punctual::protocol::ProtocolBundle;
use punctual::protocol::shmiop::{Copied, ShmOptions, Shmiop};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_channel_admin::{EventChannel, ProxyPushSupplier};
use std::sync::Arc;

const LONG: usize = 64 * 1024;
/// Upper bound of the bytes of an event's headers and lengths.
const HEADERS: u64 = 1024;

/// Channel whose copies are counted, and consumers with ORBs of their own.
struct Counted {
    served: Served,
    link: Arc<Shmiop>,
    consumers: Vec<Consumer>,
}

struct Consumer {
    orb: Orb,
    inbox: Arc<Inbox>,
    _proxy: ProxyPushSupplier,
}

impl Counted {
    /// Connects consumers that listen at these endpoints to a channel whose link has a common pool of so many bytes.
    fn new(common_pool: u32, endpoints: &[ListenEndpoint], options: ServiceOptions) -> Self {
        let link = Arc::new(Shmiop::new(ShmOptions {
            common_pool,
            ..ShmOptions::default()
        }));
        let (orb, poa) = orb_at(tcp());
        orb.retire_protocol("shmiop").unwrap();
        orb.add_protocols(&ProtocolBundle::new().link(link.clone()))
            .unwrap();
        let served = Served::on((orb, poa), options);
        let connect = |endpoint: &ListenEndpoint| Consumer::new(endpoint, &served.reference());
        let consumers = endpoints.iter().map(connect).collect();
        Self {
            served,
            link,
            consumers,
        }
    }

    /// Pushes events with a payload of `length`, one after the other, until each consumer has them, and returns what the
    /// channel copied for them.
    fn copies_of(&self, events: usize, length: usize) -> Copied {
        let before = self.link.copied();
        let supplier = self.served.supplier();
        for at in 0..events {
            let payload = vec![u8::try_from(at % 251).unwrap(); length];
            supplier.push(&[event(16, 1, &payload)]).unwrap();
            for consumer in &self.consumers {
                let received = consumer.inbox.events(at + 1);
                assert!(received[at].data.payload == payload, "event {at}");
            }
        }
        let after = self.link.copied();
        Copied {
            into_ring: after.into_ring - before.into_ring,
            out_of_ring: after.out_of_ring - before.out_of_ring,
            into_pool: after.into_pool - before.into_pool,
            out_of_pool: after.out_of_pool - before.out_of_pool,
        }
    }
}

impl Consumer {
    fn new(endpoint: &ListenEndpoint, channel: &str) -> Self {
        let (orb, _) = orb_at(endpoint.clone());
        let channel = EventChannel::from_object(orb.string_to_object(channel).unwrap());
        let admin = channel.for_consumers().unwrap().unwrap();
        let proxy = admin.obtain_push_supplier().unwrap().unwrap();
        let inbox = Arc::new(Inbox::default());
        let reference = orb.root_poa().unwrap().activate(inbox.clone()).unwrap();
        proxy
            .connect_push_consumer(Some(&reference), &wants(&[header(16, 0)]))
            .unwrap();
        Self {
            orb,
            inbox,
            _proxy: proxy,
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

fn tcp() -> ListenEndpoint {
    ListenEndpoint::iiop("127.0.0.1", 0)
}

fn shared_memory() -> ListenEndpoint {
    ListenEndpoint::new("shmiop", "")
}

#[test]
fn a_long_payload_is_copied_once_for_all_consumers_over_shared_memory() {
    const EVENTS: u64 = 5;
    for (common_pool, consumers, copies) in [(0, 4, 4), (16 << 20, 1, 1), (16 << 20, 10, 1)] {
        let endpoints = vec![shared_memory(); consumers];
        let counted = Counted::new(common_pool, &endpoints, ServiceOptions::default());
        let copied = counted.copies_of(EVENTS as usize, LONG);
        let expected = EVENTS * copies * LONG as u64;
        assert_eq!(copied.into_pool, expected, "{consumers} of {common_pool}");
        let most = EVENTS * HEADERS * consumers as u64;
        assert!(copied.into_ring < most, "{copied:?}");
    }
}

#[test]
fn consumers_by_other_links_get_copies_of_the_same_event() {
    let endpoints = [
        tcp(),
        shared_memory(),
        tcp(),
        shared_memory(),
        shared_memory(),
    ];
    let counted = Counted::new(16 << 20, &endpoints, ServiceOptions::default());
    let copied = counted.copies_of(4, 20_000);
    assert_eq!(copied.into_pool, 4 * 20_000);
    assert!(copied.into_ring < 4 * 3 * HEADERS, "{copied:?}");
}

#[test]
fn a_channel_with_threads_copies_once_too() {
    let endpoints = [shared_memory(), shared_memory(), shared_memory()];
    let counted = Counted::new(16 << 20, &endpoints, by_threads());
    let copied = counted.copies_of(20, LONG);
    assert_eq!(copied.into_pool, 20 * LONG as u64);
}

#[test]
fn short_payloads_are_no_part_of_the_pool() {
    let endpoints = [shared_memory(), shared_memory()];
    let counted = Counted::new(16 << 20, &endpoints, ServiceOptions::default());
    let copied = counted.copies_of(3, 1000);
    assert_eq!(copied.into_pool, 0);
    assert!(copied.into_ring >= 2 * 3 * 1000, "{copied:?}");
}

#[test]
fn where_the_pool_has_no_room_each_consumer_gets_a_copy_as_without_it() {
    let endpoints = [shared_memory(), shared_memory()];
    let counted = Counted::new(LONG as u32, &endpoints, ServiceOptions::default());
    let copied = counted.copies_of(3, 2 * LONG);
    assert_eq!(copied.into_pool, 3 * 2 * 2 * LONG as u64);
}
