//! Cases of delivery and acknowledgement.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use punctual_exec::ThreadSpec;

use super::support::{
    LIMIT, Open, again, append, check_empty, event, eventually, fetch, id, log, name, numbers,
    positions, reader, text, texts,
};
use crate::contract::{Delivery, DurableError, Most, NewEvent, Position, Reader};

pub(super) fn events_come_in_the_order_of_their_appends_with_all_they_have(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "order");
    let reader = reader(&*log, "one");
    append(&*log, 0..5);
    let full = NewEvent {
        priority: -7,
        lifetime: Some(Duration::from_secs(3_600)),
        ..event("full").with_id(id("id of it"))
    };
    log.append(vec![full, NewEvent::new(Vec::new())]).unwrap();
    let got = fetch(&*reader, 7);
    assert_eq!(texts(&got[..5]), numbers(0..5));
    let (full, empty) = (&got[5], &got[6]);
    assert_eq!((text(full).as_str(), full.priority), ("full", -7));
    assert_eq!(full.id, Some(id("id of it")));
    assert!(full.expires.is_some() && !full.is_repeated);
    assert_eq!(
        (empty.bytes.len(), empty.expires, empty.priority),
        (0, None, 0)
    );
    assert!(got.is_sorted_by(|one, other| one.position < other.position));
}

pub(super) fn each_reader_gets_each_event_and_has_acknowledgements_of_its_own(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "each");
    let (one, other) = (reader(&*log, "one"), reader(&*log, "other"));
    assert_eq!(log.reader_names().unwrap(), [name("one"), name("other")]);
    append(&*log, 0..20);
    let got = fetch(&*one, 20);
    one.acknowledge(&positions(&got));
    one.flush().unwrap();
    eventually("one waits for nothing", || one.waiting().unwrap() == 0);
    assert_eq!(other.waiting().unwrap(), 20);
    assert_eq!(log.status().unwrap().events, 20);
    let got = fetch(&*other, 20);
    assert_eq!(texts(&got), numbers(0..20));
    other.acknowledge(&positions(&got));
    other.flush().unwrap();
    eventually("no event is left", || log.status().unwrap().events == 0);
}

pub(super) fn a_reader_gets_what_is_appended_after_it_was_added(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "added");
    let early = reader(&*log, "early");
    append(&*log, 0..3);
    let late = reader(&*log, "late");
    append(&*log, 3..5);
    assert_eq!(texts(&fetch(&*early, 5)), numbers(0..5));
    assert_eq!(texts(&fetch(&*late, 2)), numbers(3..5));
    check_empty(&*late);
}

pub(super) fn what_was_not_acknowledged_comes_again_in_order_when_the_reader_is_opened_again(
    open: Open<'_>,
) {
    let store = open();
    let log = log(&*store, "again");
    let first = reader(&*log, "one");
    append(&*log, 0..10);
    let got = fetch(&*first, 6);
    first.acknowledge(&[got[1].position, got[4].position]);
    first.flush().unwrap();
    drop(first);
    let second = reader(&*log, "one");
    let got = fetch(&*second, 8);
    assert_eq!(texts(&got), ["0", "2", "3", "5", "6", "7", "8", "9"]);
    assert!(got[..4].iter().all(|one| one.is_repeated));
    check_empty(&*second);
}

pub(super) fn acknowledgements_in_any_order_survive_that_the_store_is_closed(open: Open<'_>) {
    let store = open();
    let first = log(&*store, "closed");
    let one = reader(&*first, "one");
    append(&*first, 0..100);
    let got = fetch(&*one, 100);
    let odd = got.iter().skip(1).step_by(2).rev();
    one.acknowledge(&odd.map(|one| one.position).collect::<Vec<_>>());
    one.flush().unwrap();
    drop((one, first, store));
    let store = open();
    let second = again(&*store, "closed");
    let one = reader(&*second, "one");
    let even: Vec<String> = (0..100)
        .step_by(2)
        .map(|number| number.to_string())
        .collect();
    assert_eq!(texts(&fetch(&*one, 50)), even);
    assert_eq!(one.waiting().unwrap(), 50);
    append(&*second, 100..101);
    assert_eq!(texts(&fetch(&*one, 1)), ["100"]);
}

pub(super) fn a_reader_says_up_to_where_it_gets_no_events(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "floor");
    let early = reader(&*log, "early");
    append(&*log, 0..3);
    let late = reader(&*log, "late");
    append(&*log, 3..6);
    let got = fetch(&*early, 6);
    let is_below = |floor: Option<Position>| floor.is_none_or(|floor| floor < got[0].position);
    assert!(is_below(early.floor().unwrap()));
    let rest = fetch(&*late, 3);
    late.acknowledge(&[rest[0].position]);
    // Acknowledgements count from the beginning on.
    early.acknowledge(&[got[0].position, got[1].position, got[4].position]);
    let is_between = |reader: &dyn Reader, low: &Delivery, high: &Delivery| {
        let floor = reader.floor().unwrap();
        floor.is_some_and(|floor| low.position <= floor && floor < high.position)
    };
    for (reader, low, high) in [(&early, &got[1], &got[2]), (&late, &got[3], &got[4])] {
        reader.flush().unwrap();
        eventually("they are acknowledged", || is_between(&**reader, low, high));
    }
    drop(early);
    let again = reader(&*log, "early");
    assert!(is_between(&*again, &got[1], &got[2]));
}

pub(super) fn events_that_are_given_back_come_again_first_and_marked(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "back");
    let reader = reader(&*log, "one");
    append(&*log, 0..4);
    let got = fetch(&*reader, 3);
    assert!(got.iter().all(|one| !one.is_repeated));
    reader.acknowledge(&[got[0].position]);
    // The one that is acknowledged is not given back.
    reader.give_back(&positions(&got));
    let got = fetch(&*reader, 3);
    let mut shown = texts(&got);
    shown.sort();
    assert_eq!(shown, numbers(1..4));
    for delivery in &got {
        assert_eq!(
            delivery.is_repeated,
            text(delivery) != "3",
            "{}",
            text(delivery)
        );
    }
    reader.acknowledge(&positions(&got));
    reader.flush().unwrap();
    check_empty(&*reader);
}

pub(super) fn a_reader_that_is_in_use_is_not_opened_twice(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "twice");
    let first = reader(&*log, "one");
    let second = log.open_reader(&name("one")).unwrap_err();
    assert!(
        matches!(second, DurableError::ReaderInUse { .. }),
        "{second}"
    );
    drop(first);
    reader(&*log, "one");
}

pub(super) fn a_removed_reader_holds_no_events_and_its_fetches_fail(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "removed-reader");
    let (kept, gone) = (reader(&*log, "kept"), reader(&*log, "gone"));
    append(&*log, 0..10);
    let got = fetch(&*kept, 10);
    kept.acknowledge(&positions(&got));
    kept.flush().unwrap();
    assert!(log.remove_reader(&name("gone")).unwrap());
    assert!(!log.remove_reader(&name("gone")).unwrap());
    assert_eq!(log.reader_names().unwrap(), [name("kept")]);
    eventually("no event is left", || log.status().unwrap().events == 0);
    let error = gone.fetch(Most::events(1), LIMIT).unwrap_err();
    assert!(matches!(error, DurableError::Removed(_)), "{error}");
    drop(gone);
    let new = reader(&*log, "gone");
    append(&*log, 10..11);
    assert_eq!(texts(&fetch(&*new, 1)), ["10"]);
}

pub(super) fn a_fetch_has_at_most_as_many_events_and_bytes_as_asked(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "most");
    let reader = reader(&*log, "one");
    let long = || NewEvent::new(vec![b'x'; 1_000]);
    log.append(vec![long(), long(), long(), long(), long()])
        .unwrap();
    let most = |events, bytes| Most { events, bytes };
    assert_eq!(fetch(&*reader, 1).len(), 1);
    let some = reader.fetch(most(10, 2_500), LIMIT).unwrap().len();
    assert!((1..=2).contains(&some), "{some}");
    assert_eq!(fetch(&*reader, 3 - some).len(), 3 - some);
    // One that is longer than asked for comes alone.
    assert_eq!(reader.fetch(most(10, 10), LIMIT).unwrap().len(), 1);
    check_empty(&*reader);
}

pub(super) fn a_reader_is_woken_when_events_come(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "woken");
    let reader = reader(&*log, "one");
    let wakes = Arc::new(AtomicUsize::new(0));
    let counted = wakes.clone();
    reader.wake_by(Arc::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    }));
    check_empty(&*reader);
    for round in 0..3 {
        let before = wakes.load(Ordering::SeqCst);
        append(&*log, round..round + 1);
        eventually("woken", || wakes.load(Ordering::SeqCst) > before);
        assert_eq!(texts(&fetch(&*reader, 1)), numbers(round..round + 1));
        check_empty(&*reader);
    }
}

pub(super) fn a_fetch_waits_for_the_first_event(open: Open<'_>) {
    let store = open();
    let log = log(&*store, "waits");
    let reader = reader(&*log, "one");
    let waiting = ThreadSpec::named("waits");
    let waiting = waiting.start(move || reader.fetch(Most::events(9), LIMIT).unwrap());
    append(&*log, 0..1);
    assert_eq!(texts(&waiting.unwrap().join().unwrap()), ["0"]);
}

pub(super) fn appends_of_many_threads_are_all_delivered_each_thread_in_order(open: Open<'_>) {
    const THREADS: usize = 8;
    const EACH: usize = 50;
    let store = open();
    let log = log(&*store, "threads");
    let reader = reader(&*log, "one");
    let start = |thread: usize| {
        let log = log.clone();
        let work = move || {
            for number in 0..EACH {
                log.append(vec![event(&format!("{thread} {number}"))])
                    .unwrap();
            }
        };
        ThreadSpec::named("appends").start(work).unwrap()
    };
    let threads: Vec<_> = (0..THREADS).map(start).collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let got = texts(&fetch(&*reader, THREADS * EACH));
    for thread in 0..THREADS {
        let prefix = format!("{thread} ");
        let of: Vec<&str> = got
            .iter()
            .filter_map(|one| one.strip_prefix(&*prefix))
            .collect();
        let expected: Vec<String> = (0..EACH).map(|number| number.to_string()).collect();
        assert_eq!(of, expected);
    }
}
