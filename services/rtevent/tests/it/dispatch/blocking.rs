//! Consumers that block, and channels with few threads.

use crate::support::peers::{Calls, Numbered, Setting};
use parking_lot::Mutex;
use punctual_rtevent::{
    ChannelOptions, Consumer, Dispatching, Filter, Pool, PoolOptions, Pushed, Subscription,
};
use std::sync::{Arc, mpsc};
use std::time::Duration;

pub(super) fn queued(dispatcher: Arc<dyn punctual_rtevent::Dispatcher>) -> Setting {
    Setting::new(ChannelOptions {
        dispatching: Dispatching::Queued(dispatcher),
        ..ChannelOptions::default()
    })
}

pub(super) fn pool(threads: usize, most_threads: usize) -> Setting {
    let options = PoolOptions {
        threads,
        most_threads,
        blocked_after: Duration::from_millis(1),
        idle_for: Duration::from_millis(1),
        ..PoolOptions::default()
    };
    queued(Arc::new(Pool::new(options).unwrap()))
}

/// Consumer whose pushes block until `release` is dropped.
pub(super) struct Blocking {
    consumer: Arc<dyn Consumer<u64>>,
    pub(super) begun: mpsc::Receiver<()>,
    pub(super) release: mpsc::Sender<()>,
}

impl Blocking {
    pub(super) fn new() -> Self {
        let (release, wait) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let wait = Mutex::new(wait);
        let consumer = Calls(move |_: &[Numbered]| {
            // The test may have ended.
            let _ = begin.send(());
            let _ = wait.lock().recv();
            Pushed::Done
        });
        Self {
            consumer: Arc::new(consumer),
            begun,
            release,
        }
    }

    pub(super) fn connect(&self, setting: &Setting, subscription: Subscription) {
        let consumer = self.consumer.clone();
        let connected = setting.channel.connect_consumer(subscription, consumer);
        connected.unwrap();
    }

    /// Returns a number of them that are connected for type 20.
    pub(super) fn connected(setting: &Setting, count: usize) -> Vec<Self> {
        let connect = |_| {
            let blocking = Self::new();
            blocking.connect(setting, Subscription::new(Filter::event(20, 0)));
            blocking
        };
        (0..count).map(connect).collect()
    }
}

/// Consumer that reports the thread of each push, and blocks until the test lets it go on.
pub(super) struct Steps {
    pub(super) pushed: mpsc::Receiver<String>,
    go_on: mpsc::Sender<()>,
}

impl Steps {
    /// Returns one that is connected for type 20.
    pub(super) fn connected(setting: &Setting) -> Self {
        Self::subscribed(setting, Subscription::new(Filter::event(20, 0)))
    }

    pub(super) fn subscribed(setting: &Setting, subscription: Subscription) -> Self {
        let (tell, pushed) = mpsc::channel();
        let (go_on, wait) = mpsc::channel();
        let wait = Mutex::new(wait);
        let consumer = Calls(move |_: &[Numbered]| {
            let thread = std::thread::current().name().unwrap_or("").to_owned();
            // The test may have ended.
            let _ = tell.send(thread);
            let _ = wait.lock().recv();
            Pushed::Done
        });
        let channel = &setting.channel;
        let connected = channel.connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
        Self { pushed, go_on }
    }

    /// Waits for a push, and returns its thread.
    pub(super) fn thread(&self) -> String {
        self.pushed.recv().unwrap()
    }

    pub(super) fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }
}
