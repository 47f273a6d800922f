//! Options of a channel, and its limits.

use crate::support::peers::{Calls, Recorder, Setting, Silent, event};
use punctual_rtevent::{
    Channel, ChannelOptions, ConnectError, Filter, Liveness, OptionsError, Publications, Pushed,
    QueueOptions, Selector, Subscription,
};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn options_out_of_range_are_refused_by_name() {
    let refused = |options| Channel::<u64>::new(options).unwrap_err();
    let zero = |name| OptionsError::Zero { name };
    let defaults = ChannelOptions::default;
    let options = ChannelOptions {
        most_failures: 0,
        ..defaults()
    };
    assert_eq!(refused(options), zero("most_failures"));
    let options = ChannelOptions {
        levels_per_consumer: 0,
        ..defaults()
    };
    assert_eq!(refused(options), zero("levels_per_consumer"));
    let options = ChannelOptions {
        liveness: Some(Liveness {
            interval: Duration::ZERO,
            most_unanswered: 1,
        }),
        ..defaults()
    };
    assert_eq!(refused(options), zero("liveness.interval"));
    for resolution in [Duration::ZERO, Duration::from_secs(2)] {
        let options = ChannelOptions {
            timer_resolution: resolution,
            ..defaults()
        };
        assert_eq!(refused(options), OptionsError::Resolution(resolution));
    }
}

#[test]
fn a_queue_without_room_is_refused() {
    let setting = Setting::new(ChannelOptions::default());
    for (events, batch) in [(0, 1), (1, 0)] {
        let queue = QueueOptions {
            events,
            batch,
            ..QueueOptions::default()
        };
        let subscription = Subscription::new(Filter::null()).queue(queue);
        let refused = setting
            .channel
            .connect_consumer(subscription, Recorder::new());
        assert!(matches!(refused, Err(ConnectError::Queue(_))));
    }
}

#[test]
fn numbers_of_peers_are_limited() {
    let setting = Setting::new(ChannelOptions {
        most_consumers: 1,
        most_suppliers: 2,
        most_publications: 1,
        ..ChannelOptions::default()
    });
    let (_, handle) = setting.filter(Filter::null());
    let connect = || {
        let subscription = Subscription::new(Filter::null());
        setting
            .channel
            .connect_consumer(subscription, Recorder::new())
    };
    assert!(matches!(
        connect(),
        Err(ConnectError::Full { limit: 1, .. })
    ));
    handle.disconnect();
    assert!(connect().is_ok());
    let supply = |count| {
        let publications = Publications::new(vec![Selector::new(20, 0); count]);
        setting
            .channel
            .connect_supplier(publications, Arc::new(Silent))
    };
    assert!(matches!(
        supply(2),
        Err(ConnectError::Full { limit: 1, .. })
    ));
    let supplier = supply(1).unwrap();
    assert!(matches!(
        supply(1),
        Err(ConnectError::Full { limit: 2, .. })
    ));
    supplier.disconnect();
    assert!(supply(1).is_ok());
}

#[test]
fn consumers_that_answer_their_own_events_are_refused_at_a_depth() {
    let setting = Setting::new(ChannelOptions {
        most_nesting: 5,
        ..ChannelOptions::default()
    });
    let supplier = setting.supplier.clone();
    let consumer = Calls(move |_: &[_]| match supplier.push(&[event(20, 0, 1)]) {
        Ok(()) => Pushed::Done,
        Err(error) => Pushed::Failed(error.to_string()),
    });
    let subscription = Subscription::new(Filter::event(20, 0));
    let handle = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer))
        .unwrap();
    setting.push(20, 0, 1);
    let status = handle.status();
    assert_eq!((status.pushed, status.failed), (4, 1));
    // As deep again the next time.
    setting.push(20, 0, 1);
    assert_eq!(handle.status().failed, 2);
}
