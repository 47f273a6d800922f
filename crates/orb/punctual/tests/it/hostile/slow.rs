//! Peers that are slow, silent, or half closed.

use crate::hostile::links::{Over, Rig, over_every_link, over_links};
use crate::hostile::log::assert_logged;
use crate::hostile::peer::request;
use punctual_giop::{MessageHeader, MessageKind};
use rustix::net::sockopt::set_socket_linger;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// First bytes of a message in each messaging protocol; the rest, sent byte by byte, would take an
/// hour.
const BEGINNINGS: [(&str, &[u8]); 3] = [
    ("giop", b"GIOP\x01\x02\x00\x00\x00\x01\x00\x00"),
    ("giop_lite", &[0, 1, 1, 0, 0]),
    ("frames", b"PUNF\x01\x00\x00\x00\x00\x01\x00\x00"),
];

over_every_link! {
    fn a_peer_that_connects_and_says_nothing_is_closed(over: Over) {
        let short = Some(Duration::from_millis(100));
        let rig = Rig::with(over, |config| config.timeouts.first_message = short);
        let mut peer = rig.peer();
        assert!(peer.rest().is_empty());
        assert_logged(&peer, &["sent nothing in time"]);
        rig.others_are_served();
    }

    fn a_peer_that_stalls_in_mid_message_is_closed(over: Over) {
        let rig = Rig::with(over, |config| {
            // The limit of a message holds for the first one, too, once it has begun.
            config.timeouts.first_message = Some(Duration::from_secs(3600));
            config.timeouts.message = Some(Duration::from_millis(100));
        });
        let mut peer = rig.peer();
        peer.send(b"GIOP\x01\x02");
        assert!(peer.rest().is_empty());
        assert_logged(&peer, &["too long"]);
        rig.others_are_served();
    }

    fn a_peer_that_trickles_a_message_is_closed_in_time(over: Over) {
        for (messaging, beginning) in BEGINNINGS {
            let short = Some(Duration::from_millis(200));
            let rig = Rig::speaking_with(messaging, over, |config| config.timeouts.message = short);
            let mut peer = rig.peer();
            peer.send(beginning);
            // A byte now and then does not extend its time limit.
            while peer.try_send(&[0]).is_ok() {
                std::thread::sleep(Duration::from_millis(30));
            }
            peer.rest();
            assert_logged(&peer, &["too long"]);
            rig.others_are_served();
        }
    }

    fn a_request_that_is_cancelled_between_its_fragments_leaves_the_connection_as_it_was(over: Over) {
        let short = Duration::from_millis(150);
        let rig = Rig::with(over, |config| config.timeouts.message = Some(short));
        let mut peer = rig.peer();
        let whole = request(&rig.key(), "long", |out| out.put_i32(1));
        let mut fragment = whole.clone();
        fragment[6] |= 2;
        let (flags, id) = (whole[6], &whole[12..16]);
        let size = 4_u32.to_be_bytes();
        let cancel = [b"GIOP\x01\x02", &[flags, 2][..], &size, id].concat();
        for _ in 0..2 {
            peer.send(&fragment).send(&cancel);
            // It is idle, and not in the middle of a message.
            std::thread::sleep(3 * short);
            peer.send(&whole);
            assert_eq!(peer.receive().0, MessageKind::Reply);
        }
    }

    fn a_crowd_of_slow_peers_keeps_nobody_from_being_served(over: Over) {
        let rig = Rig::new(over);
        let whole = request(&rig.key(), "long", |out| out.put_i32(1));
        let mut crowd: Vec<_> = (0..24).map(|_| rig.peer()).collect();
        for at in 0..whole.len() {
            for peer in &mut crowd {
                peer.send(&whole[at..=at]);
            }
            rig.others_are_served();
        }
        for peer in &mut crowd {
            peer.receive();
        }
    }
}

/// Stream socket connected to the server, one direction of which can be shut down.
trait Socket: Read + Write {
    fn shut(&self, how: Shutdown);
}

impl Socket for TcpStream {
    fn shut(&self, how: Shutdown) {
        self.shutdown(how).unwrap();
    }
}

impl Socket for UnixStream {
    fn shut(&self, how: Shutdown) {
        self.shutdown(how).unwrap();
    }
}

fn socket(rig: &Rig) -> Box<dyn Socket> {
    let address = rig.address();
    match rig.over {
        Over::Uiop => Box::new(UnixStream::connect(address.place()).unwrap()),
        _ => Box::new(TcpStream::connect(address.place()).unwrap()),
    }
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop)]

    fn a_peer_that_has_closed_its_sending_half_gets_its_answers(over: Over) {
        let rig = Rig::new(over);
        let mut socket = socket(&rig);
        let message = request(&rig.key(), "long", |out| out.put_i32(1));
        for _ in 0..3 {
            socket.write_all(&message).unwrap();
        }
        socket.shut(Shutdown::Write);
        let mut answers = Vec::new();
        socket.read_to_end(&mut answers).unwrap();
        let mut rest = &answers[..];
        for _ in 0..3 {
            let header = MessageHeader::parse(rest.first_chunk().unwrap()).unwrap();
            rest = &rest[header.message_len()..];
        }
        assert!(rest.is_empty());
        rig.others_are_served();
        rig.wait_until_at_most(1);
    }

    fn a_peer_that_closes_its_sending_half_in_mid_message_is_closed_without_an_answer(over: Over) {
        let rig = Rig::new(over);
        let message = request(&rig.key(), "long", |out| out.put_i32(1));
        let mut socket = socket(&rig);
        socket.write_all(&message[..20]).unwrap();
        socket.shut(Shutdown::Write);
        let mut answers = Vec::new();
        socket.read_to_end(&mut answers).unwrap();
        assert!(answers.is_empty());
        rig.others_are_served();
    }

    fn a_peer_that_has_closed_its_receiving_half_harms_nobody(over: Over) {
        let rig = Rig::new(over);
        rig.others_are_served();
        let mut socket = socket(&rig);
        socket.shut(Shutdown::Read);
        let message = request(&rig.key(), "octets", |out| {
            out.put_octets(&vec![7; 1 << 16]).unwrap();
        });
        // A Unix socket tells the server at once. TCP accepts the data and drops it.
        for _ in 0..20 {
            if socket.write_all(&message).is_err() {
                break;
            }
        }
        drop(socket);
        rig.others_are_served();
        rig.wait_until_at_most(1);
    }
}

#[test]
fn a_tcp_peer_that_resets_its_connection_harms_nobody() {
    let _watchdog = crate::support::watchdog(crate::hostile::LIMIT);
    let rig = Rig::new(Over::Iiop);
    rig.others_are_served();
    let message = request(&rig.key(), "long", |out| out.put_i32(1));
    for length in [0, 1, 12, message.len() - 1, message.len()] {
        let mut stream = TcpStream::connect(rig.address().place()).unwrap();
        stream.write_all(&message[..length]).unwrap();
        // With no time to linger, closing resets.
        set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        drop(stream);
        rig.others_are_served();
    }
    rig.wait_until_at_most(1);
}
