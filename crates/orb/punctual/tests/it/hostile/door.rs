//! Clients that connect to an endpoint and do not speak even the protocol of its link.

use crate::hostile::links::{Over, Rig, over_links};
use crate::hostile::peer::request;
use crate::support::Random;
use punctual::ListenEndpoint;
use punctual_giop::MessageKind;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;

/// Number of clients that connect at once without speaking the protocol.
const CROWD: usize = 40;

/// Opens a plain stream to the server's endpoint, without the link's protocol.
fn stranger(rig: &Rig) -> Box<dyn Write> {
    let address = rig.address();
    match rig.over {
        Over::Shmiop => Box::new(UnixStream::connect(address.place()).unwrap()),
        _ => Box::new(TcpStream::connect(address.place()).unwrap()),
    }
}

/// Asserts that the server serves existing clients and new ones.
fn everyone_is_served(rig: &Rig) {
    rig.others_are_served();
    let mut peer = rig.peer();
    peer.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
    assert_eq!(peer.receive().0, MessageKind::Reply);
}

over_links! {
    [(over_shmiop, Shmiop), (over_ssliop, Ssliop)]

    fn strangers_who_say_nothing_keep_nobody_out(over: Over) {
        let rig = Rig::new(over);
        let crowd: Vec<_> = (0..CROWD).map(|_| stranger(&rig)).collect();
        everyone_is_served(&rig);
        drop(crowd);
        everyone_is_served(&rig);
    }

    fn strangers_who_talk_nonsense_keep_nobody_out(over: Over) {
        let rig = Rig::new(over);
        let mut random = Random(0x5eed);
        let giop = request(&rig.key(), "ping", |_| {});
        let mut crowd = Vec::new();
        for _ in 0..CROWD {
            let mut one = stranger(&rig);
            let octets: Vec<u8> = (0..random.below(100)).map(|_| random.octet()).collect();
            // The server may close before everything is sent.
            let _ = one.write_all(&octets);
            let _ = one.write_all(&giop);
            crowd.push(one);
        }
        everyone_is_served(&rig);
        drop(crowd);
        assert_eq!(rig.echo.pings().unwrap(), 0);
        rig.wait_until_at_most(1);
    }
}

/// Sends datagrams to an address: random ones, and mutations of `seeds`.
fn pelt(place: &str, seeds: &[Vec<u8>], count: usize) {
    let mut random = Random(0x5eed);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(place).unwrap();
    for _ in 0..count {
        let mut datagram: Vec<u8> = match random.below(3) {
            0 => (0..random.below(1500)).map(|_| random.octet()).collect(),
            _ => seeds[random.below(seeds.len())].clone(),
        };
        if !datagram.is_empty() {
            random.mutate(&mut datagram);
        }
        // The kernel may report that an earlier one was refused.
        let _ = socket.send(&datagram);
    }
}

#[test]
fn datagrams_of_nonsense_keep_nobody_from_a_reliable_connection() {
    let _watchdog = crate::support::watchdog(crate::hostile::LIMIT);
    let rig = Rig::new(Over::Reliable);
    rig.others_are_served();
    // A client's first datagram has this shape; any that fits is answered with a cookie at most.
    let seeds = [vec![0; 40], vec![1; 28], (0..64).collect()];
    std::thread::scope(|scope| {
        scope.spawn(|| pelt(rig.address().place(), &seeds, 5000));
        for _ in 0..20 {
            everyone_is_served(&rig);
        }
    });
    everyone_is_served(&rig);
    rig.wait_until_at_most(1);
}

#[test]
fn datagrams_of_nonsense_do_no_more_to_an_endpoint_for_one_ways_than_take_up_its_room_for_peers() {
    let _watchdog = crate::support::watchdog(crate::hostile::LIMIT);
    for messaging in ["frames", "giop_oneway"] {
        let endpoints = [
            ListenEndpoint::new(&format!("{messaging}+diop"), "127.0.0.1:0"),
            ListenEndpoint::iiop("127.0.0.1", 0),
        ];
        let rig = Rig::at(Over::Iiop, &endpoints, |_| {});
        let ping = request(b"nobody", "ping", |_| {});
        pelt(rig.address().place(), &[ping], 5000);
        rig.others_are_served();
        assert_eq!(rig.echo.pings().unwrap(), 0);
    }
}
