//! Servers that queue requests, with interceptors or while a timeline is recorded; and asynchronous
//! calls that time out, or whose callers run the reply handlers themselves.

use super::back::{takes_its_time, two_parts};
use super::{Answer, Client, LONG, POOL, SHORT, check_outcome, client_by};
use crate::generated::all_types::Every;
use crate::server::{self, Server};
use punctual::config::ReplyHandlers;
use punctual::policy::{Bidirectional, Wait};
use punctual::rt::timeline::{Timeline, TimelineLimits};
use punctual::{Interface, Orb, OrbBuilder, Poller, SystemException};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};

/// Number of endpoints of the server: one of a thread pool, which queues requests, and one of a
/// reactor.
const ENDPOINTS: usize = 2;

/// Starts a server with a reactor, and with a pool of one thread that queues requests, at paths
/// with this name.
pub(super) fn with_pool(builder: OrbBuilder, name: &str) -> Server {
    let rt = server::flat_priorities();
    let reactor = super::endpoint("uiop", "reactive", &format!("{name}-reactor"));
    let builder = rt.extend(builder.listen(reactor));
    let orb = builder.expect("no policy type is taken").build();
    let orb = orb.expect("the configuration is sound");
    super::create_pool(&rt, &orb, name);
    server::with_objects_and(orb, &[("s", takes_its_time)])
}

/// Sends the number of octets that the first two octets say, and the others later. They go to a
/// server with interceptors, through its reactor or its pool, with or without a recorded timeline,
/// or to the pool of [`super::connect`].
pub(super) fn in_turn(which: usize, octets: &[u8]) {
    static SERVER: OnceLock<Server> = OnceLock::new();
    const NAME: &str = "watched";
    let Some(([a, b], octets)) = octets.split_first_chunk() else {
        return;
    };
    let first = usize::from(u16::from_be_bytes([*a, *b])).min(octets.len());
    let recording = (which / ENDPOINTS % 2 == 1).then(|| {
        Timeline::start(TimelineLimits {
            records: 64,
            threads: 16,
            ..TimelineLimits::default()
        })
    });
    let stream = match which % (2 * ENDPOINTS) {
        3 => super::connect(POOL),
        which => {
            SERVER.get_or_init(|| {
                let builder = Orb::builder().configure(|config| {
                    config.limits.message = 1 << 16;
                    config.limits.nesting = 24;
                    config.timeouts.answer = Some(SHORT);
                });
                let server = with_pool(builder.initializer(server::watches()), NAME);
                server::with_priorities(&server.orb);
                server
            });
            let name = [NAME.to_owned(), format!("{NAME}-reactor")];
            let stream = UnixStream::connect(super::path(&name[which % ENDPOINTS]));
            stream.expect("the server listens")
        }
    };
    server::are_messages(&two_parts(stream, octets, first));
    if let Some(Ok(recording)) = recording {
        let _records = recording.stop();
    }
}

/// Makes asynchronous calls that time out, with each way of notification; or makes a second call,
/// which runs the reply handler of the first while it waits.
pub(super) fn goes_on(which: usize, octets: &[u8]) {
    static HANDLES: OnceLock<Every> = OnceLock::new();
    let client = Client::get();
    let _alone = client.has_peer(Answer {
        octets: octets.to_vec(),
        reads: 1 + which % 2,
        stays: true,
    });
    match which % 4 {
        0 => {
            let mut asked = client.reading.with_timeout(SHORT / 4).name_async();
            if !polled(&mut asked) {
                std::thread::sleep(SHORT);
                polled(&mut asked);
            }
        }
        2 => handled(&client.reading.with_timeout(SHORT / 4), || {}),
        _ => {
            let handles = HANDLES.get_or_init(|| {
                client_by(Wait::Read, Bidirectional::Normal, |config| {
                    config.reply_handlers = ReplyHandlers::Callers;
                })
            });
            let handles = &handles.with_timeout(4 * SHORT);
            handled(handles, || check_outcome(handles.name()));
        }
    }
}

/// Makes a call whose reply handler runs on another thread, and runs `meanwhile` on this one.
fn handled(every: &Every, meanwhile: impl FnOnce()) {
    let (say, told) = channel();
    every.sendc_get_level(move |level: Result<i32, SystemException>| {
        let _ = say.send(level);
    });
    meanwhile();
    check_outcome(told.recv_timeout(LONG).expect("the handler is called"));
}

/// Polls a call once; returns whether the reply had arrived.
fn polled<R>(asked: &mut Poller<R, SystemException>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    match Pin::new(asked).poll(&mut context) {
        Poll::Ready(outcome) => {
            check_outcome(outcome);
            true
        }
        Poll::Pending => false,
    }
}
