//! Consumers that pull: calls that wait, and events that no call takes.

use std::sync::mpsc::channel;
use std::time::Duration;

use punctual::{Any, Interface, OperationError, SystemExceptionKind as Kind};
use punctual_cosevent::cos_event_channel_admin::ProxyPullSupplier;
use punctual_cosevent::cos_event_comm::PullSupplierPullError;
use punctual_cosevent::{Limits, Pulling};

use crate::support::{Program, Served, event, exists, limits, number, until};

/// Begins calls of `pull`, one after the other; their results come by the returned channel.
fn begin(
    proxy: &ProxyPullSupplier,
    calls: usize,
) -> std::sync::mpsc::Receiver<Result<Any, PullSupplierPullError>> {
    let (say, heard) = channel();
    let supplier =
        punctual_cosevent::cos_event_comm::PullSupplier::from_object(proxy.as_object().clone());
    for _ in 0..calls {
        let say = say.clone();
        supplier.sendc_pull(move |pulled: Result<Any, PullSupplierPullError>| {
            let _ = say.send(pulled);
        });
    }
    heard
}

#[test]
fn a_pull_waits_for_the_next_event() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = program.pulls_from(&served.channel);
    let pulled = begin(&proxy, 1);
    assert!(!proxy.try_pull().unwrap().1);
    program.pushes_to(&served.channel).push(&event(1)).unwrap();
    assert_eq!(number(&pulled.recv().unwrap().unwrap()), 1);
}

#[test]
fn thousands_of_pulls_wait_without_threads() {
    let (served, program) = (
        Served::with(Limits {
            waiting_pulls: 2_000,
            ..limits()
        }),
        Program::new(),
    );
    let proxy = program.pulls_from(&served.channel);
    let pulled = begin(&proxy, 2_000);
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    // Those of all tests that run at the same time.
    assert!(threads < 2_000, "{threads} threads");
    let pushes = program.pushes_to(&served.channel);
    for number in 0..2_000 {
        pushes.push(&event(number)).unwrap();
    }
    let mut numbers: Vec<i32> = pulled
        .iter()
        .take(2_000)
        .map(|pulled| number(&pulled.unwrap()))
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
}

#[test]
fn pulls_beyond_the_limit_are_refused_and_the_others_wait_on() {
    let (served, program) = (
        Served::with(Limits {
            waiting_pulls: 1,
            ..limits()
        }),
        Program::new(),
    );
    let proxy = program.pulls_from(&served.channel);
    let pulled = begin(&proxy, 2);
    let refused = pulled.recv().unwrap().unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::Transient);
    program.pushes_to(&served.channel).push(&event(1)).unwrap();
    assert_eq!(number(&pulled.recv().unwrap().unwrap()), 1);
}

#[test]
fn a_pull_whose_client_has_given_up_takes_no_event() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = program.pulls_from(&served.channel);
    let impatient =
        ProxyPullSupplier::from_object(proxy.as_object().with_timeout(Duration::from_millis(1)));
    let given_up = impatient.pull().unwrap_err();
    assert_eq!(given_up.system().unwrap().kind(), Kind::Timeout);
    let gone = Program::new();
    let pulled = begin(&gone.see(&proxy), 1);
    // One that waits, and whose program then ends.
    until(|| !proxy.try_pull().unwrap().1);
    drop(gone);
    drop(pulled);
    let pushes = program.pushes_to(&served.channel);
    pushes.push(&event(1)).unwrap();
    assert_eq!(number(&proxy.pull().unwrap()), 1);
}

#[test]
fn events_that_nobody_takes_are_discarded_and_counted() {
    let (served, program) = (
        Served::with(Limits {
            queue_events: 3,
            ..limits()
        }),
        Program::new(),
    );
    let proxy = program.pulls_from(&served.channel);
    let pushes = program.pushes_to(&served.channel);
    for number in 0..10 {
        pushes.push(&event(number)).unwrap();
    }
    assert_eq!(served.metric("discarded_total"), 7);
    let left: Vec<i32> = (0..3).map(|_| number(&proxy.pull().unwrap())).collect();
    assert_eq!(left, [7, 8, 9]);
    pushes.push(&event(10)).unwrap();
    proxy.disconnect_pull_supplier().unwrap();
    assert_eq!(served.metric("undelivered_total"), 1);
}

#[test]
fn pulls_that_wait_are_answered_when_the_service_ends() {
    let (served, program) = (Served::new(), Program::new());
    let proxy = program.pulls_from(&served.channel);
    let pulled = begin(&proxy, 3);
    assert!(!proxy.try_pull().unwrap().1);
    drop(served);
    for _ in 0..3 {
        let ended = pulled.recv().unwrap().unwrap_err();
        let kind = ended.system().unwrap().kind();
        // The last ones may come after the connection has been closed.
        assert!(
            matches!(kind, Kind::Transient | Kind::CommFailure),
            "{ended}"
        );
    }
}

#[test]
fn a_supplier_without_an_event_is_asked_again() {
    let (served, program) = (Served::new(), Program::new());
    let (_, source) = program.source(&served.channel);
    until(|| source.asked() >= 3);
    let proxy = program.pulls_from(&served.channel);
    source.supply(event(4));
    assert_eq!(number(&proxy.pull().unwrap()), 4);
}

#[test]
fn one_call_to_a_supplier_is_open_at_a_time() {
    let (served, program) = (Served::new(), Program::new());
    let (_, source) = program.source(&served.channel);
    source.block(true);
    for number in 0..50 {
        source.supply(event(number));
    }
    let proxy = program.pulls_from(&served.channel);
    source.block(false);
    // In their order: two calls at once would mix them up.
    for expected in 0..50 {
        assert_eq!(number(&proxy.pull().unwrap()), expected);
    }
}

#[test]
fn a_supplier_that_is_waited_for_is_called_once_for_each_event() {
    let waiting = Limits {
        pulling: Pulling::Wait,
        call_timeout: Duration::from_millis(50),
        ..limits()
    };
    let (served, program) = (Served::with(waiting), Program::new());
    let (connection, source) = program.source(&served.channel);
    let proxy = program.pulls_from(&served.channel);
    until(|| source.waits() == 1);
    // Longer than other calls may take, during which the call stays open.
    std::thread::sleep(Duration::from_millis(200));
    for (number_of_event, calls) in [(4, 2), (5, 3)] {
        source.supply(event(number_of_event));
        assert_eq!(number(&proxy.pull().unwrap()), number_of_event);
        until(|| source.waits() == calls);
    }
    assert_eq!(source.asked(), 0);
    source.end();
    until(|| !exists(&connection));
}
