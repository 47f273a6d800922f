//! One-ways, with each SyncScope: by wire and within the process alike.

use super::fixture::{Near, Pair};
use super::generated::intercepted::Account;
use super::recorder::{Point, Recorder, Records};
use super::support::watchdog;
use punctual::interceptor::ReplyStatus as Status;
use punctual::policy::SyncScope;
use punctual::{Interface, Orb, Policy, SetOverride};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_one_way_ends_as_far_as_it_is_waited_for() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let reply = Some(Status::Successful);
    for near in [Near::ByWire, Near::WithinProcess] {
        for (scope, at_client, at_server) in [
            (SyncScope::None, Point::ReceiveOther, Point::SendOther),
            (
                SyncScope::WithTransport,
                Point::ReceiveOther,
                Point::SendOther,
            ),
            (SyncScope::WithServer, Point::ReceiveReply, Point::SendOther),
            (SyncScope::WithTarget, Point::ReceiveReply, Point::SendReply),
        ] {
            let records = Arc::new(Records::default());
            let recorder = |name| Arc::new(Recorder(name, records.clone()));
            let pair = Pair::new(
                near,
                Orb::builder().server_interceptor(recorder("s1")),
                Orb::builder().client_interceptor(recorder("c1")),
            );
            let object = pair.account().as_object().clone();
            let scope = Policy::SyncScope(scope);
            let object =
                object.set_policy_overrides(std::slice::from_ref(&scope), SetOverride::Add);
            let account = Account::from_object(object.unwrap());
            account.note("one").unwrap();
            let client = records.take("c");
            // This call is served on the same connection, and so after it.
            account.deposit(1).unwrap();
            let mut server = records.take("s");
            assert_eq!(
                client,
                [("c1", Point::SendRequest, None), ("c1", at_client, reply)],
                "{near:?} {scope:?}"
            );
            server.truncate(3);
            assert_eq!(
                server,
                [
                    ("s1", Point::ReceiveContexts, None),
                    ("s1", Point::ReceiveRequest, None),
                    ("s1", at_server, reply)
                ],
                "{near:?} {scope:?}"
            );
            pair.end();
        }
    }
}

#[test]
fn a_call_that_cannot_be_sent_is_told_of_and_one_that_fails_over_is_a_pass_for_each_attempt() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let records = Arc::new(Records::default());
    let recorder = Arc::new(Recorder("c1", records.clone()));
    let client = Orb::builder().client_interceptor(recorder);
    let pair = Pair::new(Near::ByWire, Orb::builder(), client);
    let account = pair.account();
    account.deposit(1).unwrap();
    pair.server.shutdown(true).unwrap();
    records.take("c");
    assert!(account.deposit(1).is_err());
    let called = records.take("c");
    // Each attempt begins and ends, and the last one with the caller's result.
    let begun = called
        .iter()
        .filter(|(_, point, _)| *point == Point::SendRequest);
    let ended = called
        .iter()
        .filter(|(_, point, _)| *point != Point::SendRequest);
    assert_eq!(begun.count(), ended.count());
    let last = called.last().unwrap();
    assert_eq!(
        *last,
        ("c1", Point::ReceiveException, Some(Status::SystemException))
    );
    let retries = called
        .iter()
        .rev()
        .skip(1)
        .filter_map(|(_, _, status)| *status);
    assert!(
        retries
            .into_iter()
            .all(|status| status == Status::TransportRetry)
    );
    pair.client.shutdown(true).unwrap();
}
