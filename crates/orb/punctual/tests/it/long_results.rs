//! Long results that are sent from the memory of the vector that the servant has returned: where they are, and where they are
//! copied because the reply's bytes are looked at.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "tls")]
use crate::authority::Authority;
use crate::late;
use crate::support;

use punctual::config::{Concurrency, GiopVersion, PoolSize};
use punctual::interceptor::{
    OrbInitInfo, OrbInitializer, ServerRequestInfo, ServerRequestInterceptor,
};
use punctual::poa::PoaPolicy;
use punctual::policy::{Bidirectional, Collocation};
use punctual::protocol::ProtocolBundle;
use punctual::stub::{
    DispatchError, Dispatched, Marshal, Operation, ServerCall, Unmarshal, marshal_owned,
};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Policy, RootPoa, SystemException,
    SystemExceptionKind as Kind,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::noting::Noting;
use support::{Answering, Echo, octets, watchdog};

const LIMIT: Duration = Duration::from_secs(120);

/// Length from which results are sent from where they lie.
const LEAST: usize = 32 * 1024;
/// Length of a result that is more than a socket buffers, and less than is sent in fragments.
const LONG: usize = 4_000_000;
/// Length of a result that is sent in fragments.
const FRAGMENTED: usize = 5_000_000;

/// Servant that returns vectors.
#[derive(Default)]
struct Returning {
    /// Where the last result lay, and its length in bytes.
    place: Mutex<(usize, usize)>,
    /// Object that is asked by `through`.
    other: Mutex<Option<Echo>>,
}

impl Returning {
    fn note<T>(&self, result: &[T]) {
        *self.place.lock().unwrap() = (result.as_ptr().addr(), size_of_val(result));
    }

    fn place(&self) -> (usize, usize) {
        *self.place.lock().unwrap()
    }
}

impl Answering for Returning {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "long" => {
                let value = i32::unmarshal(call.arguments())?;
                call.reply(|out| value.marshal(out))
            }
            "octets" => {
                let result = call.arguments().get_octets()?.to_vec();
                self.note(&result);
                call.reply(|out| marshal_owned(result, u32::MAX, out))
            }
            "results" => {
                let count = u32::unmarshal(call.arguments())?;
                let numbers = numbers(count);
                self.note(&numbers);
                call.reply(|out| {
                    true.marshal(out)?;
                    marshal_owned(numbers, u32::MAX, out)?;
                    7_u8.marshal(out)?;
                    marshal_owned(octets(LEAST), u32::MAX, out)?;
                    u64::MAX.marshal(out)
                })
            }
            "later" => {
                let result = call.arguments().get_octets()?.to_vec();
                self.note(&result);
                let (pending, dispatched) = call.answer_later()?;
                std::thread::spawn(move || {
                    pending.answer(|call| call.reply(|out| marshal_owned(result, u32::MAX, out)))
                });
                Ok(dispatched)
            }
            "other" => {
                let other = Echo::from_object(ObjectRef::unmarshal(call.arguments())?);
                *self.other.lock().unwrap() = Some(other);
                call.reply(|_| Ok(()))
            }
            "through" => {
                let length = u32::unmarshal(call.arguments())? as usize;
                let other = self.other.lock().unwrap().clone().unwrap();
                let is_same = other.octets(&octets(length))? == octets(length);
                call.reply(|out| is_same.marshal(out))
            }
            _ => Err(call.bad_operation()),
        }
    }
}

fn numbers(count: u32) -> Vec<f64> {
    (0..count).map(f64::from).collect()
}

/// Calls `results`; returns whether all of them are right.
fn results(echo: &Echo, count: u32) -> Result<bool, SystemException> {
    type Results = (bool, Vec<f64>, u8, Vec<u8>, u64);
    const OPERATION: Operation = Operation::two_way("results");
    let read = |reply: &mut punctual::stub::Decoder<'_>| -> Result<Results, _> {
        Ok((
            bool::unmarshal(reply)?,
            Vec::unmarshal(reply)?,
            u8::unmarshal(reply)?,
            Vec::unmarshal(reply)?,
            u64::unmarshal(reply)?,
        ))
    };
    let object = echo.as_object();
    let all = object.invoke(&OPERATION, |out| count.marshal(out), read)?;
    Ok(all == (true, numbers(count), 7, octets(LEAST), u64::MAX))
}

fn later(echo: &Echo, octets: &[u8]) -> Result<Vec<u8>, SystemException> {
    const OPERATION: Operation = Operation::two_way("later");
    let object = echo.as_object();
    object.invoke(&OPERATION, |out| octets.marshal(out), Vec::unmarshal)
}

/// Calls with results around the length from which they are sent from where they lie.
fn all_lengths(echo: &Echo) {
    for length in [0, 1, LEAST - 1, LEAST, LEAST + 3, 200_000, FRAGMENTED] {
        let octets = octets(length);
        assert!(
            echo.octets(&octets).unwrap() == octets,
            "{length} octets are not the same"
        );
    }
    for count in [0, 4095, 4096, 50_000] {
        assert!(results(echo, count).unwrap(), "{count} numbers");
    }
    let octets = octets(100_001);
    assert!(later(echo, &octets).unwrap() == octets);
}

fn strategies() -> [Concurrency; 3] {
    [
        Concurrency::ThreadPerConnection,
        Concurrency::Reactive,
        Concurrency::LeaderFollowers(PoolSize::default()),
    ]
}

/// Server whose servant returns vectors, and a client.
struct Served {
    server: Orb,
    client: Orb,
    servant: Arc<Returning>,
    echo: Echo,
}

impl Served {
    fn over(endpoint: ListenEndpoint, configure: impl Fn(&mut OrbConfig)) -> Self {
        let server = Orb::builder().listen(endpoint).configure(&configure);
        Self::of(server.build().unwrap(), configure)
    }

    fn of(server: Orb, configure: impl Fn(&mut OrbConfig)) -> Self {
        let client = Orb::builder().configure(configure).build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(Returning::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        assert_eq!(echo.long(1).unwrap(), 1);
        Self {
            server,
            client,
            servant,
            echo,
        }
    }

    /// Makes a server whose link notes what it sends.
    fn noted(configure: impl Fn(&mut OrbConfig)) -> (Self, Noting) {
        let server = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
        let server = server.configure(&configure).build().unwrap();
        let link = Noting::default();
        server.retire_protocol("iiop").unwrap();
        let bundle = ProtocolBundle::new().link(Arc::new(link.clone()));
        server.add_protocols(&bundle).unwrap();
        (Self::of(server, configure), link)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

#[test]
fn a_long_result_is_sent_from_where_the_servant_had_it_and_a_short_one_copied() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let (served, link) = Served::noted(|config| config.concurrency = strategy);
        for length in [LEAST, 100_001, LONG] {
            let octets = octets(length);
            assert!(served.echo.octets(&octets).unwrap() == octets);
            let place = served.servant.place();
            assert!(link.sent_from(place), "{length} octets, {strategy:?}");
        }
        assert!(results(&served.echo, 5_000).unwrap());
        assert!(link.sent_from(served.servant.place()), "{strategy:?}");
        let octets = octets(LEAST - 1);
        assert_eq!(served.echo.octets(&octets).unwrap(), octets);
        assert!(!link.sent_from(served.servant.place()));
    }
}

#[test]
fn a_long_result_that_is_given_later_is_sent_from_where_the_servant_had_it() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let (served, link) = Served::noted(|config| config.concurrency = strategy);
        let octets = octets(100_001);
        assert!(later(&served.echo, &octets).unwrap() == octets);
        assert!(link.sent_from(served.servant.place()), "{strategy:?}");
    }
}

#[test]
fn fragments_and_traces_copy_a_long_result() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let (fragmented, link) = Served::noted(|config| {
            config.fragment_size = 10_000;
            config.concurrency = strategy;
        });
        let octets = octets(60_001);
        assert!(fragmented.echo.octets(&octets).unwrap() == octets);
        assert!(!link.sent_from(fragmented.servant.place()));
        let (traced, link) = Served::noted(|config| {
            config.trace.giop = true;
            config.concurrency = strategy;
        });
        assert!(traced.echo.octets(&octets).unwrap() == octets);
        assert!(!link.sent_from(traced.servant.place()));
    }
}

/// Interceptor that gives replies a service context.
struct Adding;

impl ServerRequestInterceptor for Adding {
    fn name(&self) -> &str {
        "adding"
    }

    fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        info.add_reply_service_context(0x5055_0001, &[1; 5], true)
    }
}

impl OrbInitializer for Adding {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        Ok(info.add_server_request_interceptor(Arc::new(Self))?)
    }
}

#[test]
fn long_results_come_back_from_a_server_whose_interceptors_add_contexts() {
    let _watchdog = watchdog(LIMIT);
    let server = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .initializer(Arc::new(Adding));
    all_lengths(&Served::of(server.build().unwrap(), |_| {}).echo);
}

#[test]
fn long_results_come_back_in_every_version_over_every_link() {
    let _watchdog = watchdog(LIMIT);
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        let served = Served::over(endpoint, |config| config.giop_version = version);
        all_lengths(&served.echo);
    }
    for (protocol, place) in [
        ("uiop", ""),
        ("shmiop", ""),
        ("giop_lite+uiop", ""),
        ("giop_lite+iiop", "127.0.0.1:0"),
        ("giop_lite+shmiop", ""),
        ("reliable+diop", "127.0.0.1:0"),
    ] {
        let served = Served::over(ListenEndpoint::new(protocol, place), |_| {});
        all_lengths(&served.echo);
    }
}

#[test]
#[cfg(feature = "tls")]
fn long_results_come_back_over_tls() {
    let _watchdog = watchdog(LIMIT);
    let authority = Authority::new();
    for strategy in strategies() {
        let served = Served::over(ListenEndpoint::new("ssliop", "127.0.0.1:0"), |config| {
            config.tls = Some(authority.options("127.0.0.1"));
            config.concurrency = strategy;
        });
        all_lengths(&served.echo);
    }
}

#[test]
fn clients_that_share_a_connection_get_their_own_results() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        let served = Served::over(endpoint, |config| config.concurrency = strategy);
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let echo = &served.echo;
                scope.spawn(move || {
                    let octets = octets(200_000 + thread * 1_111);
                    for _ in 0..10 {
                        assert!(echo.octets(&octets).unwrap() == octets);
                        assert!(later(echo, &octets).unwrap() == octets);
                    }
                });
            }
        });
    }
}

#[test]
fn a_client_is_called_back_over_its_own_connection_for_long_results() {
    const OTHER: Operation = Operation::two_way("other");
    const THROUGH: Operation = Operation::two_way("through");
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
        let both = |config: &mut OrbConfig| {
            config.bidirectional = Bidirectional::Both;
            config.collocation = Collocation::None;
            config.concurrency = strategy;
        };
        let served = Served::over(endpoint, both);
        // The published address of the client's object has no listener.
        let unreachable = ListenEndpoint::iiop("127.0.0.1", 0).option("port_in_ior", 1);
        let client = Orb::builder().listen(unreachable).configure(both);
        let client = client.build().unwrap();
        let root = client.root_poa().unwrap();
        root.manager().activate().unwrap();
        let policies = [PoaPolicy::Defined(Policy::Bidirectional(
            Bidirectional::Both,
        ))];
        let poa = root.create_poa("callbacks", Some(root.manager()), &policies);
        let object: Echo = poa
            .unwrap()
            .activate(Arc::new(Returning::default()))
            .unwrap();
        let text = served.server.object_to_string(&served.reference()).unwrap();
        let at = client.string_to_object(&text).unwrap();
        let object = object.as_object().clone();
        at.invoke(&OTHER, |out| object.marshal(out), |_| Ok(()))
            .unwrap();
        for length in [10_u32, 100_001, 4_000_000, 5_000_000] {
            let same = at.invoke(&THROUGH, |out| length.marshal(out), bool::unmarshal);
            assert!(same.unwrap(), "{length} octets, {strategy:?}");
        }
        client.shutdown(false).unwrap();
    }
}

#[test]
fn a_reply_that_is_too_long_with_its_result_fails_the_call_and_not_the_connection() {
    let _watchdog = watchdog(LIMIT);
    let server = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.limits.message = 80_000);
    let served = Served::of(server.build().unwrap(), |_| {});
    let refused = results(&served.echo, 10_000).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit, "{refused}");
    assert!(results(&served.echo, 5_000).unwrap());
}

/// Returns a request for `results` with this count.
fn request(key: &[u8], id: u32, count: u32) -> Vec<u8> {
    late::request(id, true, key, "results", &count.to_le_bytes())
}

impl Served {
    /// Returns the client's reference, as it came.
    fn reference(&self) -> ObjectRef {
        self.echo.as_object().clone()
    }

    fn key(&self) -> Vec<u8> {
        let mut profiles = self.echo.as_object().ior().iiop_profiles();
        profiles.next().unwrap().unwrap().object_key
    }

    /// Returns a connection to the server on which nothing has been sent.
    fn connected(&self) -> TcpStream {
        let port = self.server.endpoints()[0].port().unwrap();
        TcpStream::connect(("127.0.0.1", port)).unwrap()
    }
}

/// Number of doubles in the replies of the tests that read slowly, or not at all.
const MANY: u32 = 200_000;

#[test]
fn a_client_that_reads_late_gets_all_replies_whole_and_in_order() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0).option("send_buffer", 16_384);
        // Replies in the order of their requests: no other thread serves those behind one that takes long.
        let served = Served::over(endpoint, |config| {
            config.concurrency = strategy;
            config.timeouts.hand_over = None;
        });
        let key = served.key();
        let mut stream = served.connected();
        for id in 0..6 {
            stream.write_all(&request(&key, id, MANY)).unwrap();
        }
        // Meanwhile the socket fills, and others are served.
        assert!(results(&served.echo, 5_000).unwrap());
        let expected: Vec<u8> = numbers(MANY)
            .into_iter()
            .flat_map(f64::to_le_bytes)
            .collect();
        for id in 0..6_u32 {
            let mut header = [0; 12];
            stream.read_exact(&mut header).unwrap();
            let size = u32::from_le_bytes(header[8..].try_into().unwrap());
            let mut body = vec![0; size as usize];
            // Bits first.
            let (some, rest) = body.split_at_mut(1_000);
            stream.read_exact(some).unwrap();
            stream.read_exact(rest).unwrap();
            assert_eq!(body[..4], id.to_le_bytes(), "{strategy:?}");
            // Behind the rest of the header, the boolean, and the length.
            let found = &body[20..20 + expected.len()];
            assert!(found == expected, "reply {id}, {strategy:?}");
        }
    }
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_reply_harms_no_other() {
    let _watchdog = watchdog(LIMIT);
    for strategy in strategies() {
        let endpoint = ListenEndpoint::iiop("127.0.0.1", 0).option("send_buffer", 16_384);
        let served = Served::over(endpoint, |config| config.concurrency = strategy);
        let key = served.key();
        for _ in 0..5 {
            let mut stream = served.connected();
            for id in 0..3 {
                stream.write_all(&request(&key, id, MANY)).unwrap();
            }
            let mut begin = [0; 1_000];
            stream.read_exact(&mut begin).unwrap();
            assert_eq!(&begin[..4], b"GIOP");
            drop(stream);
            assert!(results(&served.echo, 5_000).unwrap());
        }
        served.server.shutdown(true).unwrap();
    }
}
