//! Choice of the threads that run reply handlers (setting `reply_handlers`).

use super::Pair;
use super::support::watchdog;
use punctual::config::ReplyHandlers;
use punctual::{Interface, ListenEndpoint, Orb};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, ThreadId};
use std::time::Duration;

const A_MOMENT: Duration = Duration::from_millis(5);

fn pair(handlers: ReplyHandlers) -> Pair {
    let endpoint = ListenEndpoint::iiop("127.0.0.1", 0);
    Pair::whose_client(|config| config.reply_handlers = handlers, endpoint)
}

/// Makes `count` calls; each handler reports its thread and its result.
fn sums(pair: &Pair, count: i32) -> Receiver<(ThreadId, i32)> {
    let (say, heard) = mpsc::channel();
    for number in 0..count {
        let say = say.clone();
        let handler = move |sum: Result<i32, _>| {
            let told = (thread::current().id(), sum.unwrap());
            say.send(told).unwrap();
        };
        pair.clerk.sendc_add(handler, number, 0);
    }
    heard
}

fn wait_for_work(orb: &Orb) {
    while !orb.work_pending() {
        thread::yield_now();
    }
}

#[test]
fn the_main_thread_runs_handlers_one_at_a_time_when_it_asks_for_work() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Run);
    // The first thread that asks becomes the main thread.
    assert!(!pair.client.perform_work().unwrap());
    let heard = sums(&pair, 2);
    for number in 0..2 {
        wait_for_work(&pair.client);
        assert!(heard.try_recv().is_err(), "before it was asked for");
        assert!(pair.client.perform_work().unwrap());
        assert_eq!(heard.try_recv(), Ok((thread::current().id(), number)));
    }
    assert!(!pair.client.perform_work().unwrap());
    pair.end();
}

#[test]
fn the_main_thread_runs_handlers_while_it_runs_the_orb() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Run);
    let heard = sums(&pair, 1000);
    let mut sums = Vec::new();
    while sums.len() < 1000 {
        assert!(!pair.client.run_for(A_MOMENT));
        sums.extend(heard.try_iter());
    }
    let me = thread::current().id();
    assert!(sums.into_iter().eq((0..1000).map(|number| (me, number))));
    pair.end();
}

#[test]
fn handlers_that_the_main_thread_has_not_run_are_run_at_the_shutdown_each_once() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Run);
    let (say, heard) = mpsc::channel();
    for number in 0..100 {
        let say = say.clone();
        // Some calls may have no reply when the ORB ends.
        let handler = move |sum: Result<i32, _>| say.send((number, sum.is_ok())).unwrap();
        pair.clerk.sendc_add(handler, number, 0);
    }
    drop(say);
    wait_for_work(&pair.client);
    let (say, gave_up) = mpsc::channel();
    // This call has no reply yet.
    let handler = move |waited: Result<i32, _>| say.send(waited.is_err()).unwrap();
    pair.clerk.sendc_wait_at(handler, "gate");
    pair.client.shutdown(true).unwrap();
    let mut heard: Vec<(i32, bool)> = heard.iter().collect();
    heard.sort_unstable();
    assert!(heard.iter().any(|(_, is_answered)| *is_answered));
    assert!(heard.into_iter().map(|(number, _)| number).eq(0..100));
    assert!(gave_up.recv().unwrap());
    assert!(gave_up.recv().is_err(), "called twice");
    pair.server.shutdown(false).unwrap();
}

/// Calls `wait_at` on one thread. On another thread, opens the gate of an asynchronous call, whose
/// handler opens the gate of the first call. Returns the thread that ran the handler.
fn handler_within_a_call(pair: &Pair, round: usize) -> ThreadId {
    let (first, second) = (format!("first {round}"), format!("second {round}"));
    let (say, heard) = mpsc::channel();
    let (clerk, gate) = (pair.clerk.clone(), second.clone());
    let handler = move |waited: Result<i32, _>| {
        waited.unwrap();
        // A call within a call, by the connection that is being waited on.
        clerk.open(&gate).unwrap();
        say.send(thread::current().id()).unwrap();
    };
    pair.clerk.sendc_wait_at(handler, &first);
    let other = Orb::builder().build().unwrap();
    let text = pair.server.object_to_string(&pair.clerk).unwrap();
    let opener = super::Clerk::from_object(other.string_to_object(&text).unwrap());
    thread::scope(|scope| {
        let waits = scope.spawn(|| {
            pair.clerk.wait_at(&second).unwrap();
            thread::current().id()
        });
        opener.open(&first).unwrap();
        let (ran, waited) = (heard.recv().unwrap(), waits.join().unwrap());
        other.shutdown(true).unwrap();
        if ran == waited {
            waited
        } else {
            thread::current().id()
        }
    })
}

#[test]
fn a_blocked_caller_runs_handlers_meanwhile_which_may_call_by_the_same_connection() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Callers);
    let me = thread::current().id();
    // If the gate opens before this thread waits, the other thread has run the handler.
    let by_caller = (0..1000).any(|round| handler_within_a_call(&pair, round) != me);
    assert!(by_caller);
    // No thread is blocked in a call.
    assert_eq!(sums(&pair, 100).iter().count(), 100);
    pair.end();
}

#[test]
fn by_default_a_blocked_caller_runs_no_handlers() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::default());
    let me = thread::current().id();
    assert!((0..20).all(|round| handler_within_a_call(&pair, round) == me));
    pair.end();
}
