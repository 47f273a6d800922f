//! Lane that a peer fills with connections.

use crate::lanes::{named, propagated, with};
use crate::setting::{LIMIT, Noting, Server, at, client, echo, on_a_thread, ordinary};
use crate::support::{Echo, watchdog};
use punctual::rt::{ClientPriorityPolicy, PrivateConnectionPolicy, Propagated};
use punctual::stub::Arc;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::sync::{Mutex, Once};
use std::time::Instant;
use tracing_subscriber::fmt::MakeWriter;

/// Limit on connections that no other test of this program uses, so that its log lines can be
/// recognised.
const CONNECTIONS: usize = 13;

/// Log lines captured from all tests of this program.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOGGING: Once = Once::new();

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Log
    }
}

/// Returns the number of log lines about connections refused because of this limit.
fn refusals() -> usize {
    let log = String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned();
    let why = format!("{CONNECTIONS} connections are open, none of them idle (max_connections)");
    log.lines().filter(|line| line.contains(&why)).count()
}

/// Makes a server with lanes of priorities 10 and 50, each limited to this number of connections,
/// none of which is closed in favour of another.
fn server() -> Server {
    let rt = ordinary(Propagated::default());
    let builder = [10, 50]
        .into_iter()
        .fold(Orb::builder(), |builder, priority| {
            let endpoint = format!("iiop://127.0.0.1:0/priority={priority}");
            builder.listen(endpoint.parse::<ListenEndpoint>().unwrap())
        });
    let builder = builder.configure(|config| {
        config.max_connections = CONNECTIONS;
        config.timeouts.make_room = None;
    });
    let orb = rt.extend(builder).unwrap().build().unwrap();
    orb.root_poa().unwrap().manager().activate().unwrap();
    let noting = Arc::new(Noting {
        rt,
        seen: Mutex::default(),
    });
    Server { orb, noting }
}

/// Returns a reference that has its own connection, only to the lane with the calling thread's
/// priority.
fn private(client: &Orb, reference: &str) -> Echo {
    let of_lane = with(
        &echo(client, reference),
        ClientPriorityPolicy::UseThreadPriority,
    );
    with(&of_lane, PrivateConnectionPolicy)
}

/// Returns the address of the endpoint of the lane with the given priority.
fn place(server: &Server, priority: i16) -> SocketAddrV4 {
    let endpoints = server.orb.endpoints();
    let mut of_lane = endpoints
        .iter()
        .filter(|one| one.priority() == Some(at(priority)));
    of_lane.next().unwrap().place.parse().unwrap()
}

/// Connects from another address, so that the server sees another host.
fn from_elsewhere(to: SocketAddrV4) -> TcpStream {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &"127.0.0.2:0".parse::<SocketAddrV4>().unwrap()).unwrap();
    connect(&socket, &to).unwrap();
    socket.into()
}

/// Returns whether the server serves the connection and has not closed it: it must answer a
/// LocateRequest for an unknown object.
fn is_served(mut stream: TcpStream) -> bool {
    let unknown = b"GIOP\x01\x02\0\x03\0\0\0\x10\0\0\0\x07\0\0\0\0\0\0\0\x04none";
    // The connection may be closed already.
    let _ = stream.write_all(unknown);
    let mut header = [0; 12];
    // 4 LocateReply, 5 CloseConnection.
    stream.read_exact(&mut header).is_ok() && header[7] == 4
}

#[test]
fn a_peer_that_takes_all_connections_of_a_lane_keeps_nobody_out_of_others_and_the_log_says_why_once()
 {
    let _watchdog = watchdog(LIMIT);
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_writer(Log)
            .with_ansi(false)
            .init()
    });
    let server = server();
    let reference = server.object(propagated());
    let rt = ordinary(Propagated::default());
    let (behaving, greedy) = (client(&rt), client(&rt));
    assert_eq!(named(&behaving, &reference), ["iiop 10", "iiop 50"]);
    let connections = || server.orb.client_connections();
    on_a_thread(|| {
        rt.current().set_the_priority(at(10)).unwrap();
        let at_ten = echo(&behaving, &reference);
        at_ten.long(1).unwrap();
        let began = Instant::now();
        let references: Vec<_> = (0..2 * CONNECTIONS)
            .map(|_| private(&greedy, &reference))
            .collect();
        // One belongs to the other client.
        let (served, refused) = references.split_at(CONNECTIONS - 1);
        for (number, one) in served.iter().enumerate() {
            one.long(1).unwrap();
            assert_eq!(connections(), number + 2);
        }
        for one in refused {
            let error = one.long(1).unwrap_err();
            assert!(
                matches!(error.kind(), Kind::Transient | Kind::CommFailure),
                "{error}"
            );
        }
        // Without any GIOP message, too.
        let plain = |()| TcpStream::connect(place(&server, 10)).unwrap();
        assert!(![(); CONNECTIONS].map(plain).map(is_served).contains(&true));
        let elapsed = began.elapsed().as_secs();
        assert!(
            (1..=elapsed + 1).contains(&(refusals() as u64)),
            "{} in {elapsed} s",
            refusals()
        );
        // Earlier clients are still served, and so are clients with a connection, and those from
        // other hosts; the other lane has all of its room.
        at_ten.long(2).unwrap();
        served[0].long(2).unwrap();
        assert!(is_served(from_elsewhere(place(&server, 10))));
        rt.current().set_the_priority(at(50)).unwrap();
        at_ten.long(3).unwrap();
        assert!(
            [(); 3]
                .map(|()| TcpStream::connect(place(&server, 50)).unwrap())
                .into_iter()
                .all(is_served)
        );
        // Once the peer has gone there is room again.
        greedy.shutdown(true).unwrap();
        rt.current().set_the_priority(at(10)).unwrap();
        let late = client(&rt);
        while private(&late, &reference).long(4).is_err() {
            std::thread::yield_now();
        }
    });
}
