//! Log subscriber that itself makes calls, with the ORB that is logging and in the logging thread.
#![allow(missing_docs, clippy::unwrap_used)]

#[cfg(feature = "tls")]
use crate::authority;
use crate::support;

use punctual::policy::Buffering;
use punctual::stub::Operation;
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;
use support::{Echo, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Lock that makes the tests of this program run one at a time.
static ALONE: Mutex<()> = Mutex::new(());
/// Objects that the subscriber calls for each log line.
static CALLED: Mutex<Vec<Echo>> = Mutex::new(Vec::new());
/// Log lines for which all these calls have ended.
static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    /// Set while the subscriber makes calls on this thread: log lines of these calls are ignored.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// Writer of the log subscriber, which gets each line as a whole, and makes the calls.
struct Calling;

impl Write for Calling {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if !CALLS.replace(true) {
            let called = CALLED.lock().unwrap().clone();
            for echo in called {
                // Some of the objects do not answer.
                let _ = echo.long(1);
                let _ = echo.ping();
            }
            CALLS.set(false);
            LOGGED
                .lock()
                .unwrap()
                .push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Sets the objects that the subscriber calls for each log line from now on; returns the guard of
/// the test's lock.
fn calling(echoes: &[Echo]) -> MutexGuard<'static, ()> {
    static LOGGING: Once = Once::new();
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    LOGGING.call_once(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_writer(|| Calling)
            .with_ansi(false)
            .init();
    });
    LOGGED.lock().unwrap().clear();
    *CALLED.lock().unwrap() = echoes.to_vec();
    alone
}

fn is_logged(part: &str) -> bool {
    let logged = LOGGED.lock().unwrap();
    logged.iter().any(|line| line.contains(part))
}

fn wait_for(part: &str) {
    while !is_logged(part) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn end() {
    CALLED.lock().unwrap().clear();
}

#[test]
fn upcalls_that_fail_are_logged_by_calls() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        let (pair, collector) = (Pair::new(), Pair::new());
        let from_server = Echo::from_object(
            pair.server
                .string_to_object(&collector.server.object_to_string(&collector.echo).unwrap())
                .unwrap(),
        );
        let _alone = calling(&[collector.echo.clone(), from_server]);
        for _ in 0..3 {
            pair.echo.unknown().unwrap_err();
            pair.echo.panic().unwrap_err();
            assert_eq!(pair.echo.long(1).unwrap(), 1);
        }
        wait_for("is answered with");
        wait_for("the servant panicked");
        end();
        assert!(collector.echo.pings().unwrap() > 0);
    });
}

#[test]
fn one_ways_that_are_lost_are_logged_by_calls_to_the_same_server() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        let pair = Pair::with(
            |_| {},
            |config| {
                config.one_way_buffering = Some(Buffering {
                    messages: 1000,
                    octets: 1 << 30,
                    delay: Some(Duration::from_millis(5)),
                });
            },
        );
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let reference = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key");
        let target = Echo::from_object(pair.client.string_to_object(&reference).unwrap());
        let _alone = calling(&[target.clone(), pair.echo.clone()]);
        let large = vec![0; 16 << 20];
        let sum = Operation::one_way("sum_behind_gate");
        let sent = target.as_object().send(&sum, |out| out.put_octets(&large));
        sent.unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0]).unwrap();
        drop((listener, stream));
        wait_for("buffered one-way requests are lost");
        end();
        assert!(pair.echo.pings().unwrap() > 0);
    });
}

#[test]
fn a_batch_that_is_lost_is_logged_by_calls_on_its_own_connection() {
    crate::support::alone::alone(|| {
        const MOST: usize = 200;
        let _watchdog = watchdog(LIMIT);
        let server = Orb::builder()
            .listen(ListenEndpoint::new("giop_lite+iiop", "127.0.0.1:0"))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let reference: Echo = poa
            .activate(Arc::new(support::EchoImpl::default()))
            .unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let client = Orb::builder().configure(|config| {
            // One request more than a batch may have.
            config.limits.sequence = MOST;
            config.one_way_buffering = Some(Buffering {
                messages: MOST + 1,
                octets: 1 << 30,
                delay: None,
            });
        });
        let client = client.build().unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        assert_eq!(echo.pings().unwrap(), 0);
        let _alone = calling(std::slice::from_ref(&echo));
        for _ in 0..=MOST {
            echo.ping().unwrap();
        }
        wait_for("buffered one-way requests are lost");
        end();
        // These are the subscriber's one-ways, which waited for the next two-way call.
        assert!((1..MOST as u64).contains(&u64::from(echo.pings().unwrap())));
    });
}

#[test]
fn one_ways_that_are_lost_at_the_end_of_a_thread_are_logged() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        let pair = Pair::new();
        let text = pair.server.object_to_string(&pair.echo).unwrap();
        let _alone = calling(&[]);
        let thread = std::thread::spawn(move || {
            let client = Orb::builder().configure(|config| {
                config.one_way_buffering = Some(Buffering {
                    messages: 1000,
                    octets: 1 << 30,
                    delay: None,
                });
            });
            let client = client.build().unwrap();
            let echo = Echo::from_object(client.string_to_object(&text).unwrap());
            // The thread's memory of its calls is older than the subscriber's memory of the thread,
            // and is dropped after it.
            tracing::subscriber::with_default(tracing::subscriber::NoSubscriber::new(), || {
                echo.long(1).unwrap();
                echo.long(1).unwrap();
            });
            tracing::info!("the subscriber knows this thread");
            echo.ping().unwrap();
            // The thread holds the connection for a moment longer than its ORB.
            drop(echo);
            drop(client);
        });
        thread.join().unwrap();
        wait_for("buffered one-way requests are lost");
    });
}

/// Function that returns a hand-written server's answer, given the number of earlier answers on the
/// connection and the request's id.
type Answer = fn(u32, u32) -> Vec<u8>;

/// Answers the requests of one connection by an [`Answer`] function.
fn answer_by(mut stream: TcpStream, answer: Answer) {
    let (mut header, mut answered) = ([0; 12], 0);
    while stream.read_exact(&mut header).is_ok() {
        let [.., a, b, c, d] = header;
        let size = match header[6] & 1 {
            0 => u32::from_be_bytes([a, b, c, d]),
            _ => u32::from_le_bytes([a, b, c, d]),
        };
        let mut body = vec![0; usize::try_from(size).unwrap()];
        stream.read_exact(&mut body).unwrap();
        let id = match header[6] & 1 {
            0 => u32::from_be_bytes(body[..4].try_into().unwrap()),
            _ => u32::from_le_bytes(body[..4].try_into().unwrap()),
        };
        let is_two_way = body[4] & 3 == 3;
        if is_two_way {
            let answer = answer(answered, id);
            // A long one in two parts: one that arrives at once is never received in part.
            let (first, rest) = answer.split_at(answer.len() / 8 * 7);
            if stream.write_all(first).is_err() {
                return;
            }
            if answer.len() > 1 << 16 {
                std::thread::sleep(Duration::from_millis(5));
            }
            if stream.write_all(rest).is_err() {
                return;
            }
            answered += 1;
        }
    }
}

/// Returns a reply with one `long` to the request with this id.
fn reply(id: u32) -> Vec<u8> {
    let mut reply = b"GIOP\x01\x02\x01\x01\x10\0\0\0".to_vec();
    for word in [id, 0, 0, 1] {
        reply.extend(word.to_le_bytes());
    }
    reply
}

/// Makes a hand-written server with these answers, and a new client ORB with a reference to its
/// object.
fn object_of_a_peer(answer: Answer) -> (Orb, Echo) {
    let client = Orb::builder().build().unwrap();
    let echo = object_at_a_peer(&client, answer);
    (client, echo)
}

/// Makes a hand-written server with these answers; returns a reference to its object in the given
/// client ORB.
fn object_at_a_peer(client: &Orb, answer: Answer) -> Echo {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || answer_by(stream, answer));
        }
    });
    let reference = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key");
    let echo = Echo::from_object(client.string_to_object(&reference).unwrap());
    assert_eq!(echo.long(1).unwrap(), 1);
    echo
}

#[test]
fn a_reply_that_nobody_waits_for_is_logged_by_calls_on_its_connection() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        let (_client, echo) = object_of_a_peer(|_, id| [reply(77_777), reply(id)].concat());
        let _alone = calling(std::slice::from_ref(&echo));
        assert_eq!(echo.long(1).unwrap(), 1);
        wait_for("received a reply for which no caller waits");
        end();
    });
}

#[test]
fn a_peer_that_breaks_the_protocol_is_logged_by_calls_to_it() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        // The second request of each connection is answered with one.
        let (_client, echo) = object_of_a_peer(|answered, id| match answered {
            0 => reply(id),
            _ => b"GIOP\x01\x02\x01\x00\x00\0\0\0".to_vec(),
        });
        let _alone = calling(std::slice::from_ref(&echo));
        echo.long(1).unwrap_err();
        wait_for("which only clients may send");
        end();
    });
}

/// Returns a reply to the request with this id: one `long`, followed by `octets` bytes.
fn long_reply(id: u32, octets: usize) -> Vec<u8> {
    let mut long = reply(id);
    long.resize(long.len() + octets, 0);
    let size = u32::try_from(long.len() - 12).unwrap();
    long[8..12].copy_from_slice(&size.to_le_bytes());
    long
}

#[test]
fn a_connection_that_makes_room_is_logged_by_calls_on_the_one_that_needs_it() {
    crate::support::alone::alone(|| {
        const MIB: usize = 1 << 20;
        let _watchdog = watchdog(LIMIT);
        let client = Orb::builder()
            .configure(|config| {
                config.limits.message = 3 * MIB;
                config.budgets.received = 4 * MIB;
            })
            .build()
            .unwrap();
        // An incomplete reply.
        let half = object_at_a_peer(&client, |answered, id| match answered {
            0 => reply(id),
            _ => long_reply(id, 2 * MIB)[..2 * MIB - 1].to_vec(),
        });
        let whole = object_at_a_peer(&client, |answered, id| match answered {
            0 => reply(id),
            _ => long_reply(id, 3 * MIB / 2),
        });
        let _alone = calling(std::slice::from_ref(&whole));
        // The incomplete reply is dropped in favour of the other, unless it is itself the one that
        // needs room.
        while !is_logged("limits.received") {
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| half.long(1));
                while !waiting.is_finished() {
                    let _ = whole.long(1);
                }
            });
        }
        end();
    });
}

#[cfg(feature = "tls")]
#[test]
fn certificates_that_are_read_anew_are_logged_by_calls_over_tls() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(LIMIT);
        let authority = authority::Authority::new();
        let options = authority.options("127.0.0.1");
        let server = || {
            let options = options.clone();
            let server = Orb::builder()
                .listen(ListenEndpoint::new("ssliop", "127.0.0.1:0"))
                .configure(|config| config.tls = Some(options))
                .build()
                .unwrap();
            let poa = server.root_poa().unwrap();
            poa.manager().activate().unwrap();
            let echo: Echo = poa
                .activate(Arc::new(support::EchoImpl::default()))
                .unwrap();
            let text = server.object_to_string(&echo).unwrap();
            (server, text)
        };
        let (servers, texts): (Vec<_>, Vec<_>) = (0..2).map(|_| server()).unzip();
        let options = authority.options("client");
        let client = Orb::builder().configure(|config| config.tls = Some(options));
        let client = client.build().unwrap();
        let echo = |text: &String| Echo::from_object(client.string_to_object(text).unwrap());
        let _alone = calling(&[echo(&texts[0])]);
        // The files have changed.
        authority.options("client");
        assert_eq!(echo(&texts[1]).long(1).unwrap(), 1);
        wait_for("certificates reloaded");
        end();
        drop(servers);
    });
}
