//! Full queues.

use super::support::Stepped;
use crate::support::peers::{Recorder, Setting, event};
use crate::support::reports::Kept;
use punctual_rtevent::{
    ChannelOptions, ConnectionState, ConsumerHandle, Filter, Lost, Overflow, QueueOptions, Reason,
    Subscription,
};
use std::sync::Arc;
use std::time::Duration;

struct Full {
    stepped: Arc<Stepped>,
    setting: Setting,
    reports: Arc<Kept>,
    recorder: Arc<Recorder>,
    handle: ConsumerHandle<u64>,
}

/// Returns a consumer whose queue has room for three events.
fn three(overflow: Overflow, filter: Filter) -> Full {
    let reports = Kept::new();
    let (stepped, setting) = Stepped::setting(ChannelOptions {
        reports: Some(reports.clone()),
        ..ChannelOptions::default()
    });
    let queue = QueueOptions {
        events: 3,
        overflow,
        ..QueueOptions::default()
    };
    let (recorder, handle) = setting.record(Subscription::new(filter).queue(queue));
    Full {
        stepped,
        setting,
        reports,
        recorder,
        handle,
    }
}

#[test]
fn the_oldest_events_are_dropped() {
    let full = three(Overflow::DropOldest, Filter::null());
    (1..=5).for_each(|number| full.setting.push(20, 0, number));
    full.stepped.run();
    assert_eq!(full.recorder.data(), [3, 4, 5]);
    assert_eq!(full.reports.lost(Lost::Oldest), 2);
    assert_eq!(full.handle.status().dropped, 2);
}

#[test]
fn the_newest_events_are_dropped() {
    let full = three(Overflow::DropNewest, Filter::null());
    (1..=5).for_each(|number| full.setting.push(20, 0, number));
    full.stepped.run();
    assert_eq!(full.recorder.data(), [1, 2, 3]);
    assert_eq!(full.reports.lost(Lost::Newest), 2);
    full.setting.push(20, 0, 6);
    full.stepped.run();
    assert_eq!(full.recorder.data(), [1, 2, 3, 6]);
}

#[test]
fn the_latest_event_of_each_source_replaces_the_one_before_in_its_place() {
    let full = three(Overflow::LatestOfSource, Filter::null());
    for (kind, source, number) in [(20, 1, 1), (20, 2, 2), (20, 1, 3), (21, 1, 4), (20, 2, 5)] {
        full.setting.push(kind, source, number);
    }
    assert_eq!(full.reports.lost(Lost::Superseded), 2);
    // No room, and none of this source: the oldest goes.
    full.setting.push(20, 3, 6);
    assert_eq!(full.reports.lost(Lost::Oldest), 1);
    full.setting.push(20, 1, 7);
    full.stepped.run();
    assert_eq!(full.recorder.data(), [4, 6, 7]);
    full.setting.push(20, 1, 8);
    full.stepped.run();
    assert_eq!(full.recorder.data(), [4, 6, 7, 8]);
    let status = full.handle.status();
    assert_eq!(status.pushed + status.dropped, 8);
}

#[test]
fn a_consumer_with_a_full_queue_is_disconnected() {
    let full = three(Overflow::Disconnect, Filter::null());
    (1..=4).for_each(|number| full.setting.push(20, 0, number));
    assert_eq!(full.recorder.reasons(), [Reason::QueueFull]);
    assert_eq!(full.handle.state(), ConnectionState::Disconnected);
    full.stepped.run();
    assert!(full.recorder.data().is_empty());
    assert_eq!(full.handle.status().dropped, 4);
}

#[test]
fn a_supplier_that_has_waited_as_long_as_it_may_drops_the_event() {
    let full = three(Overflow::Block(Duration::from_millis(1)), Filter::null());
    (1..=5).for_each(|number| full.setting.push(20, 0, number));
    full.stepped.run();
    assert_eq!(full.recorder.data(), [1, 2, 3]);
    assert_eq!(full.reports.lost(Lost::WaitedTooLong), 2);
}

#[test]
fn a_supplier_waits_until_there_is_room_and_nothing_is_lost() {
    let full = three(Overflow::Block(Duration::MAX), Filter::null());
    std::thread::scope(|scope| {
        scope.spawn(|| (1..=100).for_each(|number| full.setting.push(20, 0, number)));
        while full.recorder.data().len() < 100 {
            full.stepped.run();
            std::thread::yield_now();
        }
    });
    assert_eq!(full.recorder.data(), (1..=100).collect::<Vec<_>>());
    assert_eq!(full.handle.status().dropped, 0);
}

#[test]
fn a_push_of_more_events_than_the_queue_holds_waits_for_room_and_loses_none() {
    let full = three(Overflow::Block(Duration::MAX), Filter::null());
    let many: Vec<_> = (1..=100).map(|number| event(20, 0, number)).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| full.setting.supplier.push(&many).unwrap());
        while full.recorder.data().len() < 100 {
            full.stepped.run();
            std::thread::yield_now();
        }
    });
    assert_eq!(full.recorder.data(), (1..=100).collect::<Vec<_>>());
    assert_eq!(full.handle.status().dropped, 0);
}

#[test]
fn a_supplier_that_waits_goes_on_when_the_consumer_is_disconnected_and_its_event_is_counted() {
    let full = three(Overflow::Block(Duration::MAX), Filter::null());
    let flood: Vec<_> = (1..=100).map(|number| event(20, 0, number)).collect();
    std::thread::scope(|scope| {
        let supplier = scope.spawn(|| full.setting.supplier.push(&flood).unwrap());
        while full.handle.status().queued < 3 {
            std::thread::yield_now();
        }
        full.handle.disconnect();
        supplier.join().unwrap();
    });
    assert!(full.recorder.data().is_empty());
    assert_eq!(full.reports.lost(Lost::Disconnected), 100);
    assert_eq!(full.handle.status().dropped, 100);
}

#[test]
fn a_queue_is_bounded_by_bytes_and_takes_one_event_however_large() {
    let (stepped, setting) = Stepped::setting(ChannelOptions::default());
    let queue = |bytes| QueueOptions {
        bytes,
        ..QueueOptions::default()
    };
    let subscription = |bytes| Subscription::new(Filter::null()).queue(queue(bytes));
    let (two, _) = setting.record(subscription(16));
    let (one, _) = setting.record(subscription(1));
    (1..=4).for_each(|number| setting.push(20, 0, number));
    stepped.run();
    assert_eq!(two.data(), [3, 4]);
    assert_eq!(one.data(), [4]);
}

#[test]
fn sets_are_dropped_whole() {
    let pair = Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let full = three(Overflow::DropOldest, pair);
    for number in 1..=4 {
        full.setting.push(20 + number as i32 % 2, 0, number);
    }
    full.stepped.run();
    assert_eq!(full.recorder.pushes(), [vec![3, 4]]);
    assert_eq!(full.reports.lost(Lost::Oldest), 2);
}

#[test]
fn a_flood_is_bounded_by_the_queue() {
    let full = three(Overflow::DropOldest, Filter::null());
    let flood = vec![event(20, 0, 1); 10_000];
    full.setting.supplier.push(&flood).unwrap();
    let status = full.handle.status();
    assert_eq!((status.queued, status.dropped), (3, 9_997));
    full.stepped.run();
}

#[test]
fn a_set_that_waited_too_long_is_lost_whole() {
    let pair = Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let full = three(Overflow::Block(Duration::from_millis(1)), pair);
    for number in 1..=4 {
        full.setting.push(20 + number as i32 % 2, 0, number);
    }
    full.stepped.run();
    assert_eq!(full.recorder.pushes(), [vec![1, 2]]);
    assert_eq!(full.reports.lost(Lost::WaitedTooLong), 2);
}

#[test]
fn conjunctions_that_hold_more_bytes_than_the_queue_may_are_emptied_and_counted() {
    let reports = Kept::new();
    let setting = Setting::new(ChannelOptions {
        reports: Some(reports.clone()),
        ..ChannelOptions::default()
    });
    let queue = QueueOptions {
        bytes: 16,
        ..QueueOptions::default()
    };
    let all = Filter::all_of((20..24).map(|kind| Filter::event(kind, 0)));
    let (recorder, handle) = setting.record(Subscription::new(all).queue(queue));
    let collected = || (handle.status().collected, handle.status().collected_bytes);
    (20..22).for_each(|kind| setting.push(kind, 0, 1));
    assert_eq!(collected(), (2, 16));
    (22..24).for_each(|kind| setting.push(kind, 0, 1));
    assert_eq!(collected(), (1, 8));
    assert!(recorder.data().is_empty());
    assert_eq!(reports.lost(Lost::Correlation), 3);
    assert_eq!(handle.status().dropped, 3);
}
