//! Tests of Unix sockets.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_link::uiop::{NAME, Uiop};
use punctual_link::{Address, Link, Properties};
use punctual_link_conformance::conformance;

fn anywhere() -> Address {
    Address::new(NAME, "")
}

conformance!(stream: Uiop::default(), anywhere());

mod looking_before_blocking {
    use super::*;
    use punctual_link::SpinOptions;
    use punctual_link::uiop::UiopOptions;
    use std::time::Duration;

    fn spinning() -> Uiop {
        let spin = SpinOptions {
            budget: Duration::from_micros(20),
            always: true,
        };
        Uiop::new(UiopOptions {
            spin,
            ..UiopOptions::default()
        })
    }

    conformance!(stream: spinning(), anywhere());
}

mod beyond_the_suite {
    use super::*;
    use punctual_exec::Deadline;
    use punctual_link::{Cause, Pending};
    use std::io::{IoSlice, Read, Write};
    use std::net::Shutdown;
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    fn limit() -> Deadline {
        Deadline::after(Duration::from_secs(20))
    }

    #[test]
    fn the_socket_file_is_its_owners_alone_and_goes_with_the_acceptor() {
        let acceptor = Uiop::default()
            .listen(&anywhere(), &Properties::NONE)
            .unwrap();
        let path = acceptor.address().place().to_owned();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        assert_eq!(metadata.mode() & 0o777, 0o600);
        let directory = Path::new(&path).parent().unwrap();
        assert_eq!(std::fs::metadata(directory).unwrap().mode() & 0o777, 0o700);
        drop(acceptor);
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn clients_without_a_name_are_told_apart() {
        let acceptor = Uiop::default()
            .listen(&anywhere(), &Properties::NONE)
            .unwrap();
        let path = acceptor.address().place();
        let peers: Vec<_> = (0..2)
            .map(|_| {
                let client = UnixStream::connect(path).unwrap();
                (client, acceptor.accept().unwrap())
            })
            .collect();
        let [(_, first), (_, second)] = peers.as_slice() else {
            panic!("two clients, {} connections", peers.len());
        };
        assert_ne!(first.peer(), second.peer());
        assert!(first.peer().place().starts_with(&format!("{path}#")));
    }

    #[test]
    fn a_peer_that_sends_no_more_still_gets_its_answer() {
        let acceptor = Uiop::default()
            .listen(&anywhere(), &Properties::NONE)
            .unwrap();
        let mut peer = UnixStream::connect(acceptor.address().place()).unwrap();
        let server = acceptor.accept().unwrap();
        peer.write_all(b"question").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let mut block = server.lend(0);
        while block.len() < 8 {
            server.receive(&mut block, 8, limit()).unwrap();
        }
        let end = server.receive(&mut block, 9, limit()).unwrap_err();
        assert!(matches!(end.cause, Cause::Closed), "{end}");
        assert_eq!(server.pending(), Pending::End);
        server.send(&[IoSlice::new(b"answer")], limit()).unwrap();
        server.close();
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, b"answer");
    }

    #[test]
    fn buffer_sizes_are_properties() {
        let properties =
            Properties::from_iter([("send_buffer", "8192"), ("receive_buffer", "8192")]);
        let link = Uiop::default();
        let acceptor = link.listen(&anywhere(), &properties).unwrap();
        let client = link
            .connect(acceptor.address(), &properties, limit())
            .unwrap();
        let octets = vec![1; 1 << 20];
        let failed = client
            .send(
                &[IoSlice::new(&octets)],
                Deadline::after(Duration::from_millis(20)),
            )
            .unwrap_err();
        assert!(failed.sent < 100_000, "{} octets fitted", failed.sent);
        let wrong = Properties::from_iter([("send_buffer", "big")]);
        assert!(link.listen(&anywhere(), &wrong).is_err());
    }
}
