//! Connecting, changing, suspending and disconnecting.

use crate::support::peers::{Calls, Recorder, Setting, Silent, event};
use parking_lot::Mutex;
use punctual_rtevent::{
    Channel, ChannelOptions, ConnectError, ConnectionState, ConsumerHandle, Filter, Publications,
    PushError, Pushed, Reason, Subscription,
};
use std::sync::{Arc, OnceLock};

fn setting() -> Setting {
    Setting::new(ChannelOptions::default())
}

#[test]
fn a_consumer_receives_the_events_that_its_filter_accepts() {
    let setting = setting();
    let (typed, _) = setting.filter(Filter::event(20, 0));
    let (sourced, _) = setting.filter(Filter::event(0, 7));
    setting.push(20, 7, 1);
    setting.push(21, 7, 2);
    setting.push(20, 8, 3);
    assert_eq!(typed.data(), [1, 3]);
    assert_eq!(sourced.data(), [1, 2]);
}

#[test]
fn events_arrive_with_headers_and_data_as_they_were_pushed() {
    let setting = setting();
    let (recorder, _) = setting.filter(Filter::null());
    let mut pushed = event(20, -7, 9);
    (pushed.header.ttl, pushed.header.created) = (-3, u64::MAX);
    (pushed.header.received, pushed.header.sent) = (5, 6);
    setting.supplier.push(&[pushed.clone()]).unwrap();
    setting.supplier.push_owned(vec![pushed.clone()]).unwrap();
    assert_eq!(recorder.take(), [pushed.clone(), pushed]);
}

#[test]
fn a_suspended_consumer_loses_events_and_they_are_counted() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::null());
    setting.push(20, 0, 1);
    handle.suspend().unwrap();
    assert_eq!(handle.state(), ConnectionState::Suspended);
    setting.push(20, 0, 2);
    setting.push(20, 0, 3);
    handle.resume().unwrap();
    setting.push(20, 0, 4);
    assert_eq!(recorder.data(), [1, 4]);
    let status = handle.status();
    assert_eq!((status.pushed, status.suspended), (2, 2));
}

#[test]
fn a_suspended_conjunction_collects_nothing() {
    let setting = setting();
    let pair = Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let (recorder, handle) = setting.filter(pair);
    setting.push(20, 0, 1);
    handle.suspend().unwrap();
    setting.push(21, 0, 2);
    handle.resume().unwrap();
    setting.push(21, 0, 3);
    assert_eq!(recorder.pushes(), [vec![1, 3]]);
}

#[test]
fn a_changed_subscription_replaces_the_old_one_and_begins_empty() {
    let setting = setting();
    let pair = || Filter::all_of([Filter::event(20, 0), Filter::event(21, 0)]);
    let (recorder, handle) = setting.filter(pair());
    setting.push(20, 0, 1);
    handle.change(Subscription::new(pair())).unwrap();
    setting.push(21, 0, 2);
    assert!(recorder.data().is_empty());
    setting.push(20, 0, 3);
    assert_eq!(recorder.pushes(), [vec![2, 3]]);
    handle
        .change(Subscription::new(Filter::event(22, 0)))
        .unwrap();
    setting.push(20, 0, 4);
    setting.push(22, 0, 5);
    assert_eq!(recorder.pushes()[1..], [vec![5]]);
}

#[test]
fn a_refused_change_leaves_the_subscription_as_it_was() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::event(20, 0));
    let impossible = Filter::interval(std::time::Duration::ZERO);
    assert!(handle.change(Subscription::new(impossible)).is_err());
    setting.push(20, 0, 1);
    assert_eq!(recorder.data(), [1]);
}

#[test]
fn a_consumer_that_disconnects_itself_is_not_called_and_hears_no_more() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::null());
    setting.push(20, 0, 1);
    handle.disconnect();
    handle.disconnect();
    setting.push(20, 0, 2);
    assert_eq!(recorder.data(), [1]);
    assert!(recorder.reasons().is_empty());
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    for refused in [handle.suspend(), handle.resume()] {
        assert!(matches!(refused, Err(ConnectError::Disconnected)));
    }
    let change = handle.change(Subscription::new(Filter::null()));
    assert!(matches!(change, Err(ConnectError::Disconnected)));
}

#[test]
fn a_consumer_connected_twice_receives_twice() {
    let setting = setting();
    let recorder = Recorder::new();
    let connect = || {
        let subscription = Subscription::new(Filter::null());
        let connected = setting
            .channel
            .connect_consumer(subscription, recorder.clone());
        connected.unwrap()
    };
    let (first, _second) = (connect(), connect());
    setting.push(20, 0, 1);
    first.disconnect();
    setting.push(20, 0, 2);
    assert_eq!(recorder.data(), [1, 1, 2]);
}

#[test]
fn a_consumer_may_disconnect_change_connect_and_push_within_its_push() {
    let setting = setting();
    let own: Arc<OnceLock<ConsumerHandle<u64>>> = Arc::default();
    let (of_push, channel, supplier) = (
        own.clone(),
        setting.channel.clone(),
        setting.supplier.clone(),
    );
    let recorder = Recorder::new();
    let later = recorder.clone();
    let consumer = Calls(move |_: &[_]| {
        let handle = of_push.get().unwrap();
        handle
            .change(Subscription::new(Filter::event(21, 0)))
            .unwrap();
        let subscription = Subscription::new(Filter::event(22, 0));
        channel
            .connect_consumer(subscription, later.clone())
            .unwrap();
        supplier.push(&[event(22, 0, 5)]).unwrap();
        handle.disconnect();
        Pushed::Done
    });
    let subscription = Subscription::new(Filter::event(20, 0));
    let handle = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    own.set(handle.unwrap()).unwrap();
    setting.push(20, 0, 1);
    setting.push(20, 0, 2);
    assert_eq!(recorder.data(), [5]);
    assert_eq!(setting.channel.statistics().consumers.len(), 1);
}

#[test]
fn a_destroyed_channel_disconnects_all_and_refuses_more() {
    let setting = setting();
    let (recorder, handle) = setting.filter(Filter::null());
    setting.channel.destroy();
    setting.channel.destroy();
    assert_eq!(recorder.reasons(), [Reason::Destroyed]);
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    let refused = setting.supplier.push(&[event(20, 0, 1)]);
    assert_eq!(refused, Err(PushError::Disconnected));
    let subscription = Subscription::new(Filter::null());
    let refused = setting.channel.connect_consumer(subscription, recorder);
    assert!(matches!(refused, Err(ConnectError::Destroyed)));
    let publications = Publications::default();
    let refused = setting
        .channel
        .connect_supplier(publications, Arc::new(Silent));
    assert!(matches!(refused, Err(ConnectError::Destroyed)));
}

#[test]
fn dropping_the_last_channel_destroys_it() {
    let setting = setting();
    let (recorder, _handle) = setting.filter(Filter::null());
    let Setting { channel, supplier } = setting;
    let other: Channel<u64> = channel.clone();
    drop(channel);
    assert!(supplier.push(&[event(20, 0, 1)]).is_ok());
    drop(other);
    assert_eq!(recorder.reasons(), [Reason::Destroyed]);
    assert!(!supplier.is_connected());
}

#[test]
fn a_dropped_consumer_may_call_the_channel() {
    struct CallsWhenDropped(Channel<u64>, Arc<Mutex<usize>>);
    impl punctual_rtevent::Consumer<u64> for CallsWhenDropped {
        fn push(&self, _: &[punctual_rtevent::Event<u64>]) -> Pushed {
            Pushed::Done
        }
    }
    impl Drop for CallsWhenDropped {
        fn drop(&mut self) {
            *self.1.lock() = self.0.statistics().consumers.len();
        }
    }
    let setting = setting();
    let seen = Arc::new(Mutex::new(99));
    let consumer = CallsWhenDropped(setting.channel.clone(), seen.clone());
    let subscription = Subscription::new(Filter::event(20, 0));
    let connected = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    setting.push(20, 0, 1);
    // The route is the last owner but this handle.
    let handle = connected.unwrap();
    handle.disconnect();
    drop(handle);
    assert_eq!(*seen.lock(), 0);
}
