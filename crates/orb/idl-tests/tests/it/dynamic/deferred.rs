//! Deferred synchronous requests: responses are fetched later, one by one and in groups.

use crate::dynamic::generated::near::{CounterServant, Refused};
use crate::dynamic::servant::Home;
use crate::support::watchdog;
use punctual::dynamic::{InvokeError, MultipleRequests, Request};
use punctual::policy::Collocation;
use punctual::{Any, SystemException, SystemExceptionKind as Kind, TypeCode, Typed, minor};
use std::time::Duration;

fn adds(home: &Home, by: i32) -> Request {
    let mut request = Request::new(&home.register, "add");
    request
        .add_in("by", Any::new(&by).unwrap())
        .set_return_type(&TypeCode::LONG)
        .add_exception(&Refused::type_code());
    request
}

fn order(error: SystemException) -> (Kind, u32) {
    (error.kind(), error.minor())
}

#[test]
fn a_deferred_request_brings_what_a_synchronous_one_does() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in [Collocation::None, Collocation::ThruPoa] {
        let home = Home::new(way);
        let mut request = Request::new(&home.register, "several");
        request
            .add_inout("data", Any::new(&vec![1u8, 2]).unwrap())
            .add_out("first", &TypeCode::STRING)
            .add_inout("how", Any::new(&0).unwrap())
            .set_return_type(&TypeCode::sequence(&TypeCode::OCTET, 0))
            .add_exception(&Refused::type_code());
        request.send_deferred().unwrap();
        // The sent value does not change.
        request.set_argument(2, Any::new(&77).unwrap()).unwrap();
        request.get_response().unwrap();
        let how = request.argument(2).unwrap();
        assert_eq!(how.extract::<i32>(), Ok(99));
        assert_eq!(request.argument(0).unwrap().extract(), Ok(vec![1u8, 2, 7]));
        assert_eq!(request.return_value().extract(), Ok(vec![1u8, 2]));
        // Sent again: 99 is refused.
        request.send_deferred().unwrap();
        let refused = request.get_response().unwrap_err();
        let InvokeError::User(refused) = refused else {
            panic!("{refused}");
        };
        assert_eq!(refused.extract::<Refused>().unwrap().code, 99);
    }
}

#[test]
fn a_response_is_polled_for_and_fetched_once() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut request = adds(&home, 5);
    let early = request.poll_response().unwrap_err();
    assert_eq!(order(early), (Kind::BadInvOrder, minor::REQUEST_NOT_SENT));
    request.send_deferred().unwrap();
    let twice = request.send_deferred().unwrap_err();
    assert_eq!(
        order(twice),
        (Kind::BadInvOrder, minor::REQUEST_ALREADY_SENT)
    );
    while !request.poll_response().unwrap() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    request.get_response().unwrap();
    assert_eq!(request.return_value().extract::<i32>(), Ok(5));
    let again = SystemException::from(request.get_response().unwrap_err());
    let fetched = (Kind::BadInvOrder, minor::RESPONSE_ALREADY_RETRIEVED);
    assert_eq!(order(again), fetched);
    assert_eq!(order(request.poll_response().unwrap_err()), fetched);
}

#[test]
fn several_requests_are_sent_together_and_their_responses_come_as_they_are_ready() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut waits = Request::new(&home.register, "pass_gate");
    waits.set_return_type(&TypeCode::VOID);
    let requests = vec![waits, adds(&home, 1), adds(&home, -1), adds(&home, 1)];
    let mut sent = home.orb.send_multiple_requests_deferred(requests).unwrap();
    let mut sums = Vec::new();
    for _ in 0..3 {
        let response = sent.get_next_response().unwrap();
        match response.outcome {
            Ok(()) => sums.push(response.request.return_value().extract::<i32>().unwrap()),
            Err(InvokeError::User(_)) => assert_eq!(response.index, 2),
            Err(InvokeError::System(exception)) => panic!("{exception}"),
        }
    }
    sums.sort_unstable();
    assert_eq!(sums, [1, 2]);
    assert!(!sent.poll_next_response());
    assert_eq!(sent.number_left(), 1);
    home.servant.gate.open();
    let response = sent.get_next_response().unwrap();
    assert_eq!(response.index, 0);
    response.outcome.unwrap();
    let none = sent.get_next_response().unwrap_err();
    assert_eq!(order(none), (Kind::BadInvOrder, minor::REQUEST_NOT_SENT));
}

#[test]
fn requests_that_cannot_be_sent_together_are_not_in_flight() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let mut incomplete = Request::new(&home.register, "swap");
    incomplete.add_inout("text", Any::new(&String::new()).unwrap());
    incomplete.add_out("more", &TypeCode::STRING);
    let error = home
        .orb
        .send_multiple_requests_oneway(&[incomplete])
        .unwrap_err();
    assert_eq!(error.kind(), Kind::BadParam);
    let bump = |by: i32| {
        let mut request = Request::new(&home.register, "bump");
        request.add_in("by", Any::new(&by).unwrap());
        request
    };
    let requests = [bump(2), bump(3)];
    home.orb.send_multiple_requests_oneway(&requests).unwrap();
    // This call follows them on the same connection.
    adds(&home, 0).invoke().unwrap();
    assert_eq!(home.servant.count().unwrap(), 5);
}
