//! A cluster of three whose nodes are killed at random while threads append and a reader reads: all that is acknowledged
//! is delivered, each thread's events in order.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use punctual_durable::{EventId, EventLog, EventStore, LogSettings, Most, Name, NewEvent, Reader};
use punctual_jetstream::JetStreamStore;

use crate::nats::{LIMIT, Nats, cluster_options};

const PRODUCERS: usize = 4;

/// Number of events in one append.
const BATCH: u64 = 50;

/// Load and kills of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) kills: u32,
    /// Number of events of all producers.
    pub(crate) events: u64,
    /// Longest time between two kills, in milliseconds.
    pub(crate) most_life: u64,
}

/// Runs the plan; does nothing where there is no NATS server.
pub(crate) fn run(plan: Plan) {
    let Some(mut nodes) = Nats::cluster() else {
        return;
    };
    let store = JetStreamStore::open(cluster_options(&nodes)).unwrap();
    let name = |text: &str| text.parse::<Name>().unwrap();
    let log = store
        .open_log(&name("log"), LogSettings::default())
        .unwrap();
    let reader = log.open_reader(&name("reader")).unwrap();
    let each = plan.events / PRODUCERS as u64;
    let is_over = AtomicBool::new(false);
    let retries = AtomicU64::new(0);
    let repeats = std::thread::scope(|scope| {
        let (log, retries) = (&log, &retries);
        for producer in 0..PRODUCERS {
            scope.spawn(move || produce(&**log, producer, each, retries));
        }
        let consumer = scope.spawn(|| consume(&*reader, each));
        let killer = scope.spawn(|| kill_at_random(&mut nodes, plan, &is_over));
        let repeats = consumer.join();
        is_over.store(true, Ordering::Relaxed);
        killer.join().unwrap();
        repeats.unwrap()
    });
    let retries = retries.into_inner();
    println!(
        "{} events: {retries} appends repeated, {repeats} events repeated",
        plan.events
    );
}

fn kill_at_random(nodes: &mut [Nats], plan: Plan, is_over: &AtomicBool) {
    let mut random = u64::from(std::process::id()) ^ 0x9E37_79B9_7F4A_7C15;
    println!("seed {random}");
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 33
    };
    let mut kills = 0;
    while kills < plan.kills && !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(next() % plan.most_life));
        let node = &mut nodes[next() as usize % 3];
        node.kill();
        std::thread::sleep(Duration::from_millis(next() % 500));
        node.restart();
        // The next one is killed when there is a majority without it.
        node.wait();
        kills += 1;
    }
    println!("{kills} kills");
}

fn produce(log: &dyn EventLog, producer: usize, last: u64, retries: &AtomicU64) {
    let event = |number: u64| {
        let text = format!("{producer} {number}");
        let id = EventId::new(text.as_bytes()).unwrap();
        NewEvent::new(text.into_bytes()).with_id(id)
    };
    for first in (1..=last).step_by(BATCH as usize) {
        let events: Vec<NewEvent> = (first..=last.min(first + BATCH - 1)).map(event).collect();
        let begun = Instant::now();
        while let Err(error) = log.append(events.clone()) {
            assert!(begun.elapsed() < 3 * LIMIT, "{error}");
            retries.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Reads until the last event of each producer. Returns the number of repeats.
fn consume(reader: &dyn Reader, last: u64) -> u64 {
    let mut got = [0; PRODUCERS];
    let mut repeats = 0;
    while got != [last; PRODUCERS] {
        let more = reader.fetch(Most::events(1_000), 3 * LIMIT).unwrap();
        assert!(!more.is_empty(), "events that came: {got:?}");
        for delivery in &more {
            let text = std::str::from_utf8(&delivery.bytes).unwrap();
            let (producer, number) = text.split_once(' ').unwrap();
            let (producer, number): (usize, u64) =
                (producer.parse().unwrap(), number.parse().unwrap());
            match number <= got[producer] {
                true => repeats += 1,
                false => {
                    assert_eq!(number, got[producer] + 1, "of producer {producer}");
                    got[producer] = number;
                }
            }
        }
        reader.acknowledge(&more.iter().map(|one| one.position).collect::<Vec<_>>());
    }
    repeats
}
