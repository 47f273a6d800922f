//! Routes that are kept, and changes of subscriptions.

use crate::support::peers::{Setting, event};
use punctual_rtevent::{ChannelOptions, Filter, Level, Subscription};

#[test]
fn the_number_of_kept_routes_is_limited_and_events_of_others_are_delivered() {
    for most_routes in [0, 1, 10] {
        let setting = Setting::new(ChannelOptions {
            most_routes,
            ..ChannelOptions::default()
        });
        let (recorder, _) = setting.filter(Filter::null());
        for _ in 0..2 {
            for kind in 0..1_000 {
                setting.push(kind, kind, 1);
            }
            assert!(setting.channel.statistics().routes <= most_routes);
        }
        assert_eq!(recorder.data().len(), 2_000);
    }
}

#[test]
fn a_change_removes_the_routes_of_its_types_only() {
    let setting = Setting::new(ChannelOptions::default());
    let (first, _) = setting.filter(Filter::event(20, 0));
    for source in 0..10 {
        setting.push(20, source, 1);
        setting.push(21, source, 1);
    }
    assert_eq!(setting.channel.statistics().routes, 20);
    let (second, handle) = setting.filter(Filter::event(21, 3));
    assert_eq!(setting.channel.statistics().routes, 10);
    setting.push(21, 3, 2);
    handle
        .change(Subscription::new(Filter::event(20, 3)))
        .unwrap();
    assert_eq!(setting.channel.statistics().routes, 0);
    setting.push(20, 3, 3);
    setting.push(21, 3, 4);
    assert_eq!(second.data(), [2, 3]);
    assert_eq!(first.data().len(), 11);
    let (all, _) = setting.filter(Filter::null());
    assert_eq!(setting.channel.statistics().routes, 0);
    setting.push(20, 3, 5);
    assert_eq!(all.data(), [5]);
}

#[test]
fn reactive_consumers_receive_by_level_and_then_by_time_of_connection() {
    let setting = Setting::new(ChannelOptions::default());
    let order = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let levels = [(1, 5), (0, 1), (0, 9), (0, 1), (1, 9)];
    for (number, (group, priority)) in levels.into_iter().enumerate() {
        let order = order.clone();
        let consumer = crate::support::peers::Calls(move |_: &[_]| {
            order.lock().push(number);
            punctual_rtevent::Pushed::Done
        });
        let subscription = Subscription::new(Filter::null()).level(Level::new(group, priority));
        let connected = setting
            .channel
            .connect_consumer(subscription, std::sync::Arc::new(consumer));
        connected.unwrap();
    }
    setting.push(20, 0, 1);
    assert_eq!(*order.lock(), [2, 1, 3, 4, 0]);
}

#[test]
fn events_of_one_push_reach_each_consumer_as_one_push_in_their_order() {
    let setting = Setting::new(ChannelOptions::default());
    let (all, _) = setting.filter(Filter::null());
    let (some, _) = setting.filter(Filter::event(20, 0));
    let (pairs, _) = setting.filter(Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]));
    let events = [
        event(20, 0, 1),
        event(21, 0, 2),
        event(20, 1, 3),
        event(22, 0, 4),
    ];
    setting.supplier.push(&events).unwrap();
    setting
        .supplier
        .push(&[event(20, 0, 5), event(20, 0, 6)])
        .unwrap();
    assert_eq!(all.pushes(), [vec![1, 2, 3, 4], vec![5, 6]]);
    assert_eq!(some.pushes(), [vec![1, 3], vec![5, 6]]);
    assert_eq!(pairs.pushes(), [vec![1, 2]]);
}

#[test]
fn a_push_of_no_events_reaches_no_consumer() {
    let setting = Setting::new(ChannelOptions::default());
    let (all, _) = setting.filter(Filter::null());
    setting.supplier.push(&[]).unwrap();
    assert!(all.pushes().is_empty());
}
