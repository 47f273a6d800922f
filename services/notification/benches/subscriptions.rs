//! Consumers whose filters each ask for another type of events: what an event costs that is for one of them.
//!
//! `cargo bench -p punctual-notification --bench subscriptions` prints a line for each number of consumers, with the time
//! that it adds to that of one. Supplier and channel are in one process, and call each other by TCP.
#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use punctual::Any;
use punctual_notification::Limits;
use punctual_notification::cos_notification::{MAX_EVENTS_PER_CONSUMER, Property, StructuredEvent};
use punctual_notification::cos_notify_channel_admin::StructuredProxyPushConsumer;
use support::Served;

const NUMBERS: [usize; 3] = [1, 1_000, 10_000];

/// Events of a round; the fastest round counts.
const EVENTS: u32 = 2_000;
const ROUNDS: usize = 9;

fn event(kind: usize) -> StructuredEvent {
    let mut event = StructuredEvent::default();
    event.header.fixed_header.event_type.domain_name = "Telecom".to_owned();
    event.header.fixed_header.event_type.type_name = format!("T{kind}");
    event
}

/// Connects a consumer that keeps one event, and asks for one type.
fn subscribe(served: &Served, kind: usize) {
    let filter = served.filter(format!("$type_name == 'T{kind}'"));
    let proxy = served.pulls();
    let one = Property {
        name: MAX_EVENTS_PER_CONSUMER.to_owned(),
        value: Any::new(&1).unwrap(),
    };
    proxy.set_qos(&[one]).unwrap();
    proxy.add_filter(Some(&filter)).unwrap();
    proxy.connect_structured_pull_consumer(None).unwrap();
}

fn round(pushes: &StructuredProxyPushConsumer, event: &StructuredEvent) -> Duration {
    let begin = Instant::now();
    for _ in 0..EVENTS {
        pushes.push_structured_event(event).unwrap();
    }
    begin.elapsed() / EVENTS
}

fn main() {
    let served = Served::new(Limits {
        filters: 20_000,
        proxies: 20_000,
        ..Limits::default()
    });
    let (mut consumers, mut of_one) = (0, Duration::ZERO);
    for number in NUMBERS {
        (consumers..number).for_each(|kind| subscribe(&served, kind));
        consumers = number;
        let (pushes, event) = (served.pushes(), event(0));
        // As many events as there are consumers go before the selection is made.
        (0..number).for_each(|_| pushes.push_structured_event(&event).unwrap());
        let rounds = (0..ROUNDS).map(|_| round(&pushes, &event));
        let fastest = rounds.min().unwrap_or_default();
        if number == 1 {
            of_one = fastest;
        }
        let more = fastest.saturating_sub(of_one);
        println!("{number} consumers: {fastest:?} an event, {more:?} more than with one");
    }
    served.end();
}
