//! Latency of a consumer alone, and beside one that takes a second for each event.
//!
//! `cargo bench -p punctual-notification --bench slow_consumer` has two channels, of which one has the slow consumer, and pushes
//! to both by turns, so that whatever else the machine does is beside both. It prints percentiles of all events of each, and
//! their ratios in each quarter of the run, which show how steady they are.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use punctual::{Orb, RootPoa};
use punctual_notification::Limits;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::cos_notify_channel_admin::StructuredProxyPushConsumer;
use punctual_notification::cos_notify_comm::StructuredPushConsumer;
use support::{Counter, Served, alarm, orb};

/// Turns of each channel.
const TURNS: usize = 100;
/// Number of events in a turn.
const EVENTS: u32 = 200;
/// Time from one event to the next.
const PACE: Duration = Duration::from_micros(500);
const SHARES: [f64; 2] = [0.5, 0.99];

/// Channel with a consumer, and perhaps a slow one beside it.
struct Channel {
    served: Served,
    slow: Option<Orb>,
    counter: Counter,
    pushes: StructuredProxyPushConsumer,
    /// Times from an event's push to its arrival, in microseconds, by turns.
    micros: Vec<Vec<f64>>,
}

impl Channel {
    fn new(is_loaded: bool) -> Self {
        let served = Served::new(Limits::default());
        let counter = Counter::with_times();
        served.connect(&served.structured(&counter), None);
        let slow = is_loaded.then(|| {
            let orb = orb();
            let poa = orb.root_poa().unwrap();
            poa.manager().activate().unwrap();
            let consumer: StructuredPushConsumer = poa
                .activate(Counter::that_takes(Duration::from_secs(1)))
                .unwrap();
            served.connect(&consumer, None);
            orb
        });
        Self {
            pushes: served.pushes(),
            served,
            slow,
            counter,
            micros: Vec::new(),
        }
    }

    fn turn(&mut self, event: &StructuredEvent) {
        let before = self.counter.count();
        let begin = Instant::now();
        let pushed: Vec<_> = (0..EVENTS)
            .map(|number| {
                let at = begin + PACE * number;
                std::thread::sleep(at.saturating_duration_since(Instant::now()));
                let push = Instant::now();
                self.pushes.push_structured_event(event).unwrap();
                push
            })
            .collect();
        self.counter.wait_for(before + u64::from(EVENTS));
        let times = self.counter.times();
        let micros = pushed.iter().zip(&times);
        let micros = micros.map(|(push, at)| (*at - *push).as_secs_f64() * 1e6);
        self.micros.push(micros.collect());
    }

    /// Returns the percentiles of the events of some turns.
    fn percentiles(&self, turns: std::ops::Range<usize>) -> [f64; 2] {
        let mut micros = self.micros[turns].concat();
        micros.sort_by(f64::total_cmp);
        SHARES.map(|share| percentile(&micros, share))
    }

    fn end(self) {
        self.served.end();
        if let Some(orb) = self.slow {
            orb.shutdown(false).unwrap();
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a short list"
)]
fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

fn main() {
    let mut channels = [false, true].map(Channel::new);
    let event = alarm(0);
    for channel in &mut channels {
        channel.turn(&event);
        channel.micros.clear();
    }
    for turn in 0..TURNS {
        // Neither is always the first.
        for channel in [turn % 2, 1 - turn % 2] {
            channels[channel].turn(&event);
        }
        if (turn + 1) % 10 == 0 {
            eprintln!("{} of {TURNS} turns", turn + 1);
        }
    }
    let [alone, beside] = &channels;
    for quarter in 0..4 {
        let turns = quarter * TURNS / 4..(quarter + 1) * TURNS / 4;
        let [alone, beside] = [alone, beside].map(|one| one.percentiles(turns.clone()));
        println!(
            "quarter {}: p50 {:.2} times, p99 {:.2} times that alone",
            quarter + 1,
            beside[0] / alone[0],
            beside[1] / alone[1]
        );
    }
    for (name, one) in [("alone", alone), ("beside a slow consumer", beside)] {
        let [p50, p99] = one.percentiles(0..TURNS);
        println!("{name}: p50 {p50:.0} µs, p99 {p99:.0} µs");
    }
    channels.into_iter().for_each(Channel::end);
}
