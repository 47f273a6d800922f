//! Misbehaving servers, called by a client ORB.

use crate::hostile::links::{Over, over_every_link};
use crate::hostile::peer::Peer;
use crate::hostile::tls::Authority;
use crate::support::Echo;
use punctual::policy::Buffering;
use punctual::protocol::{Acceptor, Address, Properties};
use punctual::stub::{ByteOrder, Operation};
use punctual::{CompletionStatus, Interface, Orb, OrbConfig, SystemExceptionKind as Kind};
use punctual_giop::MessageKind;
use punctual_ior::{Ior, PairProfile};
use std::sync::Arc;
use std::time::Duration;

/// Server that accepts connections and runs a function with each.
struct Server {
    acceptor: Arc<dyn Acceptor>,
    client: Orb,
    /// Client's reference, with the server's address and an arbitrary object key.
    echo: Echo,
    _tls: Authority,
}

impl Server {
    fn new(over: Over, treat: impl Fn(&mut Peer) + Send + 'static) -> Self {
        Self::with(over, |_| {}, treat)
    }

    /// Makes a server, and a client that `configure` configures.
    fn with(
        over: Over,
        configure: impl FnOnce(&mut OrbConfig),
        treat: impl Fn(&mut Peer) + Send + 'static,
    ) -> Self {
        let tls = Authority::new();
        let link = over.link(tls.folder());
        let address = Address::new(over.name(), over.anywhere());
        let acceptor = link.listen(&address, &Properties::NONE).unwrap();
        let acceptor: Arc<dyn Acceptor> = acceptor.into();
        let client = over.orb(tls.folder(), configure).build().unwrap();
        let profile = PairProfile {
            protocol: format!("giop+{}", over.name()),
            places: vec![acceptor.address().place().to_owned()],
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        let ior = Ior {
            type_id: Echo::REPOSITORY_ID.to_owned(),
            profiles: vec![profile.to_tagged(ByteOrder::NATIVE).unwrap()],
        };
        let text = ior.stringify(ByteOrder::NATIVE).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        let accepting = acceptor.clone();
        std::thread::spawn(move || {
            // Accepted connections stay open until the end, unless they were closed.
            let mut peers = Vec::new();
            while let Ok(connection) = accepting.accept() {
                let mut peer = Peer::of(connection);
                treat(&mut peer);
                peers.push(peer);
            }
        });
        Self {
            acceptor,
            client,
            echo,
            _tls: tls,
        }
    }

    /// Returns the reference for calls with this time limit.
    fn within(&self, milliseconds: u64) -> Echo {
        let timeout = Duration::from_millis(milliseconds);
        Echo::from_object(self.echo.as_object().with_timeout(timeout))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        self.acceptor.close();
    }
}

over_every_link! {
    fn one_ways_to_a_server_that_never_reads_end_with_a_time_out(over: Over) {
        const PING: Operation = Operation::one_way("ping");
        let server = Server::new(over, |_| {});
        let octets = vec![7_u8; 1 << 20];
        let echo = server.within(500);
        let error = loop {
            let sent = echo.as_object().send(&PING, |out| out.put_octets(&octets));
            if let Err(error) = sent {
                break error;
            }
        };
        assert!(
            matches!(error.kind(), Kind::Timeout | Kind::Transient),
            "{error}"
        );
    }

    fn buffered_one_ways_to_a_server_that_never_reads_end_with_a_time_out_and_do_not_pile_up(
        over: Over
    ) {
        const PING: Operation = Operation::one_way("ping");
        let few = Buffering { messages: 8, octets: 1 << 30, delay: None };
        let server = Server::with(over, |config| config.one_way_buffering = Some(few), |_| {});
        let octets = vec![7_u8; 1 << 20];
        let echo = server.within(500);
        let mut taken = 0;
        let error = loop {
            let sent = echo.as_object().send(&PING, |out| out.put_octets(&octets));
            match sent {
                Ok(()) => taken += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!(taken < 64, "{taken} requests of 1 MiB were taken in");
        // A call that would have to be sent behind others does not wait for the server either.
        assert!(server.within(300).long(1).is_err());
    }

    fn a_call_to_a_server_that_never_reads_ends_with_a_time_out(over: Over) {
        let server = Server::new(over, |_| {});
        for octets in [vec![], vec![7; 64 << 10], vec![7; 40 << 20]] {
            let error = server.within(300).octets(&octets).unwrap_err();
            assert_eq!(error.kind(), Kind::Timeout, "{error}");
        }
    }

    fn a_server_that_closes_instead_of_answering_may_have_completed(over: Over) {
        let server = Server::new(over, |peer| {
            assert_eq!(peer.receive().0, MessageKind::Request);
            peer.close();
        });
        let error = server.echo.long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::CommFailure, "{error}");
        assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
    }

    fn a_server_that_answers_nonsense_may_have_completed(over: Over) {
        let answers: [&[u8]; 7] = [
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            b"GIOP\x01\x02\x00\x01\xff\xff\xff\xff",
            b"GIOP\x01\x02\x00\x01\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x06\x00\x00\x00\x00",
            b"GIOP\x01\x09\x00\x01\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x07\x00\x00\x00\x04\x00\x00\x00\x02",
        ];
        for answer in answers {
            let server = Server::new(over, move |peer| {
                assert_eq!(peer.receive().0, MessageKind::Request);
                peer.send(answer);
            });
            let error = server.echo.long(1).unwrap_err();
            assert_eq!(error.kind(), Kind::CommFailure, "{error}");
            assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
        }
    }

    fn a_server_that_stalls_in_mid_reply_is_waited_for_until_the_time_out(over: Over) {
        let server = Server::new(over, |peer| {
            assert_eq!(peer.receive().0, MessageKind::Request);
            peer.send(b"GIOP\x01\x02\x00\x01\x00\x01\x00\x00\x00\x00\x00\x02");
        });
        let error = server.within(300).long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
    }
}
