//! Alarms with 20 filterable fields: by a direct call, through a channel to one consumer, and to ten consumers whose filters
//! pass a tenth each.
//!
//! `cargo bench -p punctual-notification --bench alarms` prints a line for each: events, time of each, and the ratio to two
//! direct calls, or events a second and the time that the processors took for each.
//! `… --bench alarms -- one|singles|batches 50000` measures one of them, with so many events.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual::Any;
use punctual_notification::Limits;
use punctual_notification::cos_notification::{
    MAXIMUM_BATCH_SIZE, PACING_INTERVAL, Property, StructuredEvent,
};
use support::{Counter, Served, alarm};

/// Number of events of each measurement with one consumer; those with ten have five times as many.
const EVENTS: u64 = 20_000;
const SUPPLIERS: u64 = 4;
const CONSUMERS: i32 = 10;
/// Number of events in a batch.
const BATCH: usize = 100;
/// Upper bound of the events on their way: queues must not give any up.
const ON_THE_WAY: u64 = 5_000;

fn timed(what: &str, events: u64, two: Option<Duration>, work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    let each = begin.elapsed() / u32::try_from(events).unwrap();
    let ratio = two.map(|two| each.as_secs_f64() / two.as_secs_f64());
    let ratio = ratio.map(|ratio| format!(", {ratio:.2} times two direct calls"));
    println!(
        "{what}: {events} events, {each:?} each{}",
        ratio.unwrap_or_default()
    );
    each
}

fn to_one(events: u64) {
    let served = Served::new(Limits::default());
    let (counter, event) = (Counter::default(), alarm(0));
    let consumer = served.structured(&counter);
    let direct = served.direct(&consumer);
    let push_direct = || direct.push_structured_event(&event).unwrap();
    for _ in 0..events / 10 {
        push_direct();
    }
    let one = timed("direct", events, None, || {
        (0..events).for_each(|_| push_direct())
    });

    served.connect(&consumer, None);
    let pushes = served.pushes();
    let before = counter.count();
    timed("one after the other", events, Some(one * 2), || {
        for number in 0..events {
            pushes.push_structured_event(&event).unwrap();
            counter.wait_for(before + number + 1);
        }
    });
    let before = counter.count();
    timed(
        "as fast as the channel takes them",
        events,
        Some(one * 2),
        || {
            for _ in 0..events {
                pushes.push_structured_event(&event).unwrap();
            }
            counter.wait_for(before + events - served.metric("discarded_total"));
        },
    );
    served.end();
}

/// Pushes events from several threads, and prints how many a second all consumers together received.
fn from_several(
    what: &str,
    events: u64,
    all: &[Counter],
    push: &(impl Fn(&[StructuredEvent]) + Sync),
) {
    let batches = events / SUPPLIERS / BATCH as u64;
    let received = || all.iter().map(Counter::count).sum::<u64>();
    let events: Vec<_> = (0..i32::try_from(BATCH).unwrap())
        .map(|number| alarm(number % CONSUMERS))
        .collect();
    let before = received();
    let pushed = AtomicU64::new(before);
    let (begin, busy) = (Instant::now(), busy());
    std::thread::scope(|scope| {
        for _ in 0..SUPPLIERS {
            scope.spawn(|| {
                for _ in 0..batches {
                    let after = pushed.fetch_add(BATCH as u64, Ordering::AcqRel);
                    while after > received() + ON_THE_WAY {
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    push(&events);
                }
            });
        }
    });
    let count = batches * SUPPLIERS * BATCH as u64;
    while received() < before + count {
        std::thread::sleep(Duration::from_micros(200));
    }
    let rate = f64::from(u32::try_from(count).unwrap()) / begin.elapsed().as_secs_f64();
    let each = (self::busy() - busy) / u32::try_from(count).unwrap();
    println!("{what}: {count} events, {rate:.0} a second, processors {each:?} each");
}

/// Returns the time that the processors have taken for this process.
fn busy() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    // Linux counts in hundredths of a second.
    Duration::from_millis(ticks * 10)
}

fn to_ten(in_batches: bool, events: u64) {
    let served = Served::new(Limits::default());
    let all: Vec<_> = (0..CONSUMERS).map(|_| Counter::default()).collect();
    for (number, counter) in all.iter().enumerate() {
        let filter = served.filter(format!("$number0 == {number}"));
        match in_batches {
            false => served.connect(&served.structured(counter), Some(&filter)),
            true => served.connect_batches(counter, &batches(), Some(&filter)),
        }
    }
    let singles: Vec<_> = (0..SUPPLIERS).map(|_| served.pushes()).collect();
    let sequences: Vec<_> = (0..SUPPLIERS).map(|_| served.pushes_batches()).collect();
    let next = AtomicUsize::new(0);
    let own = || next.fetch_add(1, Ordering::Relaxed) % singles.len();
    match in_batches {
        false => from_several("to ten, one by one", events, &all, &|events| {
            let pushes = &singles[own()];
            for event in events {
                pushes.push_structured_event(event).unwrap();
            }
        }),
        true => from_several("to ten, in batches of 100", events, &all, &|events| {
            sequences[own()].push_structured_events(events).unwrap();
        }),
    }
    served.end();
}

/// Returns the properties of a consumer of batches, which waits 10 ms for a batch to fill.
fn batches() -> [Property; 2] {
    let property = |name: &str, value| Property {
        name: name.to_owned(),
        value,
    };
    let size = i32::try_from(BATCH).unwrap();
    [
        property(MAXIMUM_BATCH_SIZE, Any::new(&size).unwrap()),
        property(PACING_INTERVAL, Any::new(&100_000_u64).unwrap()),
    ]
}

fn main() {
    let given: Vec<_> = std::env::args().skip(1).collect();
    let number = given.iter().find_map(|one| one.parse().ok());
    let is_wanted = |part: &str| {
        let mut parts = given
            .iter()
            .filter(|one| one.starts_with(char::is_alphabetic));
        given.iter().any(|one| one == part) || parts.next().is_none()
    };
    if is_wanted("one") {
        to_one(number.unwrap_or(EVENTS));
    }
    for (part, in_batches) in [("singles", false), ("batches", true)] {
        if is_wanted(part) {
            to_ten(in_batches, number.unwrap_or(5 * EVENTS));
        }
    }
}
