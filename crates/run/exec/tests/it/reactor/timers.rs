//! Tests of deadlines.

use crate::reactor::support::{reactor, served, with_threads};
use punctual_exec::reactor::Readiness;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(20);

#[test]
fn a_deadline_is_told_once_and_never_early() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let (handler, _kept) = served(move |_, event| told.send(event.readiness()).unwrap());
    with_threads(&reactor, 2, || {
        let token = reactor.register(handler).unwrap();
        assert_eq!(hear.recv().unwrap(), Readiness::NUDGE);
        for _ in 0..3 {
            let begin = Instant::now();
            reactor.set_deadline(token, Some(SOON));
            assert_eq!(hear.recv().unwrap(), Readiness::DEADLINE);
            // The coarse clock may be a tick of 10 ms behind.
            assert!(begin.elapsed() >= SOON - Duration::from_millis(10));
        }
        assert!(hear.try_recv().is_err());
    });
}

#[test]
fn deadlines_come_in_their_order_though_they_are_put_off_and_lifted() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let mut kept = Vec::new();
    with_threads(&reactor, 1, || {
        let tokens: Vec<_> = (0..4u32)
            .map(|number| {
                let told = told.clone();
                let (handler, other) = served(move |_, event: &mut _| {
                    let event: &mut punctual_exec::reactor::ReadyEvent<'_> = event;
                    if event.readiness().has(Readiness::DEADLINE) {
                        told.send(number).unwrap();
                    }
                });
                kept.push(other);
                reactor.register(handler).unwrap()
            })
            .collect();
        reactor.set_deadline(tokens[0], Some(SOON));
        reactor.set_deadline(tokens[0], Some(4 * SOON));
        reactor.set_deadline(tokens[1], Some(SOON));
        reactor.set_deadline(tokens[1], None);
        reactor.set_deadline(tokens[2], Some(Duration::from_secs(3600)));
        reactor.set_deadline(tokens[2], Some(2 * SOON));
        reactor.set_deadline(tokens[3], Some(6 * SOON));
        assert_eq!(hear.recv().unwrap(), 2);
        assert_eq!(hear.recv().unwrap(), 0);
        assert_eq!(hear.recv().unwrap(), 3);
    });
}

#[test]
fn one_that_was_taken_out_leaves_no_deadline_to_whoever_has_its_place() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    with_threads(&reactor, 1, || {
        let (handler, _kept) = served(|_, _: &mut _| {});
        let token = reactor.register(handler).unwrap();
        reactor.set_deadline(token, Some(SOON));
        reactor.deregister(token);
        let (handler, _kept) = served(move |_, event| told.send(event.readiness()).unwrap());
        let next = reactor.register(handler).unwrap();
        reactor.set_deadline(token, Some(Duration::ZERO));
        assert_eq!(hear.recv().unwrap(), Readiness::NUDGE);
        reactor.set_deadline(next, Some(4 * SOON));
        assert_eq!(hear.recv().unwrap(), Readiness::DEADLINE);
        assert!(hear.try_recv().is_err());
    });
}
