//! A pool: how many threads, and what happens when all of them are busy.

use crate::support::{reactor, read_all, served, watched};
use punctual_exec::leader_followers::PoolOptions;
use punctual_exec::reactor::{Reactor, Role};
use punctual_exec::{Deadline, LeaderFollowers};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

fn options(threads: usize, most: usize, reserve: bool) -> PoolOptions {
    PoolOptions {
        threads,
        max_threads: most,
        reserve,
        ..PoolOptions::default()
    }
}

fn limit() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

type Told = mpsc::Sender<Role>;

/// A connection whose handler holds up any worker that it is served by until `release` says something.
fn blocking(
    reactor: &Reactor,
    told: &Told,
    release: &Arc<Mutex<mpsc::Receiver<()>>>,
) -> UnixStream {
    let (told, release) = (told.clone(), release.clone());
    let (handler, other) = served(move |stream, event| {
        if read_all(stream).0.is_empty() {
            return;
        }
        told.send(event.role()).unwrap();
        if event.role() == Role::Worker {
            release.lock().unwrap().recv().unwrap();
        }
    });
    reactor.register(handler).unwrap();
    other
}

#[test]
fn a_pool_grows_when_its_threads_are_held_up_and_then_its_reserve_serves() {
    watched(|| {
        let pool = LeaderFollowers::start(reactor(), &options(1, 3, true)).unwrap();
        let (told, hear) = mpsc::channel();
        // One lock for all: whoever waits for it is busy as well.
        let (release, wait) = mpsc::channel();
        let wait = Arc::new(Mutex::new(wait));
        let mut peers: Vec<_> = (0..4)
            .map(|_| blocking(pool.reactor(), &told, &wait))
            .collect();
        for (number, peer) in peers.iter_mut().enumerate() {
            peer.write_all(b"x").unwrap();
            let expected = if number < 3 {
                Role::Worker
            } else {
                Role::Reserve
            };
            assert_eq!(hear.recv().unwrap(), expected, "connection {number}");
        }
        assert_eq!(pool.threads(), 4);
        for _ in 0..3 {
            release.send(()).unwrap();
        }
        while pool.reactor().waiting() == 0 {
            std::thread::yield_now();
        }
        // Until the reserve has noticed, either may serve.
        loop {
            peers[3].write_all(b"x").unwrap();
            if hear.recv().unwrap() == Role::Worker {
                break;
            }
        }
        release.send(()).unwrap();
        assert!(pool.stop(0, limit()));
        assert_eq!(pool.threads(), 0);
    });
}

#[test]
fn without_a_reserve_what_comes_waits_for_a_thread() {
    watched(|| {
        let pool = LeaderFollowers::start(reactor(), &options(1, 1, false)).unwrap();
        let (told, hear) = mpsc::channel();
        let (release, wait) = mpsc::channel();
        let wait = Arc::new(Mutex::new(wait));
        let mut one = blocking(pool.reactor(), &told, &wait);
        let mut other = blocking(pool.reactor(), &told, &wait);
        one.write_all(b"x").unwrap();
        assert_eq!(hear.recv().unwrap(), Role::Worker);
        other.write_all(b"x").unwrap();
        assert!(hear.recv_timeout(Duration::from_millis(50)).is_err());
        release.send(()).unwrap();
        assert_eq!(hear.recv().unwrap(), Role::Worker);
        release.send(()).unwrap();
        assert!(pool.stop(0, limit()));
    });
}

#[test]
fn stopping_waits_for_what_is_being_served_and_no_longer_than_the_deadline() {
    watched(|| {
        let pool = LeaderFollowers::start(reactor(), &options(2, 2, true)).unwrap();
        let (told, hear) = mpsc::channel();
        let (release, wait) = mpsc::channel();
        let wait = Arc::new(Mutex::new(wait));
        let mut peer = blocking(pool.reactor(), &told, &wait);
        peer.write_all(b"x").unwrap();
        hear.recv().unwrap();
        assert!(!pool.stop(0, Deadline::after(Duration::from_millis(10))));
        assert!(pool.stop(1, limit()));
        release.send(()).unwrap();
        assert!(pool.stop(0, limit()));
    });
}
