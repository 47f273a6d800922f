//! Links between channels.

use crate::support::{Served, event, eventually, header};
use punctual::ListenEndpoint;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::federation::{Link, UdpLink};
use punctual_rtevent_service::rtec_event_comm::Event;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};

fn with(sends: &[String], receives: &[String]) -> Served {
    let parse = |links: &[String]| links.iter().map(|it| it.parse::<Link>().unwrap()).collect();
    Served::new(ServiceOptions {
        sends: parse(sends),
        receives: parse(receives),
        ..ServiceOptions::default()
    })
}

fn crossing(kind: i32, ttl: i32) -> Event {
    let mut event = event(kind, 1, b"payload");
    event.header.ttl = ttl;
    event
}

/// Channel that receives at an address whose port the system chooses, and the address with that port.
fn receiving(address: &str, interface: Ipv4Addr) -> (Served, String) {
    let mut link = UdpLink::new(SocketAddrV4::new(address.parse().unwrap(), 0));
    link.interface = interface;
    let served = Served::new(ServiceOptions {
        receives: vec![Link::Udp(link)],
        ..ServiceOptions::default()
    });
    let (link, _) = served.service.udp_counts().remove(0);
    (served, format!("udp://{}", link.address))
}

fn receiving_here() -> (Served, String) {
    receiving("127.0.0.1", Ipv4Addr::UNSPECIFIED)
}

#[test]
fn what_is_subscribed_to_here_comes_from_the_channel_elsewhere() {
    let there = with(&[], &[]);
    let here = with(&[], &[there.reference()]);
    let consumer = here.consumer(&[header(16, 0)]);
    let subscribed = || there.service.channel().statistics().consumers.len() == 1;
    eventually("the gateway subscribes", subscribed);
    let supplier = there.supplier();
    supplier
        .push(&[crossing(17, 1), crossing(16, 0), crossing(16, 2)])
        .unwrap();
    let received = consumer.inbox.pushes(1).remove(0);
    assert_eq!(received.len(), 1);
    assert_eq!((received[0].header.r#type, received[0].header.ttl), (16, 1));
    assert_eq!(received[0].data.payload, b"payload");
}

#[test]
fn channels_of_one_host_are_linked_over_shared_memory() {
    let shared_memory = || "shmiop://".parse::<ListenEndpoint>().unwrap();
    let there = Served::at(shared_memory(), ServiceOptions::default());
    let link = there.reference().parse::<Link>().unwrap();
    let options = ServiceOptions {
        receives: vec![link],
        ..ServiceOptions::default()
    };
    let here = Served::at(shared_memory(), options);
    let consumer = here.consumer(&[header(16, 0)]);
    let gateways = || there.service.counts(10).consumers;
    // Its address is noted once it is connected.
    let is_noted = || gateways().iter().any(|gateway| !gateway.peer.is_empty());
    eventually("the gateway subscribes", is_noted);
    let peer = gateways().remove(0).peer;
    assert!(peer.starts_with("shmiop://"), "{peer}");
    let mut large = crossing(16, 1);
    large.data.payload = (0..200_000_u32).map(|at| (at % 251) as u8).collect();
    there
        .supplier()
        .push(&[large.clone(), crossing(16, 1)])
        .unwrap();
    let events = consumer.inbox.events(2);
    assert_eq!(events[0].data.payload, large.data.payload);
    assert_eq!(events[1].data.payload, b"payload");
}

#[test]
fn a_gateway_follows_subscriptions() {
    let there = with(&[], &[]);
    let here = with(&[], &[there.reference()]);
    let consumers = || there.service.channel().statistics().consumers.len();
    let first = here.consumer(&[header(16, 0)]);
    eventually("the gateway subscribes", || consumers() == 1);
    let supplier = there.supplier();
    let second = here.consumer(&[header(17, 0)]);
    // The other channel does not say when a changed subscription holds: events are pushed until it does.
    eventually("an event of the second type comes", || {
        supplier.push(&[crossing(17, 1)]).unwrap();
        !second.inbox.is_empty()
    });
    first.proxy.disconnect_push_supplier().unwrap();
    second.proxy.disconnect_push_supplier().unwrap();
    eventually("the gateway subscribes to nothing", || consumers() == 0);
}

#[test]
fn a_cycle_of_channels_ends_with_the_ttl() {
    let one = with(&[], &[]);
    let other = with(&[], &[one.reference()]);
    // The first one is linked when the other has a reference.
    let federation = {
        use punctual_rtevent_service::federation::Federation;
        let link = other.reference().parse::<Link>().unwrap();
        let options = ServiceOptions {
            receives: vec![link],
            ..ServiceOptions::default()
        };
        Federation::start(one.service.channel(), &options, one.peers()).unwrap()
    };
    let (here, there) = (
        one.consumer(&[header(16, 0)]),
        other.consumer(&[header(16, 0)]),
    );
    for served in [&one, &other] {
        // Its own consumer, and the gateway of the other one.
        let consumers = || served.service.channel().statistics().consumers.len();
        eventually("both subscribe", || consumers() == 2);
    }
    one.supplier().push(&[crossing(16, 3)]).unwrap();
    let ttls = |served: &crate::support::Received, count| {
        let events = served.inbox.events(count);
        events
            .iter()
            .map(|event| event.header.ttl)
            .collect::<Vec<_>>()
    };
    assert_eq!(ttls(&here, 2), [3, 1]);
    assert_eq!(ttls(&there, 2), [2, 0]);
    drop(federation);
}

#[test]
fn a_gateway_connects_again_to_a_channel_that_was_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        let endpoint = ListenEndpoint::new("uiop", folder.path().join("socket").to_str().unwrap());
        Served::at(endpoint, ServiceOptions::default())
    };
    let there = start();
    let here = with(&[], &[there.reference()]);
    let consumer = here.consumer(&[header(16, 0)]);
    let is_subscribed = |there: &Served| there.service.channel().statistics().consumers.len() == 1;
    eventually("the gateway subscribes", || is_subscribed(&there));
    drop(there);
    let there = start();
    eventually("the gateway subscribes again", || is_subscribed(&there));
    there.supplier().push(&[crossing(16, 1)]).unwrap();
    assert_eq!(consumer.inbox.kinds(1), [16]);
}

#[test]
fn events_cross_by_datagrams_also_in_many_fragments() {
    let (receiver, address) = receiving_here();
    let sender = with(&[format!("{address}?datagram=64")], &[]);
    let consumer = receiver.consumer(&[header(0, 0)]);
    let mut large = crossing(16, 2);
    large.data.payload = (0..5_000_u32).map(|at| at as u8).collect();
    large.data.any_value = punctual::Any::new("text").unwrap();
    let supplier = sender.supplier();
    supplier.push(&[crossing(15, 0), large.clone()]).unwrap();
    let received = consumer.inbox.pushes(1).remove(0).remove(0);
    assert_eq!((received.header.r#type, received.header.ttl), (16, 1));
    assert_eq!(received.data, large.data);
}

#[test]
fn a_multicast_group_reaches_every_channel_but_the_sender_s() {
    let (first, address) = receiving("239.255.77.1", Ipv4Addr::LOCALHOST);
    let link = [format!("{address}?interface=127.0.0.1")];
    let receivers = [first, with(&[], &link)];
    let sender = with(&link, &link);
    let consumers: Vec<_> = receivers
        .iter()
        .map(|it| it.consumer(&[header(0, 0)]))
        .collect();
    let own = sender.consumer(&[header(0, 0)]);
    let supplier = sender.supplier();
    supplier.push(&[crossing(16, 1)]).unwrap();
    supplier.push(&[crossing(17, 1)]).unwrap();
    for consumer in &consumers {
        assert_eq!(consumer.inbox.kinds(2), [16, 17]);
    }
    assert_eq!(own.inbox.kinds(2), [16, 17]);
}

#[test]
fn types_that_a_link_does_not_name_stay_here() {
    let (receiver, address) = receiving_here();
    let sender = with(&[format!("{address}?types=17,18")], &[]);
    let consumer = receiver.consumer(&[header(0, 0)]);
    let supplier = sender.supplier();
    for kind in 16..20 {
        supplier.push(&[crossing(kind, 1)]).unwrap();
    }
    assert_eq!(consumer.inbox.kinds(2), [17, 18]);
}

#[test]
fn datagrams_that_are_no_events_do_no_harm() {
    let (receiver, address) = receiving_here();
    let consumer = receiver.consumer(&[header(0, 0)]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for octets in [&b""[..], b"nonsense", &[0xff; 1_000], b"\x01ABC"] {
        socket
            .send_to(octets, address.trim_start_matches("udp://"))
            .unwrap();
    }
    let sender = with(&[address], &[]);
    sender.supplier().push(&[crossing(16, 1)]).unwrap();
    assert_eq!(consumer.inbox.kinds(1), [16]);
}

#[test]
fn a_link_whose_datagrams_cannot_be_sent_stays() {
    let (receiver, address) = receiving_here();
    let sender = with(&[format!("{address}?datagram=64&rate=4294967295")], &[]);
    let consumer = receiver.consumer(&[header(0, 0)]);
    let supplier = sender.supplier();
    // Nothing receives there any more: the system reports that with a later datagram.
    drop(consumer);
    drop(receiver);
    for _ in 0..20 {
        supplier.push(&[crossing(16, 1)]).unwrap();
    }
    eventually("all have been sent or counted", || {
        let (_, counts) = &sender.service.udp_counts()[0];
        counts.sent + counts.unsent == 20
    });
    assert_eq!(sender.service.channel().statistics().consumers.len(), 1);
}
