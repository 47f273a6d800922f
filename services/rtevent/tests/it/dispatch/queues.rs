//! Queues of consumers.

use super::support::Stepped;
use crate::support::peers::{Calls, event};
use parking_lot::Mutex;
use punctual_rtevent::{ChannelOptions, Filter, Pushed, QueueOptions, Subscription};
use std::sync::Arc;

fn batches_of(batch: usize) -> Subscription {
    Subscription::new(Filter::null()).queue(QueueOptions {
        batch,
        ..QueueOptions::default()
    })
}

#[test]
fn events_wait_until_the_strategy_runs_the_queue_and_keep_their_order() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let (recorder, handle) = setting.record(batches_of(64));
    for number in 1..=5 {
        setting.push(20 + number as i32 % 2, 0, number);
    }
    assert!(recorder.data().is_empty());
    let status = handle.status();
    assert_eq!(
        (status.queued, status.queued_bytes, status.pushed),
        (5, 40, 0)
    );
    assert_eq!(stepped.waiting().len(), 1);
    stepped.run();
    assert_eq!(recorder.pushes(), [vec![1, 2, 3, 4, 5]]);
    let status = handle.status();
    assert_eq!(
        (status.queued, status.queued_bytes, status.pushed),
        (0, 0, 5)
    );
    assert_eq!(status.pushes, 1);
}

#[test]
fn a_queue_is_served_in_batches_and_takes_turns_with_others() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let order = Arc::new(Mutex::new(Vec::new()));
    for name in ["one", "two"] {
        let order = order.clone();
        let consumer = Calls(move |events: &[crate::support::peers::Numbered]| {
            order.lock().push((name, events.len()));
            Pushed::Done
        });
        let connected = setting
            .channel
            .connect_consumer(batches_of(2), Arc::new(consumer));
        connected.unwrap();
    }
    setting.supplier.push(&vec![event(20, 0, 1); 5]).unwrap();
    stepped.run();
    let expected = [
        ("one", 2),
        ("two", 2),
        ("one", 2),
        ("two", 2),
        ("one", 1),
        ("two", 1),
    ];
    assert_eq!(*order.lock(), expected);
}

#[test]
fn a_set_of_a_conjunction_is_pushed_alone_and_whole() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let triple = Filter::all_of([20, 21, 22].map(|kind| Filter::event(kind, 0)));
    let filter = Filter::any_of([Filter::event(30, 0), triple]);
    let queue = QueueOptions {
        batch: 2,
        ..QueueOptions::default()
    };
    let (recorder, _) = setting.record(Subscription::new(filter).queue(queue));
    for (number, kind) in [30, 30, 30, 20, 21, 22, 30, 22, 20, 21]
        .into_iter()
        .enumerate()
    {
        setting.push(kind, 0, number as u64);
    }
    stepped.run();
    let expected = [vec![0, 1], vec![2], vec![3, 4, 5], vec![6], vec![7, 8, 9]];
    assert_eq!(recorder.pushes(), expected);
}

#[test]
fn events_that_wait_for_a_disconnected_consumer_are_dropped_and_counted() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let (recorder, handle) = setting.record(batches_of(64));
    setting.push(20, 0, 1);
    setting.push(20, 0, 2);
    handle.disconnect();
    stepped.run();
    assert!(recorder.data().is_empty());
    let status = handle.status();
    assert_eq!((status.dropped, status.queued), (2, 0));
}

#[test]
fn events_that_wait_while_their_consumer_is_suspended_are_dropped_when_their_turn_comes() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let (recorder, handle) = setting.record(batches_of(64));
    setting.push(20, 0, 1);
    handle.suspend().unwrap();
    stepped.run();
    handle.resume().unwrap();
    setting.push(20, 0, 2);
    stepped.run();
    assert_eq!(recorder.data(), [2]);
    assert_eq!(handle.status().suspended, 1);
}

#[test]
fn a_changed_subscription_changes_the_queue_and_keeps_what_is_in_it() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let (recorder, handle) = setting.record(batches_of(64));
    (1..=4).for_each(|number| setting.push(20, 0, number));
    handle.change(batches_of(3)).unwrap();
    setting.push(20, 0, 5);
    stepped.run();
    assert_eq!(recorder.pushes(), [vec![1, 2, 3], vec![4, 5]]);
}

#[test]
fn a_push_within_a_push_waits_behind_what_is_in_the_queue() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (of_push, supplier) = (seen.clone(), setting.supplier.clone());
    let consumer = Calls(move |events: &[crate::support::peers::Numbered]| {
        for one in events {
            of_push.lock().push(one.data);
            if one.data < 3 {
                supplier.push(&[event(20, 0, one.data + 10)]).unwrap();
            }
        }
        Pushed::Done
    });
    let connected = setting
        .channel
        .connect_consumer(batches_of(1), Arc::new(consumer));
    connected.unwrap();
    (1..=3).for_each(|number| setting.push(20, 0, number));
    stepped.run();
    assert_eq!(*seen.lock(), [1, 2, 3, 11, 12]);
}
