//! Questions to peers whether they are alive.

use crate::support::peers::{Recorder, Setting, Silent};
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
    struct Stuck(mpsc::Sender<()>, parking_lot::Mutex<mpsc::Receiver<()>>);
    impl Consumer<u64> for Stuck {
        fn push(&self, _: &[Event<u64>]) -> Pushed {
            Pushed::Done
        }

        fn is_alive(&self) -> Alive {
            // Returns when the test ends.
            let _ = self.1.lock().recv();
            Alive::Yes
        }

        fn disconnected(&self, _: &Reason) {
            self.0.send(()).unwrap();
        }
    }
    let setting = Setting::new(asking(2, Clock::Monotonic));
    let (tell, told) = mpsc::channel();
    let (_end, wait) = mpsc::channel();
    let stuck = Stuck(tell, parking_lot::Mutex::new(wait));
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
