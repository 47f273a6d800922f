//! Questions to peers whether they are alive.

use crate::support::peers::{Recorder, Setting, Silent};
use parking_lot::Mutex;
use punctual_rtevent::{
    Alive, ChannelOptions, Clock, ConnectionState, Consumer, Event, Filter, Liveness, Publications,
    Pushed, Reason, Subscription, Supplier,
};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

fn asking(most_unanswered: u32, clock: Clock) -> ChannelOptions {
    ChannelOptions {
        clock,
        liveness: Some(Liveness {
            interval: Duration::from_millis(10),
            most_unanswered,
        }),
        ..ChannelOptions::default()
    }
}

const TICK: u64 = 10_000_000;

/// Consumer that does not return from the question before its sender is dropped.
struct Stuck(mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>);
impl Consumer<u64> for Stuck {
    fn push(&self, _: &[Event<u64>]) -> Pushed {
        Pushed::Done
    }

    fn is_alive(&self) -> Alive {
        let _ = self.1.lock().recv();
        Alive::Yes
    }

    fn disconnected(&self, _: &Reason) {
        // The test may have ended.
        let _ = self.0.send(());
    }
}

#[test]
fn a_consumer_that_is_gone_is_disconnected_at_the_next_question() {
    let setting = Setting::new(asking(3, Clock::Manual));
    let (recorder, handle) = setting.filter(Filter::null());
    assert_eq!(setting.channel.advance(TICK), Some(2 * TICK));
    assert_eq!(handle.state(), ConnectionState::Connected);
    recorder.set_alive(Alive::No);
    setting.channel.advance(2 * TICK - 1);
    assert_eq!(handle.state(), ConnectionState::Connected);
    setting.channel.advance(2 * TICK);
    assert_eq!(recorder.reasons(), [Reason::NotAlive]);
}

#[test]
fn a_consumer_that_does_not_answer_is_disconnected_after_several_questions() {
    let setting = Setting::new(asking(3, Clock::Manual));
    let (recorder, handle) = setting.filter(Filter::null());
    let unknown_then = |answer, last| {
        recorder.set_alive(Alive::Unknown);
        setting.channel.advance(last - TICK);
        recorder.set_alive(answer);
        setting.channel.advance(last);
    };
    unknown_then(Alive::Yes, 3 * TICK);
    assert_eq!(handle.state(), ConnectionState::Connected);
    unknown_then(Alive::Unknown, 6 * TICK);
    assert_eq!(handle.state(), ConnectionState::Disconnected);
    assert_eq!(recorder.reasons(), [Reason::NotAlive]);
}

#[test]
fn a_supplier_that_is_gone_is_disconnected() {
    struct Gone(mpsc::Sender<Reason>);
    impl Supplier for Gone {
        fn is_alive(&self) -> Alive {
            Alive::No
        }

        fn disconnected(&self, reason: &Reason) {
            self.0.send(reason.clone()).unwrap();
        }
    }
    let setting = Setting::new(asking(3, Clock::Manual));
    let (tell, told) = mpsc::channel();
    let offers = Publications::default();
    let gone = setting
        .channel
        .connect_supplier(offers, Arc::new(Gone(tell)));
    setting.channel.advance(TICK);
    assert!(!gone.unwrap().is_connected());
    assert!(setting.supplier.is_connected());
    assert_eq!(told.recv(), Ok(Reason::NotAlive));
}

#[test]
fn a_peer_that_never_returns_from_the_question_counts_as_one_without_an_answer() {
    let setting = Setting::new(asking(2, Clock::Monotonic));
    let (tell, told) = mpsc::channel();
    let (_end, wait) = mpsc::channel();
    let stuck = Stuck(tell, Mutex::new(wait));
    let subscription = Subscription::new(Filter::null());
    let handle = setting
        .channel
        .connect_consumer(subscription, Arc::new(stuck));
    told.recv().unwrap();
    assert_eq!(handle.unwrap().state(), ConnectionState::Disconnected);
    // Others are still asked.
    let recorder = Recorder::new();
    recorder.set_alive(Alive::No);
    let subscription = Subscription::new(Filter::null());
    let connected = setting
        .channel
        .connect_consumer(subscription, recorder.clone());
    connected.unwrap();
    recorder.wait_for_disconnection();
    let offers = Publications::default();
    setting
        .channel
        .connect_supplier(offers, Arc::new(Silent))
        .unwrap();
}

#[test]
fn a_peer_whose_question_waits_for_hung_ones_is_not_disconnected_before_it_was_asked() {
    #[derive(Debug, PartialEq)]
    enum Call {
        Asked,
        Disconnected,
    }
    struct Living(mpsc::Sender<Call>);
    impl Consumer<u64> for Living {
        fn push(&self, _: &[Event<u64>]) -> Pushed {
            Pushed::Done
        }

        fn is_alive(&self) -> Alive {
            // The test may have ended.
            let _ = self.0.send(Call::Asked);
            Alive::Yes
        }

        fn disconnected(&self, _: &Reason) {
            let _ = self.0.send(Call::Disconnected);
        }
    }
    let setting = Setting::new(asking(2, Clock::Monotonic));
    let connect = |consumer: Arc<dyn Consumer<u64>>| {
        let subscription = Subscription::new(Filter::null());
        let connected = setting.channel.connect_consumer(subscription, consumer);
        connected.unwrap();
    };
    let (tell, told) = mpsc::channel();
    // As many as there are threads that ask.
    let mut releases = Vec::new();
    for _ in 0..8 {
        let (release, wait) = mpsc::channel();
        connect(Arc::new(Stuck(tell.clone(), Mutex::new(wait))));
        releases.push(release);
    }
    let (call, called) = mpsc::channel();
    connect(Arc::new(Living(call)));
    (0..8).for_each(|_| told.recv().unwrap());
    assert_eq!(called.try_recv(), Err(mpsc::TryRecvError::Empty));
    drop(releases);
    assert_eq!(called.recv(), Ok(Call::Asked));
}
