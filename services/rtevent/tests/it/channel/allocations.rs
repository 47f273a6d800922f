//! Warm events allocate nothing.

use crate::support::peers::{Calls, Setting, event};
use punctual_heap::allocations_of;
use punctual_rtevent::{ChannelOptions, Clock, Filter, Pushed, Subscription};
use std::sync::Arc;
use std::time::Duration;

/// Returns a channel whose consumers keep nothing.
fn setting(filters: impl IntoIterator<Item = Filter>) -> Setting {
    let setting = Setting::new(ChannelOptions {
        clock: Clock::Manual,
        ..ChannelOptions::default()
    });
    for filter in filters {
        let consumer = Arc::new(Calls(|_: &[_]| Pushed::Done));
        let connected = setting
            .channel
            .connect_consumer(Subscription::new(filter), consumer);
        connected.unwrap();
    }
    setting
}

/// Returns the number of allocations of an action after it has run a few times.
fn warm(mut action: impl FnMut()) -> u64 {
    (0..8).for_each(|_| action());
    allocations_of(|| (0..16).for_each(|_| action()))
}

#[test]
fn a_warm_event_of_plain_subscriptions_allocates_nothing() {
    let setting = setting((0..10).map(|_| Filter::event(20, 0)));
    let events = [event(20, 1, 1), event(20, 1, 2)];
    assert_eq!(warm(|| setting.supplier.push(&events).unwrap()), 0);
}

#[test]
fn a_warm_event_of_conjunctions_and_deadlines_allocates_nothing() {
    let pair = || Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let nested = Filter::all_of([pair(), Filter::event(22, 0)]);
    let timed = Filter::any_of([
        Filter::event(20, 0),
        Filter::deadline(Duration::from_secs(1)),
    ]);
    let setting = setting([pair(), nested, timed]);
    let push = || {
        for kind in 20..24 {
            setting.push(kind, 0, 1);
        }
    };
    assert_eq!(warm(push), 0);
}

#[test]
fn a_warm_push_of_several_types_allocates_nothing() {
    let pair = Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let setting = setting([Filter::null(), Filter::event(20, 0), pair]);
    let events = [event(20, 0, 1), event(21, 0, 2), event(20, 1, 3)];
    assert_eq!(warm(|| setting.supplier.push(&events).unwrap()), 0);
}
