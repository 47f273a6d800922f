//! Tests of threads that wait for a reply, and serve events meanwhile or let others do so.

use crate::reactor::support::{reactor, read_all, served, watched, with_threads};
use punctual_exec::Deadline;
use punctual_exec::leader_followers::{Waited, Wakeup};
use punctual_exec::reactor::{Reactor, Readiness, depth};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Waiters by the reply they wait for, an octet.
#[derive(Clone, Default)]
struct Replies(Arc<Mutex<HashMap<u8, Waiting>>>);

/// Flag set when the reply has come, and the handle to wake its waiter.
type Waiting = (Arc<AtomicBool>, Wakeup);

impl Replies {
    fn expect(&self, number: u8) -> Arc<AtomicBool> {
        let came = Arc::new(AtomicBool::new(false));
        let waits = (came.clone(), Wakeup::own().unwrap());
        self.0.lock().unwrap().insert(number, waits);
        came
    }

    fn deliver(&self, number: u8) {
        if let Some((came, thread)) = self.0.lock().unwrap().remove(&number) {
            came.store(true, Ordering::SeqCst);
            thread.wake();
        }
    }

    /// Makes a connection over which replies come, and its other end.
    fn connection(&self, reactor: &Reactor) -> UnixStream {
        let replies = self.clone();
        let (handler, other) = served(move |stream, _: &mut _| {
            for number in read_all(stream).0 {
                replies.deliver(number);
            }
        });
        reactor.register(handler).unwrap();
        other
    }
}

fn wait(reactor: &Arc<Reactor>, came: &AtomicBool) -> Waited {
    let done = || came.load(Ordering::SeqCst);
    reactor.run_until(Deadline::NEVER, done).unwrap()
}

#[test]
fn a_thread_alone_reads_its_own_reply() {
    let (reactor, replies) = (reactor(), Replies::default());
    let mut peer = replies.connection(&reactor);
    watched(|| {
        for number in 0..100 {
            let came = replies.expect(number);
            peer.write_all(&[number]).unwrap();
            assert_eq!(wait(&reactor, &came), Waited::Done);
        }
        assert_eq!(reactor.waiting(), 0);
    });
}

#[test]
fn waiting_ends_at_the_deadline_and_when_the_reactor_stops() {
    let reactor = reactor();
    watched(|| {
        let soon = Deadline::after(Duration::from_millis(5));
        let waited = reactor.run_until(soon, || false).unwrap();
        assert_eq!(waited, Waited::TimedOut);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| reactor.run_until(Deadline::NEVER, || false).unwrap()))
                .collect();
            while reactor.waiting() == 0 {
                std::thread::yield_now();
            }
            reactor.stop();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), Waited::Stopped);
            }
        });
    });
}

/// Makes many threads each send requests and wait for the replies; the leader reads the replies of
/// all.
fn ask_from_many_threads(reactor: &Arc<Reactor>) {
    let replies = Replies::default();
    let peers: Vec<_> = (0..2).map(|_| replies.connection(reactor)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (replies, peer) = (&replies, &peers[usize::from(thread % 2)]);
            scope.spawn(move || {
                for number in 0..2000u32 {
                    let name = thread * 64 + u8::try_from(number % 64).unwrap();
                    let came = replies.expect(name);
                    let mut peer = peer;
                    peer.write_all(&[name]).unwrap();
                    assert_eq!(wait(reactor, &came), Waited::Done);
                }
            });
        }
    });
}

#[test]
fn threads_that_all_wait_read_for_each_other_and_none_is_left_waiting() {
    let reactor = reactor();
    watched(|| ask_from_many_threads(&reactor));
    assert_eq!(reactor.waiting(), 0);
}

#[test]
fn a_reply_that_a_pools_thread_reads_wakes_who_waits_for_it() {
    let reactor = reactor();
    with_threads(&reactor, 2, || ask_from_many_threads(&reactor));
}

#[test]
fn requests_are_served_while_their_thread_waits_one_within_the_other() {
    const DEPTH: u8 = 5;
    let (reactor, replies) = (reactor(), Replies::default());
    let mut peer = replies.connection(&reactor);
    let (told, hear) = mpsc::channel();
    let expect = replies.clone();
    // Serving a request means waiting for the reply of the same number.
    let (server, mut client) = served(move |mut stream, event| {
        for number in read_all(stream).0 {
            event.hand_over(Readiness::NONE);
            let came = expect.expect(number);
            told.send(depth()).unwrap();
            assert_eq!(wait(event.reactor(), &came), Waited::Done);
            stream.write_all(&[number]).unwrap();
        }
    });
    reactor.register(server).unwrap();
    with_threads(&reactor, 1, || {
        for number in 0..DEPTH {
            client.write_all(&[number]).unwrap();
            assert_eq!(hear.recv().unwrap(), u32::from(number) + 1);
        }
        for number in (0..DEPTH).rev() {
            peer.write_all(&[number]).unwrap();
            let mut answered = [0];
            client.read_exact(&mut answered).unwrap();
            assert_eq!(answered, [number]);
        }
    });
    assert_eq!(depth(), 0);
}
