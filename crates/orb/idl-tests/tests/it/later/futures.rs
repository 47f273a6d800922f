//! Servants with `async` operations, under several executors.

use super::desk::{Desk, exercise};
use super::front::Front;
use super::support::watchdog;
use super::{Pair, by_orb, tcp, until};
use punctual::asynchronous::{Async, BoxFuture, Spawn};
use punctual::{Orb, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

/// Two servers in a row, each an ORB with its client: the first has a [`Front`] servant with
/// `async` operations, which awaits replies of the second, a [`Desk`].
struct Chain {
    desk: Arc<Desk>,
    behind: Pair,
    front: Pair,
    waiting: Arc<AtomicUsize>,
}

impl Chain {
    fn under(executor: impl FnOnce(&Orb) -> Arc<dyn Spawn>, is_abandoning: bool) -> Self {
        let desk = Desk::new();
        let behind = Pair::of(&desk);
        let waiting = Arc::new(AtomicUsize::new(0));
        let front = Front {
            behind: Some(behind.clerk.clone()),
            waiting: waiting.clone(),
            ..Front::default()
        };
        let servant = |orb: &Orb| {
            let servant = Async::shared(executor(orb), Arc::new(front));
            match is_abandoning {
                true => servant.abandoning(),
                false => servant,
            }
        };
        let front = Pair::with(servant, tcp(), |_| {}, |_| {});
        Self {
            desk,
            behind,
            front,
            waiting,
        }
    }

    fn end(self) {
        self.front.end();
        self.behind.end();
    }
}

type Executor = dyn Fn(&Orb) -> Arc<dyn Spawn>;

fn own(orb: &Orb) -> Arc<dyn Spawn> {
    Arc::new(orb.clone())
}

#[test]
fn async_servants_answer_under_tokio_smol_and_the_orbs_own_threads() {
    let _watchdog = watchdog(LIMIT);
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let handle = tokio.handle().clone();
    let by_tokio = Arc::new(move |future: BoxFuture| drop(handle.spawn(future)));
    let by_smol = Arc::new(|future: BoxFuture| smol::spawn(future).detach());
    let executors: [&Executor; 3] = [&own, &move |_| by_tokio.clone(), &move |_| by_smol.clone()];
    for executor in executors {
        let chain = Chain::under(executor, false);
        exercise(&chain.front.clerk).unwrap();
        let stumbled = chain.front.clerk.stumble().unwrap_err();
        assert_eq!(stumbled.kind(), Kind::Unknown);
        assert_eq!(chain.front.clerk.add(2, 3).unwrap(), 5);
        chain.end();
    }
}

#[test]
fn a_future_is_dropped_when_nobody_waits_any_more_by_choice_alone() {
    let _watchdog = watchdog(LIMIT);
    for is_abandoning in [true, false] {
        let chain = Chain::under(own, is_abandoning);
        let cancelled = chain.front.clerk.sendp_wait_at("gate");
        until(|| chain.desk.waiting() == 1);
        drop(cancelled);
        if is_abandoning {
            until(|| chain.waiting.load(Ordering::Acquire) == 0);
        }
        let cut_off = chain.front.clerk.sendp_wait_at("gate");
        until(|| chain.desk.waiting() == 2);
        chain.front.client.shutdown(false).unwrap();
        assert_eq!(cut_off.wait().unwrap_err().kind(), Kind::CommFailure);
        if !is_abandoning {
            assert_eq!(chain.waiting.load(Ordering::Acquire), 2);
            chain.desk.open_gate("gate");
        }
        until(|| chain.waiting.load(Ordering::Acquire) == 0);
        // Unanswered requests prevent an orderly end of an ORB, whether or not they are awaited.
        chain.desk.open_gate("gate");
        chain.front.server.shutdown(true).unwrap();
        chain.behind.end();
    }
}

#[test]
fn a_future_that_its_executor_drops_answers_no_response() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::with(
        |_| Async::on(|future: BoxFuture| drop(future), Front::default()),
        tcp(),
        |_| {},
        |_| {},
    );
    assert_eq!(pair.clerk.add(1, 2).unwrap_err().kind(), Kind::NoResponse);
    pair.end();
}

#[test]
fn a_future_that_nobody_will_ever_wake_answers_no_response_by_the_orbs_own_threads() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::with(by_orb(Front::default()), tcp(), |_| {}, |_| {});
    let never = pair.clerk.wait_at("gate").unwrap_err();
    assert_eq!(never.kind(), Kind::NoResponse);
    exercise(&pair.clerk).unwrap();
    pair.end();
}
