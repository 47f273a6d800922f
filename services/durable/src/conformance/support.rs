//! What the cases share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::contract::{
    Delivery, EventId, EventLog, EventStore, LogSettings, Most, Name, NewEvent, Position, Reader,
};

/// Function that opens the store, again where it was closed before.
pub type Open<'a> = &'a dyn Fn() -> Arc<dyn EventStore>;

/// Time after which a case fails that waits for something.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

pub(super) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens a log of the usual settings, which must be new.
pub(super) fn log(store: &dyn EventStore, log: &str) -> Arc<dyn EventLog> {
    log_with(store, log, LogSettings::default())
}

/// Opens a log after removing one that an earlier run has left.
pub(super) fn log_with(
    store: &dyn EventStore,
    log: &str,
    settings: LogSettings,
) -> Arc<dyn EventLog> {
    store.remove_log(&name(log)).unwrap();
    store.open_log(&name(log), settings).unwrap()
}

/// Opens a log that exists.
pub(super) fn again(store: &dyn EventStore, log: &str) -> Arc<dyn EventLog> {
    store.open_log(&name(log), LogSettings::default()).unwrap()
}

pub(super) fn reader(log: &dyn EventLog, reader: &str) -> Arc<dyn Reader> {
    log.open_reader(&name(reader)).unwrap()
}

pub(super) fn event(text: &str) -> NewEvent {
    NewEvent::new(text.as_bytes().to_vec())
}

pub(super) fn id(text: &str) -> EventId {
    EventId::new(text.as_bytes()).unwrap()
}

/// Appends the numbers of a range as events, in one call.
pub(super) fn append(log: &dyn EventLog, numbers: std::ops::Range<u32>) {
    let events = numbers.map(|number| event(&number.to_string()));
    log.append(events.collect()).unwrap();
}

/// Fetches `count` events, however many fetches that takes.
pub(super) fn fetch(reader: &dyn Reader, count: usize) -> Vec<Delivery> {
    let mut all = Vec::new();
    let begun = Instant::now();
    while all.len() < count && begun.elapsed() < LIMIT {
        let most = Most::events(count - all.len());
        all.extend(reader.fetch(most, Duration::from_secs(1)).unwrap());
    }
    assert_eq!(all.len(), count, "events that came: {:?}", texts(&all));
    all
}

/// Checks that there is nothing more to fetch.
pub(super) fn check_empty(reader: &dyn Reader) {
    let more = reader.fetch(Most::events(10), Duration::from_millis(50));
    assert_eq!(texts(&more.unwrap()), [""; 0]);
}

pub(super) fn text(delivery: &Delivery) -> String {
    String::from_utf8(delivery.bytes.to_vec()).unwrap()
}

pub(super) fn texts(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(text).collect()
}

pub(super) fn numbers(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

pub(super) fn positions(deliveries: &[Delivery]) -> Vec<Position> {
    deliveries.iter().map(|one| one.position).collect()
}

/// Waits until a condition holds.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LIMIT, "after {LIMIT:?} still not: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
