//! Tests of deadlines.

use crate::reactor::support::{reactor, served, with_threads};
use punctual_exec::reactor::{Readiness, ReadyEvent};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(20);
/// Distance that the coarse clock may be behind.
const TICK: Duration = Duration::from_millis(10);

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
            assert!(begin.elapsed() >= SOON - TICK);
        }
        assert!(hear.try_recv().is_err());
    });
}

#[test]
fn deadlines_that_are_put_off_or_brought_forward_pass_once_and_lifted_ones_never() {
    let reactor = reactor();
    let (told, hear) = mpsc::channel();
    let mut kept = Vec::new();
    let tokens: Vec<_> = (0..4usize)
        .map(|number| {
            let told = told.clone();
            let (handler, other) = served(move |_, event: &mut ReadyEvent<'_>| {
                if event.readiness().has(Readiness::DEADLINE) {
                    told.send((number, Instant::now())).unwrap();
                }
            });
            kept.push(other);
            reactor.register(handler).unwrap()
        })
        .collect();
    // The reactor's only thread sets them: no deadline passes before the next one is set.
    let (begun, begin) = mpsc::channel();
    let (setter, _other) = served(move |_, event: &mut ReadyEvent<'_>| {
        begun.send(Instant::now()).unwrap();
        let set = |number: usize, after| event.reactor().set_deadline(tokens[number], after);
        set(0, Some(SOON));
        set(0, Some(4 * SOON));
        set(1, Some(SOON));
        set(1, None);
        set(2, Some(Duration::from_secs(3600)));
        set(2, Some(2 * SOON));
        set(3, Some(6 * SOON));
    });
    with_threads(&reactor, 1, || {
        reactor.register(setter).unwrap();
        let begin = begin.recv().unwrap();
        let mut passed: Vec<_> = (0..3).map(|_| hear.recv().unwrap()).collect();
        passed.sort_unstable();
        let limits = [(0, 4 * SOON), (2, 2 * SOON), (3, 6 * SOON)];
        for ((number, at), (expected, after)) in passed.into_iter().zip(limits) {
            assert_eq!(number, expected);
            assert!(at - begin >= after - TICK, "deadline {number} is early");
        }
        assert!(hear.try_recv().is_err());
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
