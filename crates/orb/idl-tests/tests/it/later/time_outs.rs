//! Responses that a servant keeps longer than its time limit.

use super::desk::Desk;
use super::generated::asynchronous::Clerk;
use super::support::watchdog;
use super::{Pair, over_wire, tcp, until};
use punctual::asynchronous::{Amh, AnswerError};
use punctual::poa::{AnswerTimeoutPolicy, PoaPolicy};
use punctual::policy::Collocation;
use punctual::{
    CompletionStatus, ListenEndpoint, Orb, OrbConfig, RootPoa, SystemException,
    SystemExceptionKind as Kind, minor,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
const SOON: Duration = Duration::from_millis(50);

fn within(time: Option<Duration>) -> impl FnOnce(&mut OrbConfig) {
    move |config| config.timeouts.answer = time
}

fn unanswered(orb: &Orb) -> u64 {
    orb.lane_statistics()
        .iter()
        .map(|lane| lane.unanswered)
        .sum()
}

fn assert_time_out(raised: &SystemException) {
    let said = (raised.kind(), raised.minor(), raised.completed());
    let wanted = (
        Kind::Timeout,
        minor::ANSWER_TIMED_OUT,
        CompletionStatus::Maybe,
    );
    assert_eq!(said, wanted, "{raised}");
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_response_that_is_kept_beyond_its_time_out_is_answered_with_timeout_and_counted() {
    let _watchdog = watchdog(LIMIT);
    for strategy in super::answers::strategies() {
        let desk = Desk::new();
        let server = |config: &mut OrbConfig| {
            config.concurrency = strategy;
            config.timeouts.answer = Some(SOON);
        };
        let pair = Pair::with(|_| Amh::shared(desk.clone()), tcp(), server, |_| {});
        assert_time_out(&pair.clerk.wait_at("gate").unwrap_err());
        let (_, response) = desk.waiting.lock().unwrap().pop().unwrap();
        until(|| !response.is_awaited());
        assert_eq!(unanswered(&pair.server), 1);
        assert_eq!(response.reply(1), Err(AnswerError::TimedOut));
        // The connection stays open, and timely answers work as before.
        assert_eq!(pair.clerk.add(1, 2).unwrap(), 3);
        assert_eq!(unanswered(&pair.server), 1);
        pair.end();
    }
}

#[test]
fn whoever_watches_a_response_is_woken_at_its_time_out() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let servant = |_: &Orb| Amh::shared(desk.clone());
    let pair = Pair::with(servant, tcp(), within(Some(Duration::from_secs(1))), |_| {});
    let waits = pair.clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    let woken = Arc::new(Woken::default());
    assert!(
        desk.waiting.lock().unwrap()[0]
            .1
            .watch(&Waker::from(woken.clone()))
    );
    assert_time_out(&waits.wait().unwrap_err());
    until(|| woken.0.load(Ordering::Relaxed) == 1);
    pair.end();
}

#[test]
fn of_many_responses_those_that_are_kept_time_out_and_no_others() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let servant = |_: &Orb| Amh::shared(desk.clone());
    let server = within(Some(Duration::from_millis(500)));
    let pair = Pair::with(servant, tcp(), server, |_| {});
    let calls: Vec<_> = (0..1000)
        .map(|number| match number % 2 {
            0 => pair.clerk.sendp_wait_at("gate"),
            _ => pair.clerk.sendp_add(number, 1),
        })
        .collect();
    for (number, call) in (0..1000).zip(calls) {
        match call.wait() {
            Ok(sum) => assert_eq!((number % 2, sum), (1, number + 1)),
            Err(raised) => {
                assert_eq!(number % 2, 0);
                assert_time_out(&raised);
            }
        }
    }
    until(|| unanswered(&pair.server) == 500);
    pair.end();
}

#[test]
fn an_orb_that_ends_waits_for_a_kept_response_no_longer_than_for_its_time_out() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let servant = |_: &Orb| Amh::shared(desk.clone());
    let server = within(Some(Duration::from_millis(200)));
    let pair = Pair::with(servant, tcp(), server, |_| {});
    let waits = pair.clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    pair.server.shutdown(true).unwrap();
    assert_time_out(&waits.wait().unwrap_err());
    pair.client.shutdown(true).unwrap();
}

#[test]
fn a_poa_says_how_long_its_servants_may_take() {
    let _watchdog = watchdog(LIMIT);
    let by_wire = |config: &mut OrbConfig| config.collocation = Collocation::None;
    let client = Orb::builder().configure(by_wire).build().unwrap();
    let server = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.timeouts.answer = Some(SOON))
        .build()
        .unwrap();
    let root = server.root_poa().unwrap();
    root.manager().activate().unwrap();
    let clerk = |name: &str, policy, desk: &Arc<Desk>| {
        let policies = [PoaPolicy::AnswerTimeout(policy)];
        let poa = root.create_poa(name, Some(root.manager()), &policies);
        let clerk: Clerk = poa.unwrap().activate(Amh::shared(desk.clone())).unwrap();
        over_wire(&server, &client, &clerk)
    };
    let (patient, hasty) = (Desk::new(), Desk::new());
    let never = clerk("never", AnswerTimeoutPolicy::Never, &patient);
    let soon = clerk("soon", AnswerTimeoutPolicy::After(SOON), &hasty);
    let waits = never.sendp_wait_at("gate");
    until(|| patient.waiting() == 1);
    for _ in 0..3 {
        assert_time_out(&soon.sendp_wait_at("gate").wait().unwrap_err());
    }
    assert_eq!(patient.waiting(), 1);
    patient.open_gate("gate");
    assert_eq!(waits.wait().unwrap(), 4);
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}
