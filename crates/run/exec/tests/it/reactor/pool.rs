//! Tests of a pool: its number of threads, and its behaviour when all of them are busy.

use crate::reactor::support::{reactor, read_all, served, watched};
use punctual_exec::leader_followers::{PoolOptions, ReserveOptions};
use punctual_exec::reactor::{Reactor, Role, Work};
use punctual_exec::{Deadline, LeaderFollowers};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

fn options(threads: usize, most: usize, reserve: bool) -> PoolOptions {
    PoolOptions {
        threads,
        max_threads: most,
        reserve: reserve.then(ReserveOptions::default),
        ..PoolOptions::default()
    }
}

fn limit() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

type Told = mpsc::Sender<Role>;

/// Makes a connection whose handler blocks its worker until `release` receives a message.
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
        // One lock for all: a worker that waits for it is busy as well.
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
        // Until the reserve has noticed, either thread may serve.
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
fn a_pool_of_more_threads_than_start_at_once_starts_others_for_upcalls_that_hold_up_all() {
    watched(|| {
        let options = PoolOptions {
            at_once: 1,
            ..options(1, 3, true)
        };
        let pool = LeaderFollowers::start(reactor(), &options).unwrap();
        let (told, hear) = mpsc::channel();
        let (handler, mut quick) = served(|mut stream, _: &mut _| {
            let came = read_all(stream).0;
            stream.write_all(&came).unwrap();
        });
        pool.reactor().register(handler).unwrap();
        let mut answer = || {
            quick.write_all(b"x").unwrap();
            quick.read_exact(&mut [0]).unwrap();
        };
        (0..1000).for_each(|_| answer());
        let (release, wait) = mpsc::channel();
        let wait = Arc::new(Mutex::new(wait));
        let mut peers: Vec<_> = (0..2)
            .map(|_| blocking(pool.reactor(), &told, &wait))
            .collect();
        for peer in &mut peers {
            peer.write_all(b"x").unwrap();
            assert_eq!(hear.recv().unwrap(), Role::Worker);
            answer();
        }
        assert_eq!(pool.threads(), 4);
        for _ in 0..2 {
            release.send(()).unwrap();
        }
        assert!(pool.stop(0, limit()));
    });
}

#[test]
fn events_that_a_thread_has_taken_together_are_served_by_whoever_is_free() {
    watched(|| {
        let pool = LeaderFollowers::start(reactor(), &options(2, 2, false)).unwrap();
        let (told, hear) = mpsc::channel();
        let connection = || {
            let (release, wait) = mpsc::channel();
            let peer = blocking(pool.reactor(), &told, &Arc::new(Mutex::new(wait)));
            (peer, release)
        };
        let [mut first, mut second, mut third, mut fourth] = [(); 4].map(|()| connection());
        for (peer, _) in [&mut first, &mut second] {
            peer.write_all(b"x").unwrap();
            hear.recv().unwrap();
        }
        // Both threads are busy. The one that is free next finds both of these, and is held up by one.
        third.0.write_all(b"x").unwrap();
        fourth.0.write_all(b"x").unwrap();
        first.1.send(()).unwrap();
        hear.recv().unwrap();
        assert!(hear.try_recv().is_err());
        second.1.send(()).unwrap();
        hear.recv().unwrap();
        third.1.send(()).unwrap();
        fourth.1.send(()).unwrap();
        assert!(pool.stop(0, limit()));
    });
}

#[test]
fn a_thread_may_stay_with_a_registration_while_another_waits_for_the_others() {
    watched(|| {
        for (threads, may) in [(1, false), (2, true)] {
            let pool = LeaderFollowers::start(reactor(), &options(threads, threads, false));
            let pool = pool.unwrap();
            let (told, hear) = mpsc::channel();
            let (handler, mut peer) = served(move |stream, event| {
                if !read_all(stream).0.is_empty() {
                    told.send(event.may_stay()).unwrap();
                }
            });
            pool.reactor().register(handler).unwrap();
            // All threads wait at some time, and one at least does so then.
            loop {
                while pool.reactor().waiting() < u64::try_from(threads).unwrap() {
                    std::thread::yield_now();
                }
                peer.write_all(b"x").unwrap();
                if hear.recv().unwrap() == may {
                    break;
                }
            }
            // A thread that waits for something itself never stays.
            let mut seen = None;
            let only = reactor();
            let (told, hear) = mpsc::channel();
            let (handler, mut peer) = served(move |stream, event| {
                if !read_all(stream).0.is_empty() {
                    told.send(event.may_stay()).unwrap();
                }
            });
            only.register(handler).unwrap();
            peer.write_all(b"x").unwrap();
            let waited = only.run_until(Deadline::NEVER, || {
                seen = hear.try_recv().ok();
                seen.is_some()
            });
            waited.unwrap();
            assert_eq!(seen, Some(false));
            assert!(pool.stop(0, limit()));
        }
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

/// Queue of numbers that serves as additional work of a reactor.
#[derive(Default)]
struct Notes {
    waiting: Mutex<Vec<u32>>,
    noted: Mutex<Vec<u32>>,
}

impl Work for Notes {
    fn is_waiting(&self) -> bool {
        !self.waiting.lock().unwrap().is_empty()
    }

    fn do_next(&self) -> bool {
        let Some(next) = self.waiting.lock().unwrap().pop() else {
            return false;
        };
        assert_ne!(next, 13, "one that panics");
        self.noted.lock().unwrap().push(next);
        true
    }
}

#[test]
fn a_pools_threads_do_work_that_no_event_brings_whoever_waits_in_it() {
    watched(|| {
        let notes = Arc::new(Notes::default());
        let alone = reactor();
        alone.set_work(notes.clone());
        notes.waiting.lock().unwrap().extend([1, 13, 2]);
        assert!(alone.has_work());
        // A thread of another reactor does the work at hand, and leaves.
        alone.run_pending();
        assert_eq!(*notes.noted.lock().unwrap(), [2, 1]);
        assert!(!alone.has_work());
        // A waiting thread is woken.
        let pool = LeaderFollowers::start(alone, &options(1, 1, false)).unwrap();
        for number in 3..6 {
            while pool.reactor().waiting() == 0 {
                std::thread::yield_now();
            }
            notes.waiting.lock().unwrap().push(number);
            pool.reactor().notify_work();
            while notes.noted.lock().unwrap().last() != Some(&number) {
                std::thread::yield_now();
            }
        }
        assert!(pool.stop(0, limit()));
    });
}
