//! Observers.

use crate::support::peers::{Recorder, Setting, Silent};
use parking_lot::Mutex;
use punctual_rtevent::{ChannelOptions, Filter, Observer, Publications, Selector, Subscription};
use std::sync::Arc;

/// Observer that keeps what it heard.
#[derive(Default)]
struct Heard {
    subscriptions: Mutex<Vec<Vec<Selector>>>,
    publications: Mutex<Vec<Vec<Selector>>>,
}

impl Observer for Heard {
    fn consumers_changed(&self, subscriptions: &[Selector]) {
        self.subscriptions.lock().push(subscriptions.to_vec());
    }

    fn suppliers_changed(&self, publications: &[Selector]) {
        self.publications.lock().push(publications.to_vec());
    }
}

fn selectors(pairs: &[(i32, i32)]) -> Vec<Selector> {
    let selector = |&(kind, source): &(i32, i32)| Selector::new(kind, source);
    pairs.iter().map(selector).collect()
}

#[test]
fn an_observer_hears_what_holds_and_then_each_change() {
    let setting = Setting::new(ChannelOptions::default());
    let (_, first) = setting.filter(Filter::event(20, 1));
    let heard = Arc::new(Heard::default());
    let id = setting.channel.append_observer(heard.clone());
    let (_, second) = setting.filter(Filter::any_of([Filter::event(20, 1), Filter::event(19, 0)]));
    // Nothing new: both want it.
    first.disconnect();
    second
        .change(Subscription::new(Filter::event(19, 0)))
        .unwrap();
    let expected = [
        selectors(&[(20, 1)]),
        selectors(&[(19, 0), (20, 1)]),
        selectors(&[(19, 0)]),
    ];
    assert_eq!(*heard.subscriptions.lock(), expected);
    assert!(setting.channel.remove_observer(id));
    assert!(!setting.channel.remove_observer(id));
    second.disconnect();
    assert_eq!(heard.subscriptions.lock().len(), 3);
}

#[test]
fn an_observer_hears_of_publications() {
    let setting = Setting::new(ChannelOptions::default());
    let heard = Arc::new(Heard::default());
    setting.channel.append_observer(heard.clone());
    let offers = Publications::new([Selector::new(20, 1)]);
    let supplier = setting
        .channel
        .connect_supplier(offers, Arc::new(Silent))
        .unwrap();
    supplier
        .change(Publications::new([Selector::new(21, 1)]))
        .unwrap();
    supplier.disconnect();
    let expected = [
        selectors(&[]),
        selectors(&[(20, 1)]),
        selectors(&[(21, 1)]),
        selectors(&[]),
    ];
    assert_eq!(*heard.publications.lock(), expected);
    assert!(supplier.change(Publications::default()).is_err());
}

#[test]
fn gateways_are_not_observed() {
    let setting = Setting::new(ChannelOptions::default());
    let heard = Arc::new(Heard::default());
    setting.channel.append_observer(heard.clone());
    let subscription = Subscription::new(Filter::event(20, 0)).gateway();
    let connected = setting
        .channel
        .connect_consumer(subscription, Recorder::new());
    connected.unwrap();
    let offers = Publications::new([Selector::new(20, 1)]).gateway();
    let connected = setting.channel.connect_supplier(offers, Arc::new(Silent));
    connected.unwrap();
    assert_eq!(*heard.subscriptions.lock(), [selectors(&[])]);
    assert_eq!(*heard.publications.lock(), [selectors(&[])]);
}

#[test]
fn observers_hear_of_everything_that_a_filter_may_accept() {
    let observed = |filter: Filter| {
        let setting = Setting::new(ChannelOptions::default());
        let heard = Arc::new(Heard::default());
        let (_, _handle) = setting.filter(filter);
        setting.channel.append_observer(heard.clone());
        let subscriptions = heard.subscriptions.lock();
        subscriptions[0].clone()
    };
    let all = selectors(&[(0, 0)]);
    assert_eq!(observed(Filter::null()), all);
    assert_eq!(observed(Filter::not(Filter::event(20, 0))), all);
    assert_eq!(observed(Filter::masked((3, 0), (1, 0))), all);
    assert_eq!(
        observed(Filter::masked((-1, -1), (20, 3))),
        selectors(&[(20, 3)])
    );
    let both = Filter::both([Filter::null(), Filter::event(20, 0), Filter::event(0, 3)]);
    assert_eq!(observed(both), selectors(&[(20, 0)]));
    let timed = Filter::all_of([
        Filter::event(20, 0),
        Filter::bitmask(1, -1, Filter::event(21, 0)),
        Filter::timeout(std::time::Duration::from_secs(1000)),
    ]);
    assert_eq!(observed(timed), selectors(&[(20, 0), (21, 0)]));
    assert_eq!(observed(Filter::nothing()), selectors(&[]));
}

#[test]
fn an_observer_that_changes_subscriptions_hears_what_holds_at_the_end() {
    struct Follows {
        setting: Arc<Setting>,
        heard: Heard,
    }
    impl Observer for Follows {
        fn consumers_changed(&self, subscriptions: &[Selector]) {
            self.heard.consumers_changed(subscriptions);
            if subscriptions.len() == 1 {
                self.setting.filter(Filter::event(30, 0));
            }
        }

        fn suppliers_changed(&self, _: &[Selector]) {}
    }
    let setting = Arc::new(Setting::new(ChannelOptions::default()));
    let follows = Arc::new(Follows {
        setting: setting.clone(),
        heard: Heard::default(),
    });
    let id = setting.channel.append_observer(follows.clone());
    setting.filter(Filter::event(20, 0));
    let last = follows.heard.subscriptions.lock().last().cloned();
    assert_eq!(last, Some(selectors(&[(20, 0), (30, 0)])));
    setting.channel.remove_observer(id);
}
