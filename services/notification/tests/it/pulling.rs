//! Events that the channel pulls from suppliers: they pass on as those that are pushed, and what is refused for now waits.

use punctual::Any;
use punctual_notification::Limits;
use punctual_notification::cos_notification::{MAX_QUEUE_LENGTH, REJECT_NEW_EVENTS};

use crate::clients::{Peer, Received};
use crate::persistent::persistent_events;
use crate::restarts::stored;
use crate::support::{Program, Served, event, limits, number, property, until};

fn supply(source: &Peer, numbers: std::ops::Range<i32>) {
    for number in numbers {
        source.supply(Received::Structured(Box::new(event(number))));
    }
}

#[test]
fn events_that_were_pulled_wait_while_the_channel_is_full_and_come_in_their_order() {
    let (served, program) = (Served::new(), Program::new());
    let full = [
        property(MAX_QUEUE_LENGTH, 2),
        property(REJECT_NEW_EVENTS, true),
    ];
    let channel = program.see(&served.channel(&[], &full));
    let pulls = program.pulls_from(&channel);
    let (_, source) = program.is_pulled_by(&channel);
    supply(&source, 0..5);
    until(|| served.metric("received_total") == 2);
    let pulled = (0..5).map(|_| number(&pulls.pull_structured_event().unwrap()));
    assert_eq!(pulled.collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(served.metric("received_total"), 5);
    assert_eq!(served.metric("rejected_total"), 0);
}

#[test]
fn an_event_that_is_too_large_counts_as_rejected_whether_it_was_pushed_or_pulled() {
    let served = Served::with(Limits {
        event_bytes: 4_000,
        ..limits()
    });
    let program = Program::new();
    let channel = served.channel(&[], &[]);
    let (_, sink) = program.sink(&channel);
    let mut large = event(1);
    large.remainder_of_body = Any::new(&vec![0_u8; 4_000]).unwrap();
    let pushes = program.pushes_to(&channel);
    pushes.push_structured_event(&large).unwrap_err();
    assert_eq!(served.metric("rejected_total"), 1);
    let (_, source) = program.is_pulled_by(&channel);
    source.supply(Received::Structured(Box::new(large)));
    supply(&source, 2..3);
    // Those behind it pass.
    assert_eq!(sink.wait_for(1), [2]);
    assert_eq!(served.metric("rejected_total"), 2);
}

#[test]
fn events_that_were_pulled_wait_for_room_in_the_log_also_when_their_supplier_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let service = stored(&folder.path().join("store.redb"));
    service.set_limits(Limits {
        log_events: 2,
        ..limits()
    });
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let channel = program.see(&served.channel(&persistent_events(), &[]));
    let (proxy, sink) = program.sink(&channel);
    proxy.suspend_connection().unwrap();
    let (pulled, source) = program.is_pulled_by(&channel);
    supply(&source, 0..3);
    until(|| source.supplies_nothing() && served.metric("received_total") == 2);
    pulled.disconnect_structured_pull_consumer().unwrap();
    proxy.resume_connection().unwrap();
    assert_eq!(sink.wait_for(3), [0, 1, 2]);
    assert_eq!(served.metric("rejected_total"), 0);
}
