//! Long arguments that are sent from the caller's memory: where they are, and where they are copied because the request cannot
//! leave at once as it is.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::{Buffering, Transfer};
use punctual::protocol::iiop::Iiop;
use punctual::protocol::{
    Acceptor, Address, Connection, Deadline, Guarantees, Link, LinkError, Pending, Properties,
    ProtocolBundle, SendError, Taken, Waitable,
};
use punctual::stub::{Block, Marshal, Operation};
use punctual::{
    Interface, ListenEndpoint, Orb, OrbConfig, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(120);

/// Length of a long argument: more than a socket buffers, and less than is sent in fragments.
const LONG: usize = 4_000_000;

/// TCP whose connections note where the parts of each message lay.
#[derive(Clone, Debug, Default)]
struct Noting {
    link: Iiop,
    parts: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Noting {
    /// Returns whether a part that was sent since the last question was the argument itself.
    fn sent(&self, argument: &[u8]) -> bool {
        let parts = std::mem::take(&mut *self.parts.lock().unwrap());
        parts.contains(&(argument.as_ptr().addr(), argument.len()))
    }
}

impl Link for Noting {
    fn name(&self) -> &str {
        "iiop"
    }

    fn guarantees(&self) -> Guarantees {
        self.link.guarantees()
    }

    fn connect(
        &self,
        address: &Address,
        properties: &Properties,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        Ok(Arc::new(NotingConnection {
            connection: self.link.connect(address, properties, deadline)?,
            parts: self.parts.clone(),
        }))
    }

    fn listen(
        &self,
        address: &Address,
        properties: &Properties,
    ) -> Result<Box<dyn Acceptor>, LinkError> {
        self.link.listen(address, properties)
    }
}

#[derive(Debug)]
struct NotingConnection {
    connection: Arc<dyn Connection>,
    parts: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Connection for NotingConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.connection.lend(capacity)
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let places = parts.iter().map(|part| (part.as_ptr().addr(), part.len()));
        self.parts.lock().unwrap().extend(places);
        self.connection.send(parts, deadline)
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        self.connection.receive(block, need, deadline)
    }

    fn serves_without_blocking(&self) -> bool {
        self.connection.serves_without_blocking()
    }

    fn receive_now(&self, block: &mut Block, need: usize) -> Result<Option<Taken>, LinkError> {
        self.connection.receive_now(block, need)
    }

    fn pending(&self) -> Pending {
        self.connection.pending()
    }

    fn close(&self) {
        self.connection.close();
    }

    fn peer(&self) -> &Address {
        self.connection.peer()
    }

    fn local(&self) -> &Address {
        self.connection.local()
    }

    fn waitable(&self) -> Waitable<'_> {
        self.connection.waitable()
    }
}

/// Server, and a client whose link notes what it sends.
struct Noted {
    server: Orb,
    client: Orb,
    link: Noting,
    echo: Echo,
}

impl Noted {
    fn with(configure: impl FnOnce(&mut OrbConfig)) -> Self {
        let link = Noting::default();
        let bundle = ProtocolBundle::new().link(Arc::new(link.clone()));
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let client = Orb::builder().configure(configure).build().unwrap();
        client.retire_protocol("iiop").unwrap();
        client.add_protocols(&bundle).unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        // Later calls take the fast path.
        assert_eq!(echo.long(1).unwrap(), 1);
        Self {
            server,
            client,
            link,
            echo,
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

fn octets(length: usize) -> Vec<u8> {
    (0..length)
        .map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1])
        .collect()
}

#[test]
fn a_long_argument_is_sent_from_where_it_lies_and_a_short_one_copied() {
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|_| {});
    for length in [32 * 1024, 100_001, LONG] {
        let argument = octets(length);
        assert_eq!(noted.echo.octets(&argument).unwrap(), argument);
        assert!(noted.link.sent(&argument), "{length} octets");
    }
    let argument = octets(32 * 1024 - 1);
    assert_eq!(noted.echo.octets(&argument).unwrap(), argument);
    assert!(!noted.link.sent(&argument));
}

#[test]
fn fragments_traces_and_the_policy_that_nothing_is_lent_copy_a_long_argument() {
    let _watchdog = watchdog(LIMIT);
    let argument = octets(200_000);
    let copies = |noted: &Noted, echo: &Echo| {
        for _ in 0..2 {
            assert_eq!(echo.octets(&argument).unwrap(), argument);
        }
        assert!(!noted.link.sent(&argument));
    };
    let fragmented = Noted::with(|config| config.fragment_size = 10_000);
    copies(&fragmented, &fragmented.echo);
    let traced = Noted::with(|config| config.trace.giop = true);
    copies(&traced, &traced.echo);
    let noted = Noted::with(|_| {});
    let policies = [Policy::Transfer(Transfer::Copy)];
    let object = noted
        .echo
        .as_object()
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    copies(&noted, &Echo::from_object(object));
}

#[test]
fn a_long_argument_of_a_one_way_is_sent_from_where_it_lies_unless_the_one_way_is_buffered() {
    const PING: Operation = Operation::one_way("ping");
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|_| {});
    let argument = octets(100_000);
    let ping = |object: &Echo| {
        let ping = PING.lending(&argument[..]);
        object
            .as_object()
            .send(&ping, |out| argument[..].marshal(out))
            .unwrap();
    };
    // The first one finds the path.
    ping(&noted.echo);
    ping(&noted.echo);
    assert!(noted.link.sent(&argument));
    let policies = [Policy::Buffering(Some(Buffering {
        messages: 3,
        octets: 1 << 30,
        delay: None,
    }))];
    let object = noted
        .echo
        .as_object()
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    let buffered = Echo::from_object(object);
    for _ in 0..6 {
        ping(&buffered);
    }
    assert_eq!(noted.echo.pings().unwrap(), 8);
    assert!(!noted.link.sent(&argument));
}

#[test]
fn threads_that_share_a_connection_do_not_mix_their_arguments() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    pair.echo.long(1).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let echo = &pair.echo;
            scope.spawn(move || {
                let argument = octets(300_000 + thread * 1_111);
                for _ in 0..20 {
                    assert_eq!(echo.octets(&argument).unwrap(), argument);
                }
            });
        }
    });
}

#[test]
fn a_message_that_is_too_long_with_its_argument_fails_the_call_and_not_the_connection() {
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|config| config.limits.message = 50_000);
    let refused = noted.echo.sum(&octets(50_001)).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit, "{refused}");
    assert_eq!(noted.echo.sum(&octets(40_000)).unwrap(), sum_of(40_000));
}

fn sum_of(length: usize) -> u64 {
    octets(length).into_iter().map(u64::from).sum()
}
