//! The same octets over Unix sockets, where others than the calling thread serve: at a server the reactor and a pool,
//! at a client a call that serves the reactor while it waits.
//!
//! What is reached depends on which thread comes first, a little; what has to hold does not.

mod back;
mod bridges;
mod more;

use crate::Seed;
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

/// Longer than anything takes here: a conversation that has not ended by then never does.
const LONG: Duration = Duration::from_secs(30);
/// How long the server of a crowd waits for what does not come, and a peer for another request.
const SHORT: Duration = Duration::from_millis(20);
/// What folders of sockets are called, before the number of their process.
const PREFIX: &str = "punctual-fuzz-";
/// Octets up to which a server's replies wait for nobody who reads them.
const FIT: usize = 1 << 16;

/// The endpoint of the pool.
const POOL: usize = ENDPOINTS.len();

/// What is spoken at each endpoint, and who serves it. Behind them is that of a thread pool, which keeps requests.
const ENDPOINTS: [(&str, &str); 4] = [
    ("uiop", "reactive"),
    ("uiop", "leader_followers"),
    ("giop_lite+uiop", "reactive"),
    ("uiop", "thread_per_connection"),
];

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
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

/// Inputs to begin with.
pub(crate) fn seeds() -> Vec<Seed> {
    let mut all = back::seeds();
    all.extend(bridges::seeds());
    all.extend(more::seeds());
    all
}

/// Inputs whose number is from there on are of several clients at once,
const CROWDS: usize = 122;
/// of a client that waits for what the server says before it goes on,
const IN_TURN: usize = 116;
/// and the same of a server that has interceptors, or is recorded,
const WATCHED: usize = 108;
/// of a server that ends meanwhile,
const ENDS: usize = 121;
/// of a client that serves calls of its server,
const CALLED_BACK: usize = 116;
/// more often than it serves,
const CALLED_BACK_OFTEN: usize = 119;
/// of calls whose callers go on, in other ways,
const OVERDUE: usize = 108;
/// of bridges to what is named there,
const BRIDGED: usize = 106;
/// of two calls at once on one connection,
const TWO: usize = 120;
/// and of a call behind one that was given up.
const LATE: usize = 124;

/// A path in a folder of this process's own.
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

/// Endpoints live as long as their process, which thus leaves their files behind: those of processes that are gone
/// are removed.
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

/// A pool of one thread at this path, which keeps requests while that is busy.
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

/// A server is asked, and answers with whole messages until it has read all, or has closed.
fn asked(which: usize, octets: &[u8]) {
    let mut stream = connect(which);
    // Where it closes before it has read all, there is no more to say.
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    let sent = read_to_end(&mut stream);
    is_sent_by(which, &sent);
}

/// What a server sends at an endpoint.
fn is_sent_by(which: usize, sent: &[u8]) {
    let speaks_giop = ENDPOINTS.get(which).is_none_or(|it| it.0 == "uiop");
    if speaks_giop && sent.len() < FIT {
        server::are_messages(sent);
    }
}

/// Connects to the server that serves as many as come.
fn connect(which: usize) -> UnixStream {
    static SERVER: OnceLock<server::Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let rt = priorities_that_change();
        let mut builder = Orb::builder().configure(|config| {
            config.limits.message = 1 << 16;
            config.limits.nesting = 24;
            config.fragment_size = 1024;
            config.bidirectional = Bidirectional::Both;
            // Wherever a reference leads to: it is called.
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
            is_told(Client::get().reading.with_timeout(SHORT).name());
        };
        let server = server::with_objects_and(orb, &[("c", calls), ("b", back::calls_back)]);
        server::with_priorities(&server.orb);
        server
    });
    let stream = UnixStream::connect(path(&which.to_string()));
    stream.expect("the server listens")
}

/// Reads until the peer closes.
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

/// Clients at an endpoint that serves fewer, and no more octets than so many of them send: each conversation ends, be
/// it that room is made, a limit is reached, or the peer reads nothing or says nothing for too long.
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
    // Those of another crowd would take their room.
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
                // More replies than the socket holds.
                READS_NOTHING => all = octets.repeat((1 << 18) / octets.len().max(1)),
                // More than is not counted: the first has to go for the second, and the third for itself.
                SENDS_MUCH => all.resize(octets.len() + MUCH[number], 0),
                _ => {}
            }
            let _ = stream.write_all(&all);
            if what == SENDS_MUCH {
                // The server has read it before the next one comes, as a rule.
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
    // All have been told that it is over, and those that come next have the room.
    let began = Instant::now();
    while server.orb.client_connections() > 0 {
        assert!(began.elapsed() < LONG, "a connection stays");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Calls in flight: more than the first row of a table of replies has places.
const MANY: usize = 80;

/// What clients of a crowd do: others send the input, and no more.
const READS_NOTHING: usize = 0;
const SENDS_MUCH: usize = 1;
const MUCH: [usize; 3] = [17 << 10, (17 << 10) - 512, 19 << 10];

/// A client calls, waits in each way, and has its answer, or an error with a text.
fn answered(which: usize, octets: &[u8]) {
    let client = Client::get();
    let every = &client.references[which % client.references.len()];
    let _alone = client.has_peer(Answer {
        octets: octets.to_vec(),
        reads: 1,
        stays: which % 2 == 1 && which > 6,
    });
    let what = which / client.references.len();
    // One whose calls read their connection has another thread read where nobody waits.
    let every = match what / 3 % 2 {
        0 => every,
        _ => &client.reading,
    };
    let outcome = match (what % 3, what / 3 % 2) {
        // Whoever asked goes on meanwhile, and waits for a while.
        (0, 1) => {
            // In vain, as a rule.
            let hasty = every.with_timeout(Duration::from_millis(1)).name_async();
            told_later(hasty).or_else(|_| told_later(every.name_async()))
        }
        // More than are in flight as a rule.
        (1, 1) => {
            let many: Vec<_> = (0..MANY)
                .map(|_| every.anything_async(&Any::default()))
                .collect();
            let mut outcomes = many.into_iter().map(told_later);
            outcomes.find(Result::is_err).unwrap_or(Ok(()))
        }
        // Another thread is told.
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

/// Two threads call by one connection: one reads, the other waits for what that one passes on.
fn two_answered(octets: &[u8]) {
    let client = Client::get();
    let _alone = client.is_answered(octets, 2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| is_told(client.reading.name()));
        }
    });
}

/// A call is given up, and its reply may come while the next one waits for its own.
fn late(octets: &[u8]) {
    let client = Client::get();
    let _alone = client.is_answered(octets, 3);
    is_told(client.reading.with_timeout(SHORT / 4).name());
    is_told(client.reading.name());
}

fn is_told<T>(outcome: Result<T, SystemException>) {
    assert!(outcome.is_ok() || outcome.is_err_and(|error| !error.to_string().is_empty()));
}

/// ORBs whose calls serve the reactor or a pool meanwhile, and who answers them.
struct Client {
    references: Vec<Every>,
    /// Of one whose calls read their connection themselves.
    reading: Every,
    /// Of one that serves calls of its server: by each way to wait.
    called_back: Vec<Every>,
    peer: Mutex<Sender<Answer>>,
}

/// What the peer does on the next connection that it accepts.
#[derive(Default)]
struct Answer {
    octets: Vec<u8>,
    /// How often it has read before it sends them.
    reads: usize,
    /// Whether it goes on reading then, until nothing comes any more.
    stays: bool,
}

impl Client {
    fn get() -> &'static Self {
        static CLIENT: OnceLock<Client> = OnceLock::new();
        CLIENT.get_or_init(Self::new)
    }

    /// Has the peer answer so, as long as nobody else has it answer.
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

/// A reference to the peer, of an ORB of its own.
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
            // Calls the peer from an upcall, by the connection that its request came by.
            let calls = |_: &mut ServerCall<'_>| {
                if let Some(own) = Client::get().called_back.first() {
                    is_told(own.with_timeout(SHORT).name());
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

/// Does to each client that comes, once it has asked, what was said last, and closes.
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
        // A client closes as soon as it has had enough.
        let is_open = asked.is_ok() && stream.write_all(&newest.octets).is_ok();
        if is_open && newest.stays {
            while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
        }
    }
}

/// Changes an input so that messages stay messages: see [`crate::mutate`].
pub use crate::server::mutate;
