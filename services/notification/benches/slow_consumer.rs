//! Latency of a consumer alone, and beside one that takes a second for each event.
//!
//! `cargo bench -p punctual-notification --bench slow_consumer` prints percentiles of both, and the median of the rounds' ratios.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use punctual::{Orb, RootPoa};
use punctual_notification::Limits;
use punctual_notification::cos_notify_comm::StructuredPushConsumer;
use support::{Counter, Served, alarm, orb};

const ROUNDS: usize = 11;
const EVENTS: u32 = 2_000;
/// Time from one event to the next.
const PACE: Duration = Duration::from_micros(500);

/// Returns the 50th and the 99th percentile of the time from an event's push to its arrival, in microseconds.
fn round(is_loaded: bool) -> [f64; 2] {
    let served = Served::new(Limits::default());
    let counter = Counter::with_times();
    served.connect(&served.structured(&counter), None);
    let slow: Option<Orb> = is_loaded.then(|| {
        let orb = orb();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let consumer: StructuredPushConsumer = poa
            .activate(Counter::that_takes(Duration::from_secs(1)))
            .unwrap();
        served.connect(&consumer, None);
        orb
    });
    let (pushes, event) = (served.pushes(), alarm(0));
    let mut pushed = Vec::new();
    let begin = Instant::now();
    for number in 0..EVENTS {
        let at = begin + PACE * number;
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        pushed.push(Instant::now());
        pushes.push_structured_event(&event).unwrap();
    }
    counter.wait_for(u64::from(EVENTS));
    let times = counter.times();
    let mut micros: Vec<f64> = pushed
        .iter()
        .zip(&times)
        .map(|(push, at)| (*at - *push).as_secs_f64() * 1e6)
        .collect();
    micros.sort_by(f64::total_cmp);
    served.end();
    if let Some(orb) = slow {
        orb.shutdown(false).unwrap();
    }
    [0.5, 0.99].map(|share| percentile(&micros, share))
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
    let mut ratios = [Vec::new(), Vec::new()];
    for number in 1..=ROUNDS {
        let [alone, beside] = [false, true].map(round);
        println!(
            "round {number} of {ROUNDS}: alone p50 {:.0} µs, p99 {:.0} µs; beside a slow consumer {:.0} and {:.0} µs",
            alone[0], alone[1], beside[0], beside[1]
        );
        for (ratios, place) in ratios.iter_mut().zip(0..) {
            ratios.push(beside[place] / alone[place]);
        }
    }
    let [p50, p99] = ratios.map(|mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        percentile(&ratios, 0.5)
    });
    println!(
        "beside a slow consumer: p50 {p50:.2} times, p99 {p99:.2} times that alone (medians of the rounds)"
    );
}
