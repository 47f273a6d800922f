//! Tests of the adapter `reliable`, over UDP and over UDP that loses, repeats and reorders.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_link::diop::Diop;
use punctual_link::reliable::{Reliable, ReliableOptions};
use punctual_link::{Address, Link, LinkAdapter};
use punctual_link_conformance::{Faults, Lossy, conformance};
use std::sync::Arc;

fn loopback() -> Address {
    Address::new("reliable+diop", "127.0.0.1:0")
}

fn link() -> Arc<dyn Link> {
    Reliable::default().over(Arc::new(Diop::default()))
}

conformance!(stream: *link(), loopback());

mod over_a_bad_network {
    use super::*;

    fn link() -> Arc<dyn Link> {
        let faults = Faults {
            lose: 50,
            repeat: 30,
            reorder: 50,
            seed: 1,
        };
        // Larger datagrams make for fewer losses, and fewer waits, in as many bytes.
        let options = ReliableOptions {
            datagram: 9000,
            ..ReliableOptions::default()
        };
        Reliable::new(options).over(Arc::new(Lossy::new(Arc::new(Diop::default()), faults)))
    }

    conformance!(stream: *link(), loopback());
}

mod beyond_the_suite {
    use super::*;
    use punctual_exec::Deadline;
    use punctual_link::{Cause, Framing, Properties};
    use std::io::IoSlice;
    use std::net::UdpSocket;
    use std::time::Duration;

    fn limit() -> Deadline {
        Deadline::after(Duration::from_secs(60))
    }

    #[test]
    fn it_supplies_what_the_link_below_lacks() {
        let below = Diop::default();
        let supplied = Reliable::default().supplies(below.guarantees());
        assert!(supplied.reliable && supplied.ordered);
        assert_eq!(supplied.framing, Framing::Stream);
        assert_eq!(supplied.largest, None);
        assert_eq!(link().guarantees(), supplied);
        assert_eq!(link().name(), "reliable+diop");
    }

    #[test]
    fn strangers_without_a_cookie_make_no_connection() {
        let link = link();
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let there = acceptor.address().host_and_port().unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        for number in 0..100u8 {
            stranger.send_to(&[number; 40], there).unwrap();
            let mut open = b"Pr\x01\x03".to_vec();
            open.resize(36, number);
            stranger.send_to(&open, there).unwrap();
        }
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        let server = acceptor.accept().unwrap();
        assert_eq!(server.peer(), client.local());
    }

    #[test]
    fn a_server_that_forgot_the_connection_says_so() {
        let link = link();
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        let server = acceptor.accept().unwrap();
        let place = acceptor.address().clone();
        drop((server, acceptor));
        // Whether it learns of the end, of a closed port or of a new peer there, it does not hang.
        let again = link.listen(&place, &Properties::NONE);
        let error = client.receive(&mut client.lend(0), 1, limit()).unwrap_err();
        assert!(!matches!(error.cause, Cause::TimedOut), "{error}");
        drop(again);
    }

    #[test]
    fn a_server_that_never_answers_is_given_up_at_the_deadline() {
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        let place = silent.local_addr().unwrap().to_string();
        let soon = Deadline::after(Duration::from_millis(120));
        let error = link()
            .connect(
                &Address::new("reliable+diop", &place),
                &Properties::NONE,
                soon,
            )
            .unwrap_err();
        assert!(matches!(error.cause, Cause::TimedOut), "{error}");
    }

    #[test]
    fn last_words_arrive_though_the_link_goes_with_the_connection() {
        let acceptor_link = link();
        let acceptor = acceptor_link
            .listen(&loopback(), &Properties::NONE)
            .unwrap();
        let faults = Faults {
            lose: 100,
            seed: 5,
            ..Faults::default()
        };
        let lossy =
            Reliable::default().over(Arc::new(Lossy::new(Arc::new(Diop::default()), faults)));
        let client = lossy
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        client.send(&[IoSlice::new(&[9; 5000])], limit()).unwrap();
        drop((client, lossy));
        let server = acceptor.accept().unwrap();
        let mut block = server.lend(0);
        while block.len() < 5000 {
            // It has arrived by now: no waiting.
            let now = Deadline::after(Duration::ZERO);
            server.receive(&mut block, 5000, now).unwrap();
        }
        assert_eq!(&*block, [9; 5000]);
    }

    #[test]
    fn a_client_that_vanishes_is_noticed() {
        let options = ReliableOptions {
            keep_alive: Duration::from_millis(50),
            tries: 4,
            ..ReliableOptions::default()
        };
        let link = Reliable::new(options).over(Arc::new(Diop::default()));
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let there = acceptor.address().host_and_port().unwrap();
        let raw = UdpSocket::bind("127.0.0.1:0").unwrap();
        raw.connect(there).unwrap();
        open_by_hand(&raw);
        let server = acceptor.accept().unwrap();
        server.send(&[IoSlice::new(b"hello?")], limit()).unwrap();
        let error = server.receive(&mut server.lend(0), 1, limit()).unwrap_err();
        assert!(matches!(error.cause, Cause::Os(_)), "{error}");
    }

    /// Performs the client's half of the handshake, and then sends nothing more.
    fn open_by_hand(raw: &UdpSocket) {
        let id = 77u64.to_be_bytes();
        let mut hello = [b"Pr\x01\x01", &[0; 8][..], &id].concat();
        hello.resize(32, 0);
        raw.send(&hello).unwrap();
        let mut cookie = [0; 64];
        let length = raw.recv(&mut cookie).unwrap();
        let answer = cookie.get(12..length).unwrap();
        // A cookie is lost while the acceptor still forgets the peer: retry until it is accepted.
        raw.set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let open = [
            b"Pr\x01\x03",
            &[0; 8][..],
            &id,
            answer,
            &1000u32.to_be_bytes(),
        ]
        .concat();
        loop {
            raw.send(&open).unwrap();
            match raw.recv(&mut cookie) {
                Ok(24) if cookie.get(3) == Some(&4) => return,
                _ => {}
            }
        }
    }
}
