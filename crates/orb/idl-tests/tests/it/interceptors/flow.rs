//! Flow rules of interceptors. For each action of one interceptor at one point, and each way of
//! calling: which interceptors are called at which points, in which order, and the result that the
//! caller gets.

use super::fixture::Vault;
use super::generated::intercepted::Account;
use super::model::{Act, Model, Plan};
use super::recorder::{Action, Point};
use super::support::watchdog;
use super::ways::{Ask, Recorded, Way};
use punctual::Interface;
use std::time::Duration;

const ASKS: [Ask; 4] = [Ask::Deposit, Ask::Refused, Ask::Fail, Ask::Panic];

const CLIENT: [Point; 5] = [
    Point::SendRequest,
    Point::SendPoll,
    Point::ReceiveReply,
    Point::ReceiveException,
    Point::ReceiveOther,
];

const SERVER: [Point; 5] = [
    Point::ReceiveContexts,
    Point::ReceiveRequest,
    Point::SendReply,
    Point::SendException,
    Point::SendOther,
];

/// Returns every action that one of the four interceptors can take at one of its points. At
/// `receive_reply`, `send_reply` and `send_poll` the API offers no forward.
fn plans() -> Vec<Plan> {
    let mut plans = vec![None];
    for (names, points) in [(["c1", "c2"], CLIENT), (["s1", "s2"], SERVER)] {
        for name in names {
            for point in points {
                let never = matches!(
                    point,
                    Point::ReceiveReply | Point::SendReply | Point::SendPoll
                );
                plans.push(Some((name, point, Act::Raise)));
                plans.push(Some((name, point, Act::Panic)));
                if !never {
                    plans.push(Some((name, point, Act::Forward)));
                }
            }
        }
    }
    plans
}

/// Runs all plans for one way of calling, and compares the recorded calls and the result with the
/// model.
fn check_rules(way: Way) {
    let _watchdog = watchdog(Duration::from_secs(240));
    let (mut recorded, mut second) = new(way);
    for ask in ASKS {
        for plan in plans() {
            let to = || match plan {
                // The caller, or the bridge before it, reads the target of a server's forward.
                Some((name, ..)) if name.starts_with('s') => {
                    recorded.pair.as_client(second.as_object())
                }
                _ => recorded.reference(&second),
            };
            let action = plan.map(|(name, point, act)| {
                let action = match act {
                    Act::Raise => Action::Raise,
                    Act::Panic => Action::Panic,
                    Act::Forward => Action::Forward(to()),
                };
                (name, point, action)
            });
            let got = recorded.call(ask, action);
            recorded.records.plan(None);
            let mut model = Model::new(way, ask, plan);
            let wanted = model.call();
            assert_eq!(got, wanted, "{way:?} {ask:?} {plan:?}");
            let is_awaited = got == wanted && !is_kept_from_waiting(way, plan);
            if !is_awaited {
                // Its request is served before another of the same connection.
                recorded.call(Ask::Deposit, None);
            }
            for whose in ["c", "s"] {
                let mut called = recorded.records.take(whose);
                if !is_awaited {
                    let mut next = Model::new(way, Ask::Deposit, None);
                    next.call();
                    let next = next
                        .called
                        .iter()
                        .filter(|(name, ..)| name.starts_with(whose));
                    called.truncate(called.len() - next.count());
                }
                let of_model = model
                    .called
                    .iter()
                    .filter(|(name, ..)| name.starts_with(whose));
                let wanted: Vec<_> = of_model.copied().collect();
                assert_eq!(called, wanted, "{way:?} {ask:?} {plan:?}");
            }
            if way == Way::Bridged && matches!(plan, Some((_, _, Act::Forward))) {
                // A bridge remembers the target of a forward.
                let next = new(way);
                std::mem::replace(&mut recorded, next.0).end();
                second = next.1;
            }
        }
    }
    recorded.end();
}

/// Makes a client and a server with recorders, and a second object of the server to which calls can
/// be forwarded.
fn new(way: Way) -> (Recorded, Account) {
    let recorded = Recorded::new(way);
    let second = recorded.pair.poa.activate(Vault::default()).unwrap();
    (recorded, second)
}

/// Returns whether an asynchronous request is sent but its reply is never awaited, because an
/// interceptor raises an exception or forwards at `receive_other`.
fn is_kept_from_waiting(way: Way, plan: Plan) -> bool {
    way == Way::Asynchronous && matches!(plan, Some((_, Point::ReceiveOther, _)))
}

#[test]
fn a_request_by_wire_follows_the_flow_rules() {
    check_rules(Way::Wire);
}

#[test]
fn a_request_by_a_warm_reference_follows_the_flow_rules() {
    check_rules(Way::WireAgain);
}

#[test]
fn a_call_within_the_process_follows_the_flow_rules() {
    check_rules(Way::Local);
}

#[test]
fn an_asynchronous_request_follows_the_flow_rules() {
    check_rules(Way::Asynchronous);
}

#[test]
fn a_dynamic_request_follows_the_flow_rules() {
    check_rules(Way::Dynamic);
}

#[test]
fn a_request_through_a_bridge_follows_the_flow_rules() {
    check_rules(Way::Bridged);
}
