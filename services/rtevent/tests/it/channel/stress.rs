//! Subscriptions that change while events pass.
//!
//! `PUNCTUAL_RTEVENT_EVENTS` is the number of events.

use crate::support::peers::{Calls, Setting, event};
use punctual_rtevent::{ChannelOptions, Filter, Pushed, Subscription};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn events() -> u64 {
    let given = std::env::var("PUNCTUAL_RTEVENT_EVENTS");
    given.map_or(50_000, |count| count.parse().unwrap())
}

/// Consumer that checks that numbers arrive without gap and repeat, from two suppliers.
struct Exact {
    last: [AtomicU64; 2],
}

impl Exact {
    fn receive(&self, supplier: i32, number: u64) {
        let last = self.last[supplier as usize].swap(number, Ordering::Relaxed);
        assert_eq!(last + 1, number, "supplier {supplier}");
    }
}

#[test]
fn consumers_that_do_not_change_lose_and_double_nothing_while_others_do() {
    let setting = Setting::new(ChannelOptions {
        most_routes: 3,
        ..ChannelOptions::default()
    });
    let exact = Arc::new(Exact {
        last: [AtomicU64::new(0), AtomicU64::new(0)],
    });
    let checked = exact.clone();
    let consumer = Calls(move |events: &[crate::support::peers::Numbered]| {
        for event in events {
            checked.receive(event.header.source, event.data);
        }
        Pushed::Done
    });
    let subscription =
        Subscription::new(Filter::any_of([Filter::event(20, 0), Filter::event(21, 0)]));
    let handle = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    let is_done = AtomicBool::new(false);
    let per_supplier = events() / 2;
    std::thread::scope(|scope| {
        let suppliers = [0, 1].map(|source| {
            let supplier = &setting.supplier;
            scope.spawn(move || {
                for number in 1..=per_supplier {
                    let kind = 20 + (number % 2) as i32;
                    supplier.push(&[event(kind, source, number)]).unwrap();
                }
            })
        });
        scope.spawn(|| {
            // Whole and limited filters in turn, on consumers that come, change and go.
            for round in 0_i32.. {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                let consumer = Arc::new(Calls(|_: &[_]| Pushed::Done));
                let filter = |round: i32| match round % 3 {
                    0 => Filter::null(),
                    1 => Filter::event(20, 0),
                    _ => Filter::all_of([Filter::event(21, 0), Filter::event(20, 1)]),
                };
                let subscription = Subscription::new(filter(round));
                let other = setting
                    .channel
                    .connect_consumer(subscription, consumer)
                    .unwrap();
                other.change(Subscription::new(filter(round + 1))).unwrap();
                other.disconnect();
            }
        });
        for supplier in suppliers {
            supplier.join().unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(handle.unwrap().status().pushed, 2 * per_supplier);
}

#[test]
fn a_consumer_that_changes_between_two_subscriptions_to_a_type_receives_each_event_once() {
    let setting = Setting::new(ChannelOptions::default());
    let next = AtomicU64::new(0);
    let next = Arc::new(next);
    let checked = next.clone();
    let consumer = Calls(move |events: &[crate::support::peers::Numbered]| {
        for event in events {
            let before = checked.swap(event.data, Ordering::Relaxed);
            assert_eq!(before + 1, event.data);
        }
        Pushed::Done
    });
    // Both accept the events that are pushed.
    let subscriptions = [Filter::event(20, 0), Filter::event(0, 1)].map(Subscription::new);
    let handle = setting
        .channel
        .connect_consumer(subscriptions[0].clone(), Arc::new(consumer))
        .unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    return;
                }
                handle.change(subscriptions[round % 2].clone()).unwrap();
            }
        });
        for number in 1..=events() {
            setting.push(20, 1, number);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(next.load(Ordering::Relaxed), events());
}
