//! Tests of registrations: which handler receives which event, by one thread at a time.

use crate::reactor::support::{reactor, read_all, served, with_threads};
use punctual_exec::reactor::{Reactor, ReactorOptions, Readiness};
use punctual_sys::epoll::Interest;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

#[test]
fn a_handler_is_called_at_first_and_then_for_each_change_and_the_end() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let (handler, mut other) = served(move |stream, event| {
        let (octets, ended) = read_all(stream);
        told.send((event.readiness(), octets, ended)).unwrap();
    });
    with_threads(&reactor, 2, || {
        reactor.register(handler).unwrap();
        assert_eq!(hear.recv().unwrap(), (Readiness::NUDGE, vec![], false));
        other.write_all(b"one").unwrap();
        assert_eq!(
            hear.recv().unwrap(),
            (Readiness::READ, b"one".to_vec(), false)
        );
        drop(other);
        let (readiness, octets, ended) = hear.recv().unwrap();
        assert!(readiness.has(Readiness::END) && octets.is_empty() && ended);
    });
}

#[test]
fn one_thread_at_a_time_serves_a_registration_and_nothing_is_lost() {
    let reactor = reactor();
    const MANY: usize = 20_000;
    let inside = AtomicUsize::new(0);
    let (counted, all) = (Arc::new(AtomicUsize::new(0)), mpsc::channel());
    let count = counted.clone();
    let (handler, other) = served(move |stream, _: &mut _| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        let (octets, _) = read_all(stream);
        inside.fetch_sub(1, Ordering::SeqCst);
        if count.fetch_add(octets.len(), Ordering::SeqCst) + octets.len() == 4 * MANY {
            all.0.send(()).unwrap();
        }
    });
    with_threads(&reactor, 4, || {
        let token = reactor.register(handler).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..MANY {
                        (&other).write_all(b"x").unwrap();
                        if number % 64 == 0 {
                            reactor.nudge(token);
                        }
                    }
                });
            }
        });
        all.1.recv().unwrap();
    });
    assert_eq!(counted.load(Ordering::SeqCst), 4 * MANY);
}

#[test]
fn an_event_that_is_handed_over_lets_others_serve_meanwhile() {
    let reactor = reactor();
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let (told, hear) = mpsc::channel();
    let first = AtomicBool::new(true);
    let (handler, mut other) = served(move |stream, event| {
        let (octets, _) = read_all(stream);
        if octets.is_empty() {
            return;
        }
        if first.swap(false, Ordering::SeqCst) {
            event.hand_over(Readiness::NONE);
            assert!(!event.owns());
            told.send(b"handed over".to_vec()).unwrap();
            wait.lock().unwrap().recv().unwrap();
        }
        told.send(octets).unwrap();
    });
    with_threads(&reactor, 2, || {
        reactor.register(handler).unwrap();
        other.write_all(b"held up").unwrap();
        assert_eq!(hear.recv().unwrap(), b"handed over");
        other.write_all(b"quick").unwrap();
        assert_eq!(hear.recv().unwrap(), b"quick");
        release.send(()).unwrap();
        assert_eq!(hear.recv().unwrap(), b"held up");
    });
}

#[test]
fn what_is_left_of_an_event_that_is_handed_over_is_served_by_another_thread() {
    let reactor = reactor();
    let (released, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let done = mpsc::channel();
    let calls = AtomicUsize::new(0);
    let (handler, _other) = served(move |_, event| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => {
            event.hand_over(Readiness::READ);
            wait.lock().unwrap().recv().unwrap();
            done.0.send(Readiness::NONE).unwrap();
        }
        _ => {
            done.0.send(event.readiness()).unwrap();
            released.send(()).unwrap();
        }
    });
    with_threads(&reactor, 2, || {
        reactor.register(handler).unwrap();
        assert_eq!(done.1.recv().unwrap(), Readiness::READ);
        assert_eq!(done.1.recv().unwrap(), Readiness::NONE);
    });
}

#[test]
fn one_that_was_taken_out_is_called_no_more_and_let_go() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let (handler, mut other) = served(move |stream, event| {
        let (octets, _) = read_all(stream);
        if !octets.is_empty() {
            event.deregister();
        }
        told.send(()).unwrap();
    });
    let weak = Arc::downgrade(&handler);
    with_threads(&reactor, 2, || {
        let token = reactor.register(handler).unwrap();
        hear.recv().unwrap();
        other.write_all(b"go").unwrap();
        hear.recv().unwrap();
        // Its end closes once the handler is dropped.
        assert_eq!(other.read(&mut [0]).unwrap(), 0);
        assert!(weak.upgrade().is_none());
        reactor.nudge(token);
        reactor.deregister(token);
        assert!(reactor.set_interest(token, Interest::Read).is_err());
        assert!(hear.recv().is_err());
        assert!(reactor.is_empty());
    });
}

#[test]
fn a_handler_that_panics_is_taken_out_and_its_thread_serves_on() {
    let reactor = reactor();
    let (bad, mut other) = served(|_, _: &mut _| panic!("on purpose"));
    let (told, hear) = mpsc::channel();
    let (good, _kept) = served(move |_, _: &mut _| told.send(()).unwrap());
    with_threads(&reactor, 1, || {
        reactor.register(bad).unwrap();
        assert_eq!(other.read(&mut [0]).unwrap(), 0);
        reactor.register(good).unwrap();
        hear.recv().unwrap();
        assert_eq!(reactor.len(), 1);
    });
}

#[test]
fn room_to_write_is_told_only_while_it_is_waited_for() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let pending = Mutex::new(vec![7u8; 4 << 20]);
    let (handler, mut other) = served(move |mut stream, event| {
        let mut pending = pending.lock().unwrap();
        while !pending.is_empty() {
            match stream.write(&pending) {
                Ok(count) => drop(pending.drain(..count)),
                Err(_) => break,
            }
        }
        let interest = match pending.is_empty() {
            true => Interest::Read,
            false => Interest::ReadAndWrite,
        };
        event.set_interest(interest).unwrap();
        told.send((event.readiness(), pending.is_empty())).unwrap();
    });
    // One thread: a second one may have found room to write before the interest changes, and note
    // it afterwards.
    with_threads(&reactor, 1, || {
        reactor.register(handler).unwrap();
        // Nothing is read before the writer is out of room.
        assert_eq!(hear.recv().unwrap(), (Readiness::NUDGE, false));
        let mut all = vec![0; 4 << 20];
        other.read_exact(&mut all).unwrap();
        let mut calls = hear.iter();
        let (last, _) = calls.find(|(_, done)| *done).unwrap();
        assert!(last.has(Readiness::WRITE));
        other.write_all(b"x").unwrap();
        assert_eq!(calls.next().unwrap(), (Readiness::READ, true));
    });
}

#[test]
fn one_that_always_has_something_to_do_does_not_keep_the_others_waiting() {
    let reactor = reactor();
    let (busy, _kept) = served(|_, event| event.reactor().nudge(event.token()));
    let (told, hear) = mpsc::channel();
    let (quiet, mut other) = served(move |stream, _: &mut _| {
        told.send(read_all(stream).0).unwrap();
    });
    with_threads(&reactor, 1, || {
        let token = reactor.register(busy).unwrap();
        reactor.register(quiet).unwrap();
        assert_eq!(hear.recv().unwrap(), b"");
        other.write_all(b"me too").unwrap();
        assert_eq!(hear.recv().unwrap(), b"me too");
        reactor.deregister(token);
    });
}

#[test]
fn there_are_no_more_registrations_than_there_may_be() {
    let reactor = Reactor::new(ReactorOptions {
        registrations: 2,
        ..ReactorOptions::default()
    })
    .unwrap();
    let register = || {
        let (handler, other) = served(|_, _: &mut _| {});
        reactor.register(handler).map(|token| (token, other))
    };
    let (token, _kept) = register().unwrap();
    let _another = register().unwrap();
    let error = register().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    reactor.deregister(token);
    register().unwrap();
}
