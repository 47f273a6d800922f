//! Strategies with threads.

use super::blocking::{Blocking, pool, queued};
use crate::support::peers::{Calls, Numbered, Recorder, event};
use parking_lot::Mutex;
use punctual_rtevent::{
    ConnectError, Filter, Level, OptionsError, Pool, PoolOptions, Pushed, QueueOptions,
    Subscription, ThreadSpec, Threads, ThreadsOptions,
};
use std::sync::{Arc, mpsc};

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
    let blocked = Blocking::connected(&setting, 1);
    setting.push(20, 0, 1);
    blocked[0].begun.recv().unwrap();
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
    setting.push(21, 0, 2);
    drop(blocked);
    last.wait_for(1);
    assert_eq!(*order.lock(), [(0, 7), (0, 3), (1, 0)]);
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
        threads: 65,
        ..ThreadsOptions::default()
    };
    let limit = OptionsError::Limit {
        name: "most_threads",
        limit: 64,
        wanted: 65,
    };
    assert_eq!(Threads::new(options).unwrap_err(), limit);
}

#[test]
fn a_consumer_whose_threads_the_machine_refuses_is_refused() {
    let options = ThreadsOptions {
        thread: Arc::new(|_| ThreadSpec::named("no\0thread")),
        ..ThreadsOptions::default()
    };
    let setting = queued(Arc::new(Threads::new(options).unwrap()));
    let subscription = Subscription::new(Filter::null());
    let refused = setting
        .channel
        .connect_consumer(subscription, Recorder::new());
    assert!(matches!(refused, Err(ConnectError::Thread(_))));
    assert!(setting.channel.statistics().consumers.is_empty());
}

#[test]
fn a_task_that_is_the_last_owner_of_its_strategy_ends_the_strategys_threads() {
    thread_local! {
        /// Dropped when the thread ends.
        static END: std::cell::RefCell<Option<mpsc::Sender<()>>> = const { std::cell::RefCell::new(None) };
    }
    for batch in [1, 64] {
        let setting = pool(1, 1);
        let (begin, begun) = mpsc::channel();
        let (release, wait) = mpsc::channel::<()>();
        let (end, ended) = mpsc::channel();
        let (end, wait) = (Mutex::new(Some(end)), Mutex::new(wait));
        let consumer = Calls(move |_: &[Numbered]| {
            END.set(end.lock().take());
            begin.send(()).unwrap();
            let _ = wait.lock().recv();
            Pushed::Done
        });
        let subscription = Subscription::new(Filter::null()).queue(QueueOptions {
            batch,
            ..QueueOptions::default()
        });
        let connected = setting
            .channel
            .connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
        setting
            .supplier
            .push(&[event(20, 0, 1), event(20, 0, 2)])
            .unwrap();
        begun.recv().unwrap();
        drop(setting);
        drop(release);
        assert!(ended.recv().is_err());
    }
}
