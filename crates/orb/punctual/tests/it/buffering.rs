//! One-ways that are buffered, of any size and over every link.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Buffering;
use punctual::stub::Operation;
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
/// One-way operation whose servant records the sum of its octets.
const SUM: Operation = Operation::one_way("sum_behind_gate");

#[test]
fn buffered_one_ways_arrive_whole_and_in_order_however_large() {
    let _watchdog = watchdog(LIMIT);
    let protocols = [
        ("iiop", "127.0.0.1:0"),
        ("uiop", ""),
        ("shmiop", ""),
        #[cfg(feature = "reliable")]
        ("reliable+diop", "127.0.0.1:0"),
        ("giop_lite+iiop", "127.0.0.1:0"),
        ("giop_lite+shmiop", ""),
    ];
    for (protocol, place) in protocols {
        let endpoint = ListenEndpoint::new(protocol, place);
        // An upcall that sums up a large argument lasts long on a busy machine, and must not be overtaken by the next.
        let server = Orb::builder().listen(endpoint);
        let server = server.configure(|config| config.timeouts.hand_over = None);
        let server = server.build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        servant.gate.open();
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let few = Buffering {
            messages: 4,
            octets: 1 << 30,
            delay: None,
        };
        let client = Orb::builder()
            .configure(|config| config.one_way_buffering = Some(few))
            .build()
            .unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        let mut octets = vec![0_u8; 1 << 20];
        let mut expected = Vec::new();
        for fill in 1..=8_u8 {
            for length in [10, 20_000, 1 << 20] {
                octets.fill(fill);
                let sent = &octets[..length];
                let object = echo.as_object();
                object.send(&SUM, |out| out.put_octets(sent)).unwrap();
                expected.push(u64::from(fill) * u64::try_from(length).unwrap());
            }
        }
        // This call is served after them.
        assert_eq!(echo.long(1).unwrap(), 1);
        assert_eq!(*servant.sums.lock().unwrap(), expected, "{protocol}");
        let _ = client.shutdown(false);
        let _ = server.shutdown(false);
    }
}

#[test]
fn a_lent_buffer_that_is_filled_anew_does_not_change_what_waits() {
    let _watchdog = watchdog(LIMIT);
    let endpoint = ListenEndpoint::new("shmiop", "");
    let server = Orb::builder().listen(endpoint).build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let servant = Arc::new(EchoImpl::default());
    servant.gate.open();
    let reference: Echo = poa.activate(servant.clone()).unwrap();
    let text = server.object_to_string(&reference).unwrap();
    let client = Orb::builder()
        .configure(|config| {
            config.one_way_buffering = Some(Buffering {
                messages: 100,
                octets: 1 << 30,
                delay: None,
            });
        })
        .build()
        .unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    let mut loan = echo.as_object().loan(1 << 20).unwrap();
    for fill in 1..=4 {
        loan.fill(fill);
        let sent = echo.as_object().send(&SUM, |out| out.put_octets(&loan));
        sent.unwrap();
    }
    assert_eq!(echo.long(1).unwrap(), 1);
    let expected: Vec<u64> = (1..=4).map(|fill| fill << 20).collect();
    assert_eq!(*servant.sums.lock().unwrap(), expected);
    let _ = client.shutdown(false);
    let _ = server.shutdown(false);
}

/// Makes a server and a client that has sent a flood of one-ways, which it may delay by `gather` to
/// send them together.
fn flooded(gather: Duration) -> Pair {
    let pair = Pair::with(|_| {}, |config| config.one_way_gather = gather);
    pair.servant.gate.open();
    for octet in 0..FLOOD {
        let argument = [octet];
        let object = pair.echo.as_object();
        object.send(&SUM, |out| out.put_octets(&argument)).unwrap();
    }
    pair
}

const FLOOD: u8 = 200;

fn all_of_the_flood() -> Vec<u64> {
    (0..FLOOD).map(u64::from).collect()
}

fn wait_for_the_flood(servant: &EchoImpl) {
    while servant.sums.lock().unwrap().len() < usize::from(FLOOD) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(*servant.sums.lock().unwrap(), all_of_the_flood());
}

#[test]
fn the_last_one_way_of_a_flood_arrives_though_nothing_follows() {
    let _watchdog = watchdog(LIMIT);
    let pair = flooded(Duration::from_millis(2));
    wait_for_the_flood(&pair.servant);
}

#[test]
fn a_call_takes_along_the_one_ways_that_were_kept_back() {
    let _watchdog = watchdog(LIMIT);
    let pair = flooded(Duration::from_secs(3600));
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    assert_eq!(*pair.servant.sums.lock().unwrap(), all_of_the_flood());
}

#[test]
fn an_orb_that_ends_takes_along_the_one_ways_that_were_kept_back() {
    let _watchdog = watchdog(LIMIT);
    let pair = flooded(Duration::from_secs(3600));
    pair.client.shutdown(true).unwrap();
    wait_for_the_flood(&pair.servant);
}

/// Makes a server that reads only the first byte of a connection.
fn stalled() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key"))
}

fn takes_one_octet(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream
}

#[test]
fn servers_that_have_stalled_do_not_delay_one_ways_to_another() {
    const STALLED: usize = 7;
    let _watchdog = watchdog(LIMIT);
    let buffered = Buffering {
        messages: 1000,
        octets: 1 << 30,
        delay: Some(Duration::from_millis(5)),
    };
    let pair = Pair::with(|_| {}, |config| config.one_way_buffering = Some(buffered));
    pair.servant.gate.open();
    let servers: Vec<_> = (0..STALLED).map(|_| stalled()).collect();
    // More than sockets' buffers hold.
    let large = vec![0; 16 << 20];
    let targets: Vec<_> = servers
        .iter()
        .map(|(_, reference)| pair.client.string_to_object(reference).unwrap())
        .collect();
    for target in &targets {
        target.send(&SUM, |out| out.put_octets(&large)).unwrap();
    }
    let held: Vec<_> = servers
        .iter()
        .map(|(listener, _)| takes_one_octet(listener))
        .collect();
    let argument = [7];
    let object = pair.echo.as_object();
    object.send(&SUM, |out| out.put_octets(&argument)).unwrap();
    while pair.servant.sums.lock().unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // None was given up for that.
    let stand = targets.iter().filter(|one| one.connected_to().is_some());
    assert_eq!(stand.count(), STALLED);
    drop(held);
}
