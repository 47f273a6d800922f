//! Benchmark of the channel: `cargo bench -p punctual-rtevent`, of one part with its name as argument
//! (`reactive`, `subscriptions`, `conjunctions`, `queued`, `deadlines`). Times are the best of many short rounds, of which some
//! are not interrupted even where others use the processors; rates of `queued` need a machine that does nothing else.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual_rtevent::{
    Channel, ChannelOptions, Consumer, Dispatching, Event, Filter, Header, Level, Overflow, Pool,
    PoolOptions, Publications, Pushed, QueueOptions, Subscription, Supplier, SupplierHandle,
    Threads, ThreadsOptions,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Rounds of which the best counts.
const ROUNDS: i32 = 512;

fn main() {
    let only = std::env::args()
        .nth(1)
        .filter(|word| !word.starts_with('-'));
    let is_wanted = |part: &str| only.as_ref().is_none_or(|word| word == part);
    if is_wanted("reactive") {
        [1, 10, 100, 1_000].into_iter().for_each(reactive);
    }
    if is_wanted("subscriptions") {
        subscriptions();
    }
    if is_wanted("conjunctions") {
        conjunctions();
    }
    if is_wanted("deadlines") {
        deadlines();
    }
    if is_wanted("queued") {
        queued("one level, one consumer", threads(), 1);
        queued("one level, ten consumers", threads(), 10);
        queued("pool, one consumer", pool(), 1);
    }
}

/// Consumer that counts.
#[derive(Default)]
struct Counter(AtomicU64);

impl Consumer<u64> for Counter {
    fn push(&self, events: &[Event<u64>]) -> Pushed {
        self.0.fetch_add(events.len() as u64, Ordering::Relaxed);
        Pushed::Done
    }
}

struct Silent;

impl Supplier for Silent {}

struct Setting {
    channel: Channel<u64>,
    supplier: SupplierHandle<u64>,
}

impl Setting {
    fn new(dispatching: Dispatching) -> Self {
        let options = ChannelOptions {
            dispatching,
            ..ChannelOptions::default()
        };
        let channel = Channel::new(options).unwrap();
        let supplier = channel.connect_supplier(Publications::default(), Arc::new(Silent));
        Self {
            supplier: supplier.unwrap(),
            channel,
        }
    }

    fn connect(&self, subscription: Subscription) -> Arc<Counter> {
        let counter = Arc::new(Counter::default());
        let connected = self.channel.connect_consumer(subscription, counter.clone());
        connected.unwrap();
        counter
    }

    fn push(&self, kind: i32) {
        let event = Event::new(Header::new(kind, 1), 0);
        self.supplier.push(&[event]).unwrap();
    }
}

/// Returns the least nanoseconds of one run of `work` in rounds that have `count` together. `work` gets their numbers.
fn best(count: i32, mut work: impl FnMut(i32)) -> f64 {
    let of_round = (count / ROUNDS).max(1);
    let rounds = (0..ROUNDS).map(|round| {
        let begin = Instant::now();
        let first = round * of_round;
        (first..first + of_round).for_each(&mut work);
        begin.elapsed()
    });
    rounds.min().unwrap().as_nanos() as f64 / f64::from(of_round)
}

fn reactive(consumers: i32) {
    let setting = Setting::new(Dispatching::Reactive);
    for _ in 0..consumers {
        setting.connect(Subscription::new(Filter::event(20, 0)));
    }
    let nanos = best(10_000_000 / consumers.max(10), |_| setting.push(20));
    let each = nanos / f64::from(consumers);
    println!("reactive, {consumers} consumers: {nanos:.0} ns an event, {each:.1} ns each");
}

fn subscriptions() {
    let setting = Setting::new(Dispatching::Reactive);
    for number in 0..10_000 {
        setting.connect(Subscription::new(Filter::event(20 + number % 1_000, 0)));
    }
    let nanos = best(1_000_000, |number| setting.push(20 + number % 1_000));
    println!("10,000 subscriptions over 1,000 types: {nanos:.0} ns an event with its 10 consumers");
    let nanos = best(1_000_000, |number| setting.push(2_000 + number % 1_000));
    println!("10,000 subscriptions over 1,000 types: {nanos:.0} ns an event without consumers");
    let nanos = best(1_000_000, |number| setting.push(10_000 + number));
    println!(
        "10,000 subscriptions over 1,000 types: {nanos:.0} ns an event whose route is not kept"
    );
}

fn conjunctions() {
    for (types, text) in [
        (300, "of types of their own"),
        (3, "of the same three types"),
    ] {
        let setting = Setting::new(Dispatching::Reactive);
        for number in 0..100 {
            let first = 20 + number * 3 % types;
            let children = (first..first + 3).map(|kind| Filter::event(kind, 0));
            setting.connect(Subscription::new(Filter::all_of(children)));
        }
        let nanos = best(1_500_000, |number| setting.push(20 + number % types));
        println!("100 conjunctions of three {text}: {nanos:.0} ns an event");
    }
}

fn deadlines() {
    let setting = Setting::new(Dispatching::Reactive);
    for _ in 0..100 {
        let timed = Filter::any_of([
            Filter::event(20, 0),
            Filter::deadline(Duration::from_secs(100)),
        ]);
        setting.connect(Subscription::new(timed));
    }
    let nanos = best(500_000, |_| setting.push(20));
    println!("100 consumers with deadlines: {:.1} ns each", nanos / 100.0);
}

fn queued(text: &str, dispatching: Dispatching, consumers: u64) {
    const EVENTS: u64 = 1_000_000;
    let setting = Setting::new(dispatching);
    let subscription = || {
        let queue = QueueOptions {
            overflow: Overflow::Block(Duration::from_secs(60)),
            ..QueueOptions::default()
        };
        Subscription::new(Filter::event(20, 0))
            .level(Level::new(0, 1))
            .queue(queue)
    };
    let counters: Vec<_> = (0..consumers)
        .map(|_| setting.connect(subscription()))
        .collect();
    let event = Event::new(Header::new(20, 1), 0);
    for together in [1, 16] {
        let events = vec![event.clone(); together];
        let before = counters[0].0.load(Ordering::Relaxed);
        let begin = Instant::now();
        for _ in 0..EVENTS / (together as u64 * consumers) {
            setting.supplier.push(&events).unwrap();
        }
        let all = before + EVENTS / (together as u64 * consumers) * together as u64;
        let is_done = |counter: &Arc<Counter>| counter.0.load(Ordering::Relaxed) >= all;
        while !counters.iter().all(is_done) {
            std::thread::yield_now();
        }
        let rate = EVENTS as f64 / begin.elapsed().as_secs_f64();
        println!("queued, {text}, {together} in a push: {rate:.0} deliveries a second");
    }
}

fn threads() -> Dispatching {
    Dispatching::Queued(Arc::new(Threads::new(ThreadsOptions::default()).unwrap()))
}

fn pool() -> Dispatching {
    let options = PoolOptions {
        threads: 2,
        ..PoolOptions::default()
    };
    Dispatching::Queued(Arc::new(Pool::new(options).unwrap()))
}
