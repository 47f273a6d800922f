//! Strategies with threads.

use crate::support::peers::{Calls, Numbered, Recorder, Setting, event};
use parking_lot::Mutex;
use punctual_rtevent::{
    ChannelOptions, Dispatching, Filter, Level, OptionsError, Pool, PoolOptions, Pushed,
    QueueOptions, Subscription, ThreadSpec, Threads, ThreadsOptions,
};
use std::sync::{Arc, mpsc};
use std::time::Duration;

fn queued(dispatcher: Arc<dyn punctual_rtevent::Dispatcher>) -> Setting {
    Setting::new(ChannelOptions {
        dispatching: Dispatching::Queued(dispatcher),
        ..ChannelOptions::default()
    })
}

fn pool(threads: usize, most_threads: usize) -> Setting {
    let options = PoolOptions {
        threads,
        most_threads,
        blocked_after: Duration::from_millis(1),
        idle_for: Duration::from_millis(1),
        ..PoolOptions::default()
    };
    queued(Arc::new(Pool::new(options).unwrap()))
}

/// Consumer whose first push returns when the sender is dropped.
fn blocking() -> (
    Arc<Calls<impl Fn(&[Numbered]) -> Pushed>>,
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (release, wait) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    let wait = Mutex::new(wait);
    let consumer = Calls(move |_: &[Numbered]| {
        // The test may have ended.
        let _ = begin.send(());
        let _ = wait.lock().recv();
        Pushed::Done
    });
    (Arc::new(consumer), begun, release)
}

#[test]
fn each_level_has_threads_as_they_were_specified() {
    let options = ThreadsOptions {
        thread: Arc::new(|level| ThreadSpec::named(format!("level {}", level.priority))),
        ..ThreadsOptions::default()
    };
    let threads = Arc::new(Threads::new(options).unwrap());
    let setting = queued(threads.clone());
    let (tell, told) = mpsc::channel();
    for priority in [1, 2, 3] {
        let tell = tell.clone();
        let consumer = Calls(move |_: &[Numbered]| {
            let thread = std::thread::current();
            tell.send((priority, thread.name().unwrap().to_owned()))
                .unwrap();
            Pushed::Done
        });
        let subscription = Subscription::new(Filter::null()).level(Level::new(0, priority));
        let connected = setting
            .channel
            .connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
    }
    setting.push(20, 0, 1);
    let mut names: Vec<_> = (0..3).map(|_| told.recv().unwrap()).collect();
    names.sort();
    let expected = [1, 2, 3].map(|priority| (priority, format!("level {priority}")));
    assert_eq!(names, expected);
    let levels = [3, 2, 1].map(|priority| Level::new(0, priority));
    assert_eq!(threads.levels(), levels);
}

#[test]
fn levels_beyond_the_limit_share_threads() {
    let options = ThreadsOptions {
        most_levels: 2,
        ..ThreadsOptions::default()
    };
    let threads = Arc::new(Threads::new(options).unwrap());
    let setting = queued(threads.clone());
    let recorders = [5, 1, 3, 9, 0].map(|priority| {
        let subscription = Subscription::new(Filter::null()).level(Level::new(0, priority));
        setting.record(subscription).0
    });
    setting.push(20, 0, 1);
    recorders.iter().for_each(|recorder| recorder.wait_for(1));
    assert_eq!(threads.levels().len(), 2);
}

#[test]
fn one_consumers_events_stay_in_order_on_many_threads() {
    let setting = pool(4, 4);
    let recorders: Vec<_> = (0..4).map(|_| setting.filter(Filter::null()).0).collect();
    for number in 1..=2_000 {
        setting.push(20, 0, number);
    }
    for recorder in recorders {
        recorder.wait_for(2_000);
        assert_eq!(recorder.data(), (1..=2_000).collect::<Vec<_>>());
    }
}

#[test]
fn a_pool_takes_the_most_urgent_work_first() {
    let setting = pool(1, 1);
    let (consumer, begun, release) = blocking();
    let subscription = Subscription::new(Filter::event(30, 0));
    let connected = setting.channel.connect_consumer(subscription, consumer);
    connected.unwrap();
    setting.push(30, 0, 1);
    begun.recv().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let last = Recorder::new();
    for level in [(1, 0), (0, 3), (0, 7)] {
        let order = order.clone();
        let consumer = Calls(move |_: &[Numbered]| {
            order.lock().push(level);
            Pushed::Done
        });
        let subscription = Subscription::new(Filter::null()).level(Level::new(level.0, level.1));
        let connected = setting
            .channel
            .connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
    }
    let subscription = Subscription::new(Filter::null()).level(Level::new(9, 0));
    let connected = setting.channel.connect_consumer(subscription, last.clone());
    connected.unwrap();
    setting.push(20, 0, 2);
    drop(release);
    last.wait_for(1);
    assert_eq!(*order.lock(), [(0, 7), (0, 3), (1, 0)]);
}

#[test]
fn a_consumer_that_blocks_does_not_hold_up_the_others_of_its_level() {
    let options = ThreadsOptions {
        blocked_after: Duration::from_millis(1),
        idle_for: Duration::from_millis(1),
        most_threads: 3,
        ..ThreadsOptions::default()
    };
    let setting = queued(Arc::new(Threads::new(options).unwrap()));
    let subscription = || Subscription::new(Filter::event(20, 0));
    let blocked: Vec<_> = (0..2)
        .map(|_| {
            let (consumer, begun, release) = blocking();
            let connected = setting.channel.connect_consumer(subscription(), consumer);
            connected.unwrap();
            (begun, release)
        })
        .collect();
    let (recorder, _) = setting.record(subscription());
    for number in 1..=3 {
        setting.push(20, 0, number);
        recorder.wait_for(number as usize);
    }
    assert_eq!(recorder.data(), [1, 2, 3]);
    drop(blocked);
}

#[test]
fn consumers_that_block_occupy_no_more_threads_than_the_limit() {
    let setting = pool(1, 2);
    let all: Vec<_> = (0..3)
        .map(|_| {
            let (consumer, begun, release) = blocking();
            let subscription = Subscription::new(Filter::event(20, 0));
            let connected = setting.channel.connect_consumer(subscription, consumer);
            connected.unwrap();
            (begun, release)
        })
        .collect();
    setting.push(20, 0, 1);
    let [(first, release), (second, _second), (third, _third)] = all.try_into().ok().unwrap();
    first.recv().unwrap();
    second.recv().unwrap();
    // Both threads are in pushes.
    assert!(third.try_recv().is_err());
    drop(release);
    third.recv().unwrap();
}

#[test]
fn a_consumer_may_destroy_the_channel_within_its_push() {
    let setting = pool(2, 2);
    let channel = setting.channel.clone();
    let (tell, told) = mpsc::channel();
    let consumer = Calls(move |_: &[Numbered]| {
        channel.destroy();
        tell.send(()).unwrap();
        Pushed::Done
    });
    let subscription = Subscription::new(Filter::event(20, 0));
    let connected = setting
        .channel
        .connect_consumer(subscription, Arc::new(consumer));
    connected.unwrap();
    let (recorder, _) = setting.filter(Filter::event(21, 0));
    setting.push(20, 0, 1);
    told.recv().unwrap();
    recorder.wait_for_disconnection();
    assert!(setting.supplier.push(&[event(20, 0, 2)]).is_err());
}

#[test]
fn threads_end_with_the_strategy_and_release_their_consumers() {
    let setting = pool(2, 2);
    let (recorder, handle) = setting.filter(Filter::null());
    setting.push(20, 0, 1);
    recorder.wait_for(1);
    let weak = Arc::downgrade(&recorder);
    drop((recorder, handle, setting));
    while weak.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn a_consumer_that_fails_on_a_thread_is_disconnected() {
    let setting = pool(1, 1);
    let (recorder, _) = setting.record(Subscription::new(Filter::null()).queue(QueueOptions {
        batch: 1,
        ..QueueOptions::default()
    }));
    recorder.answer(Pushed::Failed("refused".to_owned()));
    setting.supplier.push(&vec![event(20, 0, 1); 10]).unwrap();
    recorder.wait_for_disconnection();
    assert_eq!(recorder.data().len(), 3);
}

#[test]
fn options_of_strategies_are_checked() {
    let zero = |name| OptionsError::Zero { name };
    let options = PoolOptions {
        threads: 0,
        ..PoolOptions::default()
    };
    assert_eq!(Pool::new(options).unwrap_err(), zero("threads"));
    let options = ThreadsOptions {
        most_levels: 0,
        ..ThreadsOptions::default()
    };
    assert_eq!(Threads::new(options).unwrap_err(), zero("most_levels"));
    let options = ThreadsOptions {
        threads: 9,
        ..ThreadsOptions::default()
    };
    let limit = OptionsError::Limit {
        name: "most_threads",
        limit: 8,
        wanted: 9,
    };
    assert_eq!(Threads::new(options).unwrap_err(), limit);
}
