//! Peers that each stay within the limits of one peer, and together use up the server's shared
//! resources: memory, connections, threads.

use crate::hostile::links::{Over, Rig, over_every_link, over_links};
use crate::hostile::log::{assert_logged, assert_logged_of_one};
use crate::hostile::peer::{Peer, request};
use punctual_giop::MessageKind;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(100);

/// Returns a request with an argument of `octets` bytes, without the last `missing` bytes of the
/// message.
fn unfinished(rig: &Rig, octets: usize, missing: usize) -> Vec<u8> {
    let mut whole = request(&rig.key(), "octets", |out| {
        out.put_octets(&vec![7; octets]).unwrap();
    });
    whole.truncate(whole.len() - missing);
    whole
}

fn long(rig: &Rig) -> Vec<u8> {
    request(&rig.key(), "long", |out| out.put_i32(1))
}

/// Connects a peer and makes one call with it.
fn served(rig: &Rig) -> Peer {
    let mut peer = rig.peer();
    peer.send(&long(rig));
    assert_eq!(peer.receive().0, MessageKind::Reply);
    peer
}

over_every_link! {
    fn fragments_that_stop_coming_are_given_up_though_whole_messages_go_on(over: Over) {
        let rig = Rig::with(over, |config| config.timeouts.message = Some(3 * SHORT));
        let mut peer = rig.peer();
        let whole = long(&rig);
        let mut fragment = whole.clone();
        fragment[6] |= 2;
        // The fragment has another id.
        fragment[15] ^= 4;
        peer.send(&fragment);
        let mut answered = 0;
        while peer.try_send(&whole).is_ok() && answered < 1000 {
            std::thread::sleep(SHORT / 2);
            answered += 1;
        }
        peer.rest();
        assert_logged(&peer, &["too long"]);
        assert!((2..1000).contains(&answered), "after {answered} whole messages");
        rig.others_are_served();
    }

    fn peers_that_stop_in_mid_message_hold_no_more_together_than_is_allowed(over: Over) {
        let rig = Rig::with(over, |config| config.budgets.received = 4 << 20);
        rig.others_are_served();
        let half = unfinished(&rig, 2 << 20, 512 << 10);
        let crowd: Vec<_> = (0..6)
            .map(|_| {
                let mut peer = rig.peer();
                // This peer may be the one that is dropped.
                let _ = peer.try_send(&half);
                peer
            })
            .collect();
        // Two have room. Others were dropped as more came.
        rig.wait_until_at_most(3);
        rig.others_are_served();
        // A longer request of a well-behaved client has room, too, at the expense of others.
        assert_eq!(rig.echo.octets(&vec![7; 300 << 10]).unwrap().len(), 300 << 10);
        assert_logged_of_one(&crowd, &["limits.received"]);
    }

    fn a_connection_that_was_quiet_makes_room_for_another(over: Over) {
        let rig = Rig::with(over, |config| {
            config.max_connections = 4;
            config.timeouts.make_room = Some(SHORT);
        });
        let mut quiet: Vec<_> = (0..3).map(|_| served(&rig)).collect();
        // Long enough to show.
        for _ in 0..16 {
            rig.others_are_served();
            std::thread::sleep(SHORT / 2);
        }
        let _next = served(&rig);
        let first = quiet[0].receive().0;
        assert_eq!(first, MessageKind::CloseConnection);
        // A dropped peer may come again.
        let _again = served(&rig);
        rig.others_are_served();
    }

    fn a_connection_that_is_quiet_for_the_configured_time_is_closed_in_order(over: Over) {
        let rig = Rig::with(over, |config| config.timeouts.idle = Some(2 * SHORT));
        let mut peer = served(&rig);
        rig.others_are_served();
        assert_eq!(peer.receive().0, MessageKind::CloseConnection);
        assert!(peer.rest().is_empty());
        rig.wait_until_at_most(0);
        rig.others_are_served();
    }
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop), (over_ssliop, Ssliop)]

    fn calls_that_take_long_leave_threads_for_others(over: Over) {
        let rig = Rig::with(over, |config| {
            config.budgets.threads = 32;
            config.timeouts.hand_over = Some(Duration::from_millis(1));
        });
        let wait = request(&rig.key(), "wait", |_| {});
        let mut greedy: Vec<_> = (0..4).map(|_| rig.peer()).collect();
        for peer in &mut greedy {
            peer.send(&wait.repeat(64));
        }
        // Three quarters of the limit, and the connections' own threads.
        rig.servant.gate.wait_for_waiters(24);
        let mut modest = rig.peer();
        modest.send(&wait).send(&long(&rig));
        assert_eq!(modest.receive().0, MessageKind::Reply);
        rig.others_are_served();
    }
}

/// Connects to the server from the given other address of this host.
fn from(address: &str, rig: &Rig) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let here: SocketAddr = format!("{address}:0").parse().unwrap();
    let there: SocketAddr = rig.address().place().parse().unwrap();
    bind(&socket, &here).unwrap();
    connect(&socket, &there).unwrap();
    TcpStream::from(socket)
}

#[test]
fn a_host_with_many_connections_leaves_some_to_others() {
    let _watchdog = crate::support::watchdog(crate::hostile::LIMIT);
    let rig = Rig::with(Over::Iiop, |config| {
        config.max_connections = 16;
        config.timeouts.make_room = None;
    });
    let _crowd: Vec<_> = (0..16).map(|_| served(&rig)).collect();
    let mut one_more = rig.peer();
    assert_eq!(one_more.receive().0, MessageKind::CloseConnection);
    for _ in 0..2 {
        let mut refused = [0; 12];
        let mut other = from("127.0.0.2", &rig);
        std::io::Write::write_all(&mut other, &long(&rig)).unwrap();
        other.read_exact(&mut refused).unwrap();
        assert_eq!(refused[7], 1, "a reply");
        drop(other);
        rig.wait_until_at_most(16);
    }
}
