//! Fuzz target that passes inputs over Unix sockets, where threads other than the calling one
//! serve: on the server side the reactor and a thread pool, on the client side a call that serves
//! the reactor while it waits.||Which code an input reaches depends a little on the order in which
//! threads run; the checked properties do not.
//!
//! The reached code depends a little on which thread comes first; the checked properties do not.

mod back;
mod bridges;
mod more;

use crate::generated::all_types::Every;
use crate::server::{self, priorities_that_change};
use punctual::policy::{Bidirectional, CollocationScope, Wait};
use punctual::rt::{PoolThreads, RequestBuffering, RtOrb, ThreadpoolOptions};
use punctual::stub::ServerCall;
use punctual::{
    Any, Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poller, SystemException,
};
use punctual_orb::{BufferLimits, Priority};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time limit of a conversation: one that has not ended by then counts as endless.
const LONG: Duration = Duration::from_secs(30);
/// Time for which a server with several clients waits for missing data, and the peer of a client
/// for another request.
const SHORT: Duration = Duration::from_millis(20);
/// Prefix of the names of the folders that hold the sockets; the process id follows.
const PREFIX: &str = "punctual-fuzz-";
/// Number of bytes of unread replies that fit into a socket's buffer.
const FIT: usize = 1 << 16;

/// Index of the endpoint served by a thread pool.
const POOL: usize = ENDPOINTS.len();

/// Protocol and strategy of each endpoint. The endpoint of a thread pool, which queues requests,
/// follows after these.
const ENDPOINTS: [(&str, &str); 4] = [
    ("uiop", "reactive"),
    ("uiop", "leader_followers"),
    ("giop_lite+uiop", "reactive"),
    ("uiop", "thread_per_connection"),
];

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    let which = usize::from(how >> 1);
    match (how & 1, which) {
        (0, CROWDS..) => crowd(which - CROWDS, octets),
        (0, ENDS) => back::ends(octets),
        (0, IN_TURN..) => back::in_turn(which - IN_TURN, octets),
        (0, WATCHED..) => more::in_turn(which - WATCHED, octets),
        (0, _) => asked(which % ENDPOINTS.len(), octets),
        (_, TWO..LATE) => two_answered(octets),
        (_, LATE..) => late(octets),
        (_, CALLED_BACK_OFTEN) => back::called_back_often(octets),
        (_, CALLED_BACK..) => back::called_back(which - CALLED_BACK, octets),
        (_, OVERDUE..) => more::goes_on(which - OVERDUE, octets),
        (_, BRIDGED..) => bridges::bridged(which - BRIDGED, octets),
        _ => answered(which, octets),
    }
}

/// First number of the inputs that several clients send at once.
const CROWDS: usize = 122;
/// First number of the inputs that are sent in two parts, the second after the server has answered.
const IN_TURN: usize = 116;
/// First number of the inputs that are sent in two parts to a server with interceptors, or while a
/// timeline is recorded.
const WATCHED: usize = 108;
/// Number of the inputs for a server that is shut down while it serves.
const ENDS: usize = 121;
/// First number of the inputs for a client that is called back by its server.
const CALLED_BACK: usize = 116;
/// Number of the inputs for a client that is called back more often than it can queue requests.
const CALLED_BACK_OFTEN: usize = 119;
/// First number of the inputs for asynchronous calls that time out, by each way of notification.
const OVERDUE: usize = 108;
/// First selector of the inputs that name the target of a bridge.
const BRIDGED: usize = 106;
/// First selector of the inputs for two simultaneous calls on one connection.
const TWO: usize = 120;
/// First selector of the inputs for a call made after another has timed out.
const LATE: usize = 124;

/// Returns the path of a file in a folder that only this process uses.
fn path(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let temporary = std::env::temp_dir();
        remove_left(&temporary);
        let own = temporary.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir_all(&own).expect("there is room for a folder");
        own
    });
    folder.join(name)
}

/// Removes the socket files of processes that are gone: endpoints live as long as their process,
/// and leave their files behind.
fn remove_left(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = process.and_then(|process| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn endpoint(protocol: &str, concurrency: &str, name: &str) -> ListenEndpoint {
    let place = path(name);
    let mut endpoint = ListenEndpoint::new(protocol, &place.to_string_lossy());
    let concurrency = ("concurrency".to_owned(), concurrency.to_owned());
    endpoint.options.extend([concurrency]);
    endpoint
}

/// Makes a pool of one thread that serves an endpoint at this path, and queues requests while the
/// thread is busy.
fn create_pool(rt: &RtOrb, orb: &Orb, name: &str) {
    let threads = PoolThreads {
        priority: Priority::MIN,
        static_threads: 1,
        dynamic_threads: 0,
        reservation: None,
    };
    let at = ListenEndpoint::new("uiop", &path(name).to_string_lossy());
    let options = ThreadpoolOptions {
        buffering: RequestBuffering::Bounded(BufferLimits {
            requests: Some(4),
            octets: None,
        }),
        endpoints: vec![at],
        ..ThreadpoolOptions::default()
    };
    rt.create_threadpool(orb, threads, &options)
        .expect("there are threads for it");
}

/// Sends octets to a server, and checks that it answers with complete messages until it has read
/// all octets, or has closed the connection.
fn asked(which: usize, octets: &[u8]) {
    let mut stream = connect(which);
    // A server that closes before it has read all needs no more.
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    let sent = read_to_end(&mut stream);
    check_sent(which, &sent);
}

/// Checks that the octets that a server has sent consist of complete messages.
fn check_sent(which: usize, sent: &[u8]) {
    let speaks_giop = ENDPOINTS.get(which).is_none_or(|it| it.0 == "uiop");
    if speaks_giop && sent.len() < FIT {
        server::are_messages(sent);
    }
}

/// Connects to the server that accepts any number of clients.
fn connect(which: usize) -> UnixStream {
    static SERVER: OnceLock<server::Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let rt = priorities_that_change();
        let mut builder = Orb::builder().configure(|config| {
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
            config.fragment_size = 1024;
            config.bidirectional = Bidirectional::Both;
            // References lead anywhere, but only Unix sockets are called.
            config.client_protocols = vec!["uiop".to_owned()];
            config.timeouts.answer = Some(SHORT);
        });
        for (number, (protocol, concurrency)) in ENDPOINTS.into_iter().enumerate() {
            builder = builder.listen(endpoint(protocol, concurrency, &number.to_string()));
        }
        let orb = rt.extend(builder).expect("no policy type is taken").build();
        let orb = orb.expect("the configuration is sound");
        create_pool(&rt, &orb, &POOL.to_string());
        // Other threads receive meanwhile.
        let calls = |_: &mut ServerCall<'_>| {
            check_outcome(Client::get().reading.with_timeout(SHORT).name());
        };
        let server = server::with_objects_and(orb, &[("c", calls), ("b", back::calls_back)]);
        server::with_priorities(&server.orb);
        server
    });
    let stream = UnixStream::connect(path(&which.to_string()));
    stream.expect("the server listens")
}

/// Reads all data from a socket until the peer closes the connection.
fn read_to_end(stream: &mut UnixStream) -> Vec<u8> {
    let limited = stream.set_read_timeout(Some(LONG));
    limited.expect("a socket takes a limit");
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => {
            panic!("the conversation does not end: {error}")
        }
        _ => all,
    }
}

/// Runs more clients than an endpoint accepts, with limits on the buffered octets of some: each
/// conversation must end, because another client has left, a limit is reached, or the client
/// neither reads nor sends for too long.
fn crowd(which: usize, octets: &[u8]) {
    static SERVER: OnceLock<server::Server> = OnceLock::new();
    const SERVED: [&str; 2] = ["thread_per_connection", "reactive"];
    let server = SERVER.get_or_init(|| {
        let mut builder = Orb::builder().configure(|config| {
            config.limits.message = 1 << 16;
            config.max_connections = 2;
            config.budgets.received = 24 << 10;
            config.timeouts.make_room = Some(Duration::ZERO);
            config.timeouts.first_message = Some(SHORT);
            config.timeouts.message = Some(3 * SHORT);
            config.timeouts.reply = Some(SHORT);
            config.timeouts.idle = Some(2 * SHORT);
        });
        for concurrency in SERVED {
            builder = builder.listen(endpoint("uiop", concurrency, concurrency));
        }
        server::with_objects(builder.build().expect("the configuration is sound"))
    });
    // The clients of another crowd would take their room.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, what) = (path(SERVED[which % 2]), which / 2);
    let mut streams: Vec<UnixStream> = (0..3)
        .map(|number| {
            let stream = UnixStream::connect(&place);
            let mut stream = stream.expect("the server listens");
            let _ = stream.set_write_timeout(Some(2 * SHORT));
            let mut all = octets.to_vec();
            match what {
                // More replies than the socket's buffer holds.
                READS_NOTHING => all = octets.repeat((1 << 18) / octets.len().max(1)),
                // These exceed the counted size: the first has to go for the second, and the third
                // for itself.
                SENDS_MUCH => all.resize(octets.len() + MUCH[number], 0),
                _ => {}
            }
            let _ = stream.write_all(&all);
            if what == SENDS_MUCH {
                // The server has usually read it before the next one comes.
                std::thread::sleep(SHORT / 8);
            }
            stream
        })
        .collect();
    if what == READS_NOTHING {
        std::thread::sleep(2 * SHORT);
    }
    for stream in streams.iter_mut().rev() {
        if what == SENDS_MUCH {
            let _ = stream.shutdown(Shutdown::Write);
        }
        read_to_end(stream);
    }
    // All clients have been refused or ended, and the next ones have the room.
    let began = Instant::now();
    while server.orb.client_connections() > 0 {
        assert!(began.elapsed() < LONG, "a connection stays");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Number of simultaneous calls: more than the first row of a reply table has slots.
const MANY: usize = 80;

/// Numbers of the clients with special behaviour among several at once; all others only send the
/// input.
const READS_NOTHING: usize = 0;
const SENDS_MUCH: usize = 1;
const MUCH: [usize; 3] = [17 << 10, (17 << 10) - 512, 19 << 10];

/// Makes a call whose reply is the input, waiting in the selected way, and checks that it ends with
/// a result, or an error with a text.
fn answered(which: usize, octets: &[u8]) {
    let client = Client::get();
    let every = &client.references[which % client.references.len()];
    let _alone = client.has_peer(Answer {
        octets: octets.to_vec(),
        reads: 1,
        stays: which % 2 == 1 && which > 6,
    });
    let what = which / client.references.len();
    // One whose calls read their connection has another thread read while no caller waits.
    let every = match what / 3 % 2 {
        0 => every,
        _ => &client.reading,
    };
    let outcome = match (what % 3, what / 3 % 2) {
        // The caller goes on meanwhile, and waits for a while later.
        (0, 1) => {
            // This call usually times out.
            let hasty = every.with_timeout(Duration::from_millis(1)).name_async();
            told_later(hasty).or_else(|_| told_later(every.name_async()))
        }
        // More than are usually in flight.
        (1, 1) => {
            let many: Vec<_> = (0..MANY)
                .map(|_| every.anything_async(&Any::default()))
                .collect();
            let mut outcomes = many.into_iter().map(told_later);
            outcomes.find(Result::is_err).unwrap_or(Ok(()))
        }
        // The reply handler runs on another thread.
        (2, 1) => {
            let (say, told) = channel();
            every.sendc_get_level(move |level: Result<i32, SystemException>| {
                let _ = say.send(level.map(drop).map_err(|error| error.to_string()));
            });
            told.recv_timeout(LONG).expect("the handler is called")
        }
        (0, _) => every.ping().map_err(|error| error.to_string()),
        (1, _) => every.name().map(drop).map_err(|error| error.to_string()),
        _ => (every.same_octets(&[7; 2000]).map(drop)).map_err(|error| error.to_string()),
    };
    assert!(outcome.is_ok() || outcome.is_err_and(|text| !text.is_empty()));
}

fn told_later<R>(mut asked: Poller<R, SystemException>) -> Result<(), String> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    if let std::task::Poll::Ready(outcome) = std::pin::Pin::new(&mut asked).poll(&mut context) {
        return outcome.map(drop).map_err(|error| error.to_string());
    }
    if asked.is_ready(Duration::ZERO) {
        return asked.wait().map(drop).map_err(|error| error.to_string());
    }
    match asked.wait_for(4 * SHORT) {
        Ok(outcome) => outcome.map(drop).map_err(|error| error.to_string()),
        Err(_given_up) => Ok(()),
    }
}

/// Makes two calls through one connection on two threads: one thread reads from it, the other waits
/// for the reply that the first one passes on.
fn two_answered(octets: &[u8]) {
    let client = Client::get();
    let _alone = client.is_answered(octets, 2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| check_outcome(client.reading.name()));
        }
    });
}

/// Makes a call that times out; its reply may arrive while the next call waits for its own.
fn late(octets: &[u8]) {
    let client = Client::get();
    let _alone = client.is_answered(octets, 3);
    check_outcome(client.reading.with_timeout(SHORT / 4).name());
    check_outcome(client.reading.name());
}

fn check_outcome<T>(outcome: Result<T, SystemException>) {
    assert!(outcome.is_ok() || outcome.is_err_and(|error| !error.to_string().is_empty()));
}

/// Client ORBs whose calls serve the reactor or a thread pool while they wait, and the peer that
/// answers them.
struct Client {
    references: Vec<Every>,
    /// Reference in an ORB whose calls read from their connection themselves while they wait.
    reading: Every,
    /// References in ORBs that can be called back by their server, one for each way of waiting.
    called_back: Vec<Every>,
    peer: Mutex<Sender<Answer>>,
}

/// Behaviour of the peer on the next connection that it accepts.
#[derive(Default)]
struct Answer {
    octets: Vec<u8>,
    /// Number of reads before the peer sends the octets.
    reads: usize,
    /// Set if the peer goes on reading after it has sent the octets, until nothing more arrives.
    stays: bool,
}

impl Client {
    fn get() -> &'static Self {
        static CLIENT: OnceLock<Client> = OnceLock::new();
        CLIENT.get_or_init(Self::new)
    }

    /// Sets the octets with which the peer answers. No other thread can change them while the
    /// returned guard is held.
    fn is_answered(&self, octets: &[u8], reads: usize) -> MutexGuard<'_, Sender<Answer>> {
        self.has_peer(Answer {
            octets: octets.to_vec(),
            reads,
            stays: false,
        })
    }

    fn has_peer(&self, does: Answer) -> MutexGuard<'_, Sender<Answer>> {
        let peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = peer.send(does);
        sent.expect("the peer lives");
        peer
    }

    fn new() -> Self {
        let listener = UnixListener::bind(path("peer")).expect("the path is free");
        let (peer, inputs) = channel();
        let thread = std::thread::Builder::new().name("punctual-fuzz-peer".to_owned());
        let peer_runs = thread.spawn(move || answer(&listener, &inputs));
        peer_runs.expect("there is a thread");
        let ways = [Wait::Read, Wait::Reactor, Wait::LeaderFollowers];
        let [reading, references @ ..] = ways.map(|wait| client(wait, Bidirectional::Normal));
        let called_back = ways.map(|wait| client(wait, Bidirectional::Both));
        Self {
            references: references.into(),
            reading,
            called_back: called_back.into(),
            peer: Mutex::new(peer),
        }
    }
}

/// Returns a reference to the peer, in a new ORB with these settings.
fn client(wait: Wait, bidirectional: Bidirectional) -> Every {
    client_by(wait, bidirectional, |_| {})
}

fn client_by(
    wait: Wait,
    bidirectional: Bidirectional,
    configure: impl FnOnce(&mut OrbConfig),
) -> Every {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("client-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let builder = Orb::builder()
        .configure(|config| {
            config.wait = wait;
            config.bidirectional = bidirectional;
            config.collocation_scope = CollocationScope::Orb;
            config.client_protocols = vec!["uiop".to_owned()];
            config.limits.message = 1 << 16;
            config.timeouts.answer = Some(SHORT);
            configure(config);
        })
        .listen(endpoint("uiop", "leader_followers", &name));
    let builder = match bidirectional {
        Bidirectional::Normal => builder,
        Bidirectional::Both => builder.initializer(server::watches()),
    };
    let orb = builder.build().expect("the configuration is sound");
    let orb = match bidirectional {
        Bidirectional::Normal => orb,
        Bidirectional::Both => {
            // Calls the peer from an upcall, by the connection of its request.
            let calls = |_: &mut ServerCall<'_>| {
                if let Some(own) = Client::get().called_back.first() {
                    check_outcome(own.with_timeout(SHORT).name());
                }
            };
            let more: [(&str, server::Deed); 2] = [("c", calls), ("s", back::takes_its_time)];
            server::with_objects_and(orb, &more).orb
        }
    };
    let place = path("peer");
    let text = format!("corbaloc:uiop:1.2@{}|key", place.display());
    let object: Result<ObjectRef, _> = orb.string_to_object(&text);
    Every::from_object(object.expect("it is a reference"))
}

/// Answers each connection after its first request, as the latest behaviour says, and closes it.
fn answer(listener: &UnixListener, inputs: &Receiver<Answer>) {
    let mut newest = Answer::default();
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            continue;
        };
        let _ = stream.set_read_timeout(Some(LONG));
        let asked = stream.read(&mut [0; 4096]);
        newest = inputs.try_iter().last().unwrap_or(newest);
        let _ = stream.set_read_timeout(Some(SHORT));
        for _ in 1..newest.reads {
            // The other call may go by another connection.
            let _ = stream.read(&mut [0; 4096]);
        }
        // A client closes as soon as it needs no more.
        let is_open = asked.is_ok() && stream.write_all(&newest.octets).is_ok();
        if is_open && newest.stays {
            while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        }
    }
}

/// Mutates an input so that its messages stay valid (see [`crate::mutate`]).
pub use crate::server::mutate;
