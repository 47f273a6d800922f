//! Consumers that fail, panic, or are gone.

use crate::support::peers::{Calls, Setting, event};
use crate::support::reports::Kept;
use punctual_rtevent::{
    ChannelOptions, ConnectionState, Filter, Lost, PushError, Pushed, Reason, Subscription,
};
use std::sync::Arc;

#[test]
fn a_consumer_that_fails_too_often_in_a_row_is_disconnected() {
    let reports = Kept::new();
    let setting = Setting::new(ChannelOptions {
        most_failures: 3,
        reports: Some(reports.clone()),
        ..ChannelOptions::default()
    });
    let (recorder, handle) = setting.filter(Filter::null());
    let failed = Pushed::Failed("no route".to_owned());
    for answer in [&failed, &failed, &Pushed::Done, &failed, &failed] {
        recorder.answer(answer.clone());
        setting.push(20, 0, 1);
        assert_eq!(handle.state(), ConnectionState::Connected);
    }
    setting.push(20, 0, 1);
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    let reason = Reason::Failed("no route".to_owned());
    assert_eq!(recorder.reasons(), std::slice::from_ref(&reason));
    assert_eq!(reports.disconnected(), [(handle.id(), reason)]);
    let status = handle.status();
    assert_eq!((status.pushed, status.failed), (1, 5));
    assert_eq!(reports.lost(Lost::Refused), 5);
}

#[test]
fn a_consumer_that_is_gone_is_disconnected_at_once() {
    let setting = Setting::new(ChannelOptions::default());
    let (recorder, handle) = setting.filter(Filter::null());
    let (other, _) = setting.filter(Filter::null());
    recorder.answer(Pushed::Gone("OBJECT_NOT_EXIST".to_owned()));
    setting.push(20, 0, 1);
    setting.push(20, 0, 2);
    assert_eq!(recorder.data(), [1]);
    let reason = Reason::Gone("OBJECT_NOT_EXIST".to_owned());
    assert_eq!(recorder.reasons(), [reason]);
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    assert_eq!(other.data(), [1, 2]);
}

#[test]
fn a_consumer_that_panics_has_failed_and_others_receive() {
    let setting = Setting::new(ChannelOptions {
        most_failures: 2,
        ..ChannelOptions::default()
    });
    let panics = Calls(|_: &[_]| panic!("on purpose"));
    let subscription = Subscription::new(Filter::null());
    let handle = setting
        .channel
        .connect_consumer(subscription, Arc::new(panics))
        .unwrap();
    let (other, _) = setting.filter(Filter::null());
    setting.push(20, 0, 1);
    assert_eq!(handle.state(), ConnectionState::Connected);
    setting.push(20, 0, 2);
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    assert_eq!(other.data(), [1, 2]);
    assert_eq!(handle.status().failed, 2);
}

#[test]
fn an_event_that_is_too_large_refuses_the_whole_set() {
    let setting = Setting::new(ChannelOptions {
        largest_event: 7,
        ..ChannelOptions::default()
    });
    let (recorder, _) = setting.filter(Filter::null());
    let refused = setting.supplier.push(&[event(20, 0, 1)]);
    let too_large = PushError::TooLarge {
        index: 0,
        size: 8,
        limit: 7,
    };
    assert_eq!(refused, Err(too_large));
    assert!(recorder.data().is_empty());
}
