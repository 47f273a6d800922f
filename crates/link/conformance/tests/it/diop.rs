//! Tests of UDP, over IPv4 and IPv6.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_link::diop::{Diop, DiopOptions, NAME};
use punctual_link::{Address, Link, Properties};
use punctual_link_conformance::conformance;

fn loopback() -> Address {
    Address::new(NAME, "127.0.0.1:0")
}

conformance!(datagram: Diop::default(), loopback());

mod over_ipv6 {
    use super::*;

    fn loopback() -> Address {
        Address::new(NAME, "[::1]:0")
    }

    fn absent() -> Option<String> {
        let probe = Diop::default().listen(&loopback(), &Properties::NONE);
        probe
            .err()
            .map(|error| format!("no IPv6 loopback: {error}"))
    }

    conformance!(datagram: Diop::default(), loopback(), unless absent());
}

mod beyond_the_suite {
    use super::*;
    use punctual_exec::Deadline;
    use punctual_link::Cause;
    use std::io::IoSlice;
    use std::net::UdpSocket;
    use std::time::Duration;

    fn limit() -> Deadline {
        Deadline::after(Duration::from_secs(20))
    }

    #[test]
    fn a_chosen_class_holds_whatever_the_dscp_and_the_dscp_goes_back() {
        use punctual_link::iiop::Iiop;
        use punctual_link::{Connection, Waitable};
        use punctual_sys::dscp::Dscp;
        use punctual_sys::traffic::Traffic;
        let seen = |connection: &dyn Connection| {
            let Waitable::Descriptor(socket) = connection.waitable() else {
                panic!("{connection:?} has no socket")
            };
            let class = Traffic::of(socket).unwrap().socket_priority.unwrap();
            (Dscp::of(socket).unwrap().unwrap().get(), class)
        };
        let links: [(Box<dyn Link>, Address); 2] = [
            (Box::new(Diop::default()), loopback()),
            (Box::new(Iiop::default()), Address::iiop("127.0.0.1", 0)),
        ];
        for (link, at) in links {
            let server = link.listen(&at, &Properties::NONE).unwrap();
            // The kernel derives 2 from AF11, and 4 from EF.
            for (class, with_dscp, without) in [("0", 0, 0), ("2", 2, 2), ("", 4, 2)] {
                let mut given = vec![("dscp", "AF11")];
                given.extend((!class.is_empty()).then_some(("socket_priority", class)));
                let given = Properties::from_iter(given);
                let client = link.connect(server.address(), &given, limit()).unwrap();
                client.set_dscp(None).unwrap();
                assert_eq!(seen(&*client), (10, without), "{class}");
                client.set_dscp(Some(Dscp::EF)).unwrap();
                assert_eq!(seen(&*client), (46, with_dscp), "{class}");
                client.set_dscp(None).unwrap();
                assert_eq!(seen(&*client), (10, without), "{class}");
            }
        }
    }

    #[test]
    fn acceptors_at_one_address_take_the_datagrams_that_their_processors_receive() {
        use punctual_sys::processor::pin_to;
        let pinned = |number: usize| std::thread::spawn(move || pin_to(number).is_ok());
        if !(0..2).all(|number| pinned(number).join().unwrap()) {
            println!("skipped: this process cannot be on the processors 0 and 1");
            return;
        }
        let link = Diop::default();
        let steered = |processor| Properties::from_iter([("incoming_cpu", processor)]);
        let first = link.listen(&loopback(), &steered("0")).unwrap();
        let second = link.listen(first.address(), &steered("1")).unwrap();
        assert_eq!(first.address(), second.address());
        for (processor, acceptor) in [(1, &second), (0, &first), (1, &second), (0, &first)] {
            let to = acceptor.address().clone();
            let sent = std::thread::spawn(move || {
                pin_to(processor).unwrap();
                let link = Diop::default();
                let client = link.connect(&to, &Properties::NONE, limit()).unwrap();
                client.send(&[IoSlice::new(b"x")], limit()).unwrap();
                client.local().clone()
            });
            let sent = sent.join().unwrap();
            let port = |address: &Address| address.place().rsplit_once(':').unwrap().1.to_owned();
            assert_eq!(port(acceptor.accept().unwrap().peer()), port(&sent));
        }
        let refused = link.connect(first.address(), &steered("0"), limit());
        assert!(matches!(
            refused.unwrap_err().cause,
            Cause::BadProperty { .. }
        ));
    }

    #[test]
    fn a_closed_port_is_reported_to_the_client() {
        let link = Diop::default();
        let gone = link.listen(&loopback(), &Properties::NONE).unwrap();
        let client = link
            .connect(gone.address(), &Properties::NONE, limit())
            .unwrap();
        drop(gone);
        let refused = loop {
            // The acceptor's socket is closed when its thread has noticed.
            if let Err(error) = client.send(&[IoSlice::new(b"x")], limit()) {
                break error.error.cause;
            }
            let patience = Deadline::after(Duration::from_millis(20));
            match client.receive(&mut client.lend(0), 1, patience) {
                Err(error) if !matches!(error.cause, Cause::TimedOut) => break error.cause,
                _ => {}
            }
        };
        assert!(matches!(refused, Cause::Os(_)), "{refused}");
    }

    #[test]
    fn a_silent_peer_is_forgotten_and_its_end_reported() {
        let link = Diop::new(DiopOptions {
            idle: Duration::from_millis(20),
            ..DiopOptions::default()
        });
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        client.send(&[IoSlice::new(b"once")], limit()).unwrap();
        let server = acceptor.accept().unwrap();
        let mut block = server.lend(0);
        let ended = loop {
            if let Err(error) = server.receive(&mut block, 1, limit()) {
                break error;
            }
        };
        assert!(matches!(ended.cause, Cause::Closed), "{ended}");
    }

    #[test]
    fn empty_datagrams_are_passed_over_and_make_no_peer() {
        let link = Diop::default();
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        let there = acceptor.address().host_and_port().unwrap();
        stranger.send_to(b"", there).unwrap();
        stranger.send_to(b"word", there).unwrap();
        let server = acceptor.accept().unwrap();
        let mut block = server.lend(0);
        assert_eq!(server.receive(&mut block, 1, limit()).unwrap(), 4);
        assert_eq!(&*block, b"word");
    }

    #[test]
    fn datagrams_with_launch_times_arrive_and_servers_have_none() {
        let link = Diop::default();
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let properties = [("launch_period_us", "1000"), ("launch_clock", "monotonic")];
        let properties: Properties = properties.into_iter().collect();
        let client = link
            .connect(acceptor.address(), &properties, limit())
            .unwrap();
        let parts = [IoSlice::new(b"at "), IoSlice::new(b"once")];
        client.send(&parts, limit()).unwrap();
        let server = acceptor.accept().unwrap();
        let mut block = server.lend(0);
        assert_eq!(server.receive(&mut block, 1, limit()).unwrap(), 7);
        let refused = link.listen(&loopback(), &properties).unwrap_err();
        assert!(
            matches!(refused.cause, Cause::BadProperty { .. }),
            "{refused}"
        );
    }

    #[test]
    fn what_a_slow_reader_loses_is_counted() {
        let link = Diop::new(DiopOptions {
            queue: 1000,
            ..DiopOptions::default()
        });
        let acceptor = link.listen(&loopback(), &Properties::NONE).unwrap();
        let client = link
            .connect(acceptor.address(), &Properties::NONE, limit())
            .unwrap();
        let deadline = limit();
        while link.dropped() == 0 {
            client.send(&[IoSlice::new(&[0; 400])], deadline).unwrap();
            assert!(!deadline.has_passed(), "nothing was ever dropped");
        }
    }
}
