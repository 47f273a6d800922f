//! Timers on threads.

use crate::support::peers::{Calls, Numbered, Setting};
use punctual_rtevent::{
    ChannelOptions, Dispatching, Filter, Level, Pool, PoolOptions, Pushed, Subscription, ThreadSpec,
};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

#[test]
fn timers_expire_by_themselves_and_never_early() {
    let setting = Setting::new(ChannelOptions::default());
    let begin = Instant::now();
    let length = Duration::from_millis(3);
    let (tell, told) = mpsc::channel();
    let consumer = Calls(move |_: &[Numbered]| {
        // The test may have ended.
        let _ = tell.send(begin.elapsed());
        Pushed::Done
    });
    let subscription = Subscription::new(Filter::interval(length));
    let connected = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    connected.unwrap();
    for count in 1..=5 {
        assert!(told.recv().unwrap() >= length * count);
    }
}

#[test]
fn timers_of_each_level_have_a_thread_as_it_was_specified() {
    let setting = Setting::new(ChannelOptions {
        timer_thread: Arc::new(|level| ThreadSpec::named(format!("timers {}", level.priority))),
        ..ChannelOptions::default()
    });
    let (tell, told) = mpsc::channel();
    for priority in [1, 2] {
        let tell = tell.clone();
        let consumer = Calls(move |_: &[Numbered]| {
            let thread = std::thread::current();
            tell.send((priority, thread.name().unwrap().to_owned()))
                .unwrap();
            Pushed::Done
        });
        let subscription = Subscription::new(Filter::timeout(Duration::from_millis(1)))
            .level(Level::new(0, priority));
        let connected = setting
            .channel
            .connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
    }
    let mut names = [told.recv().unwrap(), told.recv().unwrap()];
    names.sort();
    assert_eq!(names, [1, 2].map(|one| (one, format!("timers {one}"))));
}

#[test]
fn an_earlier_timer_wakes_the_thread() {
    let setting = Setting::new(ChannelOptions::default());
    let (_late, _) = setting.filter(Filter::timeout(Duration::from_secs(100_000)));
    let (early, _) = setting.filter(Filter::timeout(Duration::from_millis(1)));
    early.wait_for(1);
}

#[test]
fn events_of_timers_go_through_queues() {
    let pool = Pool::new(PoolOptions {
        thread: ThreadSpec::named("queue"),
        ..PoolOptions::default()
    });
    let setting = Setting::new(ChannelOptions {
        dispatching: Dispatching::Queued(Arc::new(pool.unwrap())),
        ..ChannelOptions::default()
    });
    let (tell, told) = mpsc::channel();
    let consumer = Calls(move |_: &[Numbered]| {
        let thread = std::thread::current();
        tell.send(thread.name().unwrap().to_owned()).unwrap();
        Pushed::Done
    });
    let subscription = Subscription::new(Filter::timeout(Duration::from_millis(1)));
    let connected = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    connected.unwrap();
    assert_eq!(told.recv().unwrap(), "queue");
}
