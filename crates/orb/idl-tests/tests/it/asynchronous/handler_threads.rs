//! Choice of the threads that run reply handlers (setting `reply_handlers`).

use super::Pair;
use super::support::watchdog;
use punctual::config::ReplyHandlers;
use punctual::policy::{AtBound, CallsInFlight};
use punctual::{
    Interface, ListenEndpoint, Orb, Policy, SetOverride, SystemException, SystemExceptionKind,
};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Choices by which the main thread runs handlers.
const BY_MAIN_THREAD: [ReplyHandlers; 2] = [ReplyHandlers::Run, ReplyHandlers::Reactor];

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
    for handlers in BY_MAIN_THREAD {
        let pair = pair(handlers);
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
}

#[test]
fn handlers_that_the_main_thread_has_not_run_are_run_at_the_shutdown_each_once() {
    let _watchdog = watchdog(Duration::from_secs(120));
    BY_MAIN_THREAD.into_iter().for_each(run_at_the_shutdown);
}

fn run_at_the_shutdown(handlers: ReplyHandlers) {
    let pair = pair(handlers);
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
    // A reply that no thread has read by then is lost.
    let are_read = handlers == ReplyHandlers::Run;
    assert!(!are_read || heard.iter().any(|(_, is_answered)| *is_answered));
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

#[test]
fn the_main_thread_reads_replies_itself_when_it_asks_for_work_and_no_other_thread_does() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Reactor);
    assert!(!pair.client.perform_work().unwrap());
    let heard = sums(&pair, 100);
    wait_for_work(&pair.client);
    assert!(heard.try_recv().is_err(), "before it was asked for");
    let mut sums = Vec::new();
    while sums.len() < 100 {
        pair.client.perform_work_within(A_MOMENT).unwrap();
        sums.extend(heard.try_iter());
    }
    let me = thread::current().id();
    assert!(sums.into_iter().eq((0..100).map(|number| (me, number))));
    // Another thread is none that does this work.
    let heard = self::sums(&pair, 1);
    wait_for_work(&pair.client);
    let by_another = || pair.client.perform_work_within(A_MOMENT).unwrap();
    assert!(!thread::scope(|scope| scope
        .spawn(by_another)
        .join()
        .unwrap()));
    assert!(heard.try_recv().is_err(), "run by another thread");
    while heard.try_recv().is_err() {
        pair.client.perform_work_within(A_MOMENT).unwrap();
    }
    pair.end();
}

#[test]
fn the_time_out_of_a_call_whose_replies_the_main_thread_reads_is_noticed_while_it_runs() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Reactor);
    let hurried = pair.clerk.as_object().with_timeout(A_MOMENT);
    let (say, heard) = mpsc::channel();
    let handler = move |waited: Result<i32, SystemException>| say.send(waited).unwrap();
    super::Clerk::from_object(hurried).sendc_wait_at(handler, "gate");
    let waited = loop {
        pair.client.perform_work_within(A_MOMENT).unwrap();
        if let Ok(waited) = heard.try_recv() {
            break waited;
        }
    };
    assert_eq!(waited.unwrap_err().kind(), SystemExceptionKind::Timeout);
    pair.clerk.open("gate").unwrap();
    pair.end();
}

#[test]
fn futures_are_waited_for_on_the_calling_thread_by_each_choice() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for handlers in [ReplyHandlers::Thread, ReplyHandlers::Reactor] {
        let pair = pair(handlers);
        let all = async {
            let (first, second) = (pair.clerk.add_async(1, 2), pair.clerk.add_async(3, 4));
            second.await.unwrap() + first.await.unwrap()
        };
        assert_eq!(pair.client.block_on(all), 10, "{handlers:?}");
        // What another thread completes meanwhile.
        let is_set = Arc::new(AtomicBool::new(false));
        let (give, given) = mpsc::channel::<std::task::Waker>();
        thread::scope(|scope| {
            let set = is_set.clone();
            scope.spawn(move || {
                let waker = given.recv().unwrap();
                thread::sleep(A_MOMENT);
                set.store(true, Ordering::Release);
                waker.wake();
            });
            let waits = std::future::poll_fn(|context| match is_set.load(Ordering::Acquire) {
                true => Poll::Ready(()),
                false => {
                    // Received once.
                    let _ = give.send(context.waker().clone());
                    Poll::Pending
                }
            });
            pair.client.block_on(pin!(waits));
        });
        pair.end();
    }
}

#[test]
fn the_main_thread_does_not_wait_for_calls_that_only_it_can_end() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Reactor);
    let one = Policy::CallsInFlight(CallsInFlight::new(1, AtBound::Block));
    let bounded = pair.clerk.as_object();
    let bounded = bounded.set_policy_overrides(&[one], SetOverride::Add);
    let bounded = super::Clerk::from_object(bounded.unwrap());
    let (say, heard) = mpsc::channel();
    for number in 0..2 {
        let say = say.clone();
        bounded.sendc_add(move |sum| say.send(sum).unwrap(), number, 0);
    }
    let mut ended: Vec<Result<i32, SystemException>> = Vec::new();
    while ended.len() < 2 {
        pair.client.perform_work_within(A_MOMENT).unwrap();
        ended.extend(heard.try_iter());
    }
    let raised = ended.iter().filter_map(|ended| ended.as_ref().err());
    let raised: Vec<_> = raised.map(SystemException::kind).collect();
    assert_eq!(raised, [SystemExceptionKind::Transient]);
    pair.end();
}

#[test]
fn a_call_in_progress_at_the_shutdown_ends_when_the_main_thread_reads_no_longer() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Reactor);
    let (say, heard) = mpsc::channel();
    let tell = say.clone();
    let handler = move |waited: Result<i32, SystemException>| say.send(waited.is_ok()).unwrap();
    pair.clerk.sendc_wait_at(handler, "gate");
    thread::scope(|scope| {
        let runs = scope.spawn(|| pair.client.run());
        // The main thread is in `run` when it calls this handler.
        let is_in = move |sum: Result<i32, SystemException>| tell.send(sum.is_ok()).unwrap();
        pair.clerk.sendc_add(is_in, 1, 2);
        assert!(heard.recv().unwrap());
        pair.client.shutdown(true).unwrap();
        runs.join().unwrap();
    });
    assert!(!heard.recv().unwrap(), "there was no reply");
    pair.server.shutdown(false).unwrap();
}

#[test]
fn a_handler_may_wait_for_a_future_and_no_other_handler_is_called_within_it() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = pair(ReplyHandlers::Reactor);
    let (say, heard) = mpsc::channel();
    for number in 0..1000 {
        let (say, orb, clerk) = (say.clone(), pair.client.clone(), pair.clerk.clone());
        let handler = move |sum: Result<i32, SystemException>| {
            say.send((number, "begins")).unwrap();
            let more = orb.block_on(clerk.add_async(sum.unwrap(), 1)).unwrap();
            assert_eq!(more, number + 1);
            say.send((number, "ends")).unwrap();
        };
        pair.clerk.sendc_add(handler, number, 0);
    }
    let mut order = Vec::new();
    while order.len() < 2000 {
        pair.client.perform_work_within(A_MOMENT).unwrap();
        order.extend(heard.try_iter());
    }
    let each = |number| [(number, "begins"), (number, "ends")];
    assert!(order.into_iter().eq((0..1000).flat_map(each)));
    pair.end();
}
