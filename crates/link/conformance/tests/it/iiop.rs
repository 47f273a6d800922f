//! Tests of TCP, over IPv4 and IPv6.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_link::iiop::Iiop;
use punctual_link::{Address, Link, Properties};
use punctual_link_conformance::conformance;

conformance!(stream: Iiop::default(), Address::iiop("127.0.0.1", 0));

mod over_ipv6 {
    use super::*;

    fn absent() -> Option<String> {
        let probe = Iiop::default().listen(&Address::iiop("::1", 0), &Properties::NONE);
        probe
            .err()
            .map(|error| format!("no IPv6 loopback: {error}"))
    }

    conformance!(stream: Iiop::default(), Address::iiop("::1", 0), unless absent());
}

mod half_closed {
    use super::*;
    use punctual_exec::Deadline;
    use punctual_link::{Cause, Pending};
    use std::io::{IoSlice, Read, Write};
    use std::net::{Shutdown, TcpStream};
    use std::time::Duration;

    #[test]
    fn a_peer_that_sends_no_more_still_gets_its_answer() {
        let acceptor = Iiop::default()
            .listen(&Address::iiop("127.0.0.1", 0), &Properties::NONE)
            .unwrap();
        let mut peer = TcpStream::connect(acceptor.address().host_and_port().unwrap()).unwrap();
        let server = acceptor.accept().unwrap();
        peer.write_all(b"question").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let limit = Deadline::after(Duration::from_secs(20));
        let mut block = server.lend(0);
        while block.len() < 8 {
            server.receive(&mut block, 8, limit).unwrap();
        }
        let end = server.receive(&mut block, 9, limit).unwrap_err();
        assert!(matches!(end.cause, Cause::Closed), "{end}");
        assert_eq!(server.pending(), Pending::End);
        server.send(&[IoSlice::new(b"answer")], limit).unwrap();
        server.close();
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, b"answer");
    }
}
