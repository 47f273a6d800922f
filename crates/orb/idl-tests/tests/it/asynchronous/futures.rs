//! Pollers as futures, under several executors.

use super::Pair;
use super::support::watchdog;
use punctual::{ListenEndpoint, SystemExceptionKind as Kind};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end: a minimal executor.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Makes calls in sequence, many calls concurrently, and one call that waits until another has been
/// served.
async fn calls(clerk: super::generated::asynchronous::Clerk) {
    let mut sum = 0;
    for number in 0..50 {
        sum = clerk.add_async(sum, number).await.unwrap();
    }
    assert_eq!(sum, 1225);
    let waits = clerk.wait_at_async("a gate");
    let many: Vec<_> = (0..200).map(|a| clerk.add_async(a, a)).collect();
    for (a, one) in (0..).zip(many) {
        assert_eq!(one.await.unwrap(), 2 * a);
    }
    clerk.open_async("a gate").await.unwrap();
    assert_eq!(waits.await.unwrap(), 6);
    assert!(clerk.copies_async("x", &0).await.is_err());
    let large = vec![3; 100_000];
    assert_eq!(clerk.back_async(&large).await.unwrap(), large);
    let stumbled = clerk.stumble_async().await.unwrap_err();
    assert_eq!(stumbled.kind(), Kind::Unknown);
}

fn endpoints() -> [ListenEndpoint; 2] {
    let path = std::env::temp_dir().join(format!("punctual-futures-{}", std::process::id()));
    let shared_memory = format!("shmiop://{}", path.display());
    [
        ListenEndpoint::iiop("127.0.0.1", 0),
        shared_memory.parse().unwrap(),
    ]
}

#[test]
fn futures_are_awaited_under_tokio_smol_and_a_plain_loop() {
    let _watchdog = watchdog(Duration::from_secs(240));
    for endpoint in endpoints() {
        let pair = Pair::at(endpoint);
        block_on(calls(pair.clerk.clone()));
        smol::block_on(calls(pair.clerk.clone()));
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let tasks: Vec<_> = (0..4)
            .map(|_| tokio.spawn(calls(pair.clerk.clone())))
            .collect();
        for task in tasks {
            tokio.block_on(task).unwrap();
        }
        drop(tokio);
        pair.end();
    }
}

#[test]
fn a_synchronous_call_may_wait_on_the_connection_of_a_future() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for endpoint in endpoints() {
        let pair = Pair::at(endpoint);
        thread::scope(|scope| {
            let clerk = &pair.clerk;
            let waits = scope.spawn(move || clerk.wait_at("synchronous"));
            // This thread reads the connection, or another does: each reply reaches its own caller.
            for number in 0..20 {
                assert_eq!(block_on(clerk.add_async(number, 1)).unwrap(), number + 1);
            }
            block_on(clerk.open_async("synchronous")).unwrap();
            assert_eq!(waits.join().unwrap().unwrap(), 11);
        });
        pair.end();
    }
}

#[test]
fn a_future_may_be_waited_for_after_it_was_polled() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let mut waits = pair.clerk.wait_at_async("late");
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(&mut waits).poll(&mut context).is_pending());
    pair.clerk.open("late").unwrap();
    assert_eq!(waits.wait().unwrap(), 4);
    pair.end();
}

#[test]
fn what_an_orb_that_ends_has_not_answered_fails() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let waits = pair.clerk.wait_at_async("never");
    let client = pair.client.clone();
    let ends = thread::spawn(move || client.shutdown(false).unwrap());
    let failed = block_on(waits).unwrap_err();
    assert_eq!(failed.kind(), Kind::CommFailure, "{failed}");
    ends.join().unwrap();
    pair.clerk.add_async(1, 1).wait().unwrap_err();
    pair.server.shutdown(false).unwrap();
}
