//! Pollers used through the operations of the standard, and pollable sets (CORBA 3.3 part 1, §17.9
//! and §17.10).

use super::support::watchdog;
use super::{Pair, collocated};
use punctual::asynchronous::{PollableSet, PollableSetError};
use punctual::dynamic::Request;
use punctual::policy::Collocation;
use punctual::{Poller, SystemExceptionKind as Kind, TypeCode, minor};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_poller_says_no_response_or_timeout_until_its_reply_is_there_and_gives_it_once() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let mut waits = pair.clerk.sendp_wait_at("east");
    let none = waits.result(Duration::ZERO).unwrap_err();
    assert_eq!(
        (none.kind(), none.minor()),
        (Kind::NoResponse, minor::NO_REPLY_YET)
    );
    let none = waits.result(SHORT).unwrap_err();
    assert_eq!(
        (none.kind(), none.minor()),
        (Kind::Timeout, minor::NO_REPLY_IN_TIME)
    );
    pair.clerk.open("east").unwrap();
    assert_eq!(waits.result(LONG).unwrap(), 4);
    let gone = waits.result(LONG).unwrap_err();
    assert_eq!(gone.kind(), Kind::ObjectNotExist);
    pair.end();
}

#[test]
fn a_set_gives_the_calls_that_are_ready_and_waits_for_the_first_of_the_others() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let first = pair.clerk.sendp_wait_at("first");
    let mut set = first.create_pollable_set();
    let first = set.add_pollable(first);
    let second = set.add_pollable(pair.clerk.sendp_wait_at("second"));
    let none = set.get_ready_pollable(SHORT).unwrap_err();
    let PollableSetError::System(none) = none else {
        panic!("{none}");
    };
    assert_eq!(
        (none.kind(), none.minor()),
        (Kind::Timeout, minor::NO_REPLY_IN_TIME)
    );
    let none = set.get_ready_pollable(Duration::ZERO).unwrap_err();
    assert!(matches!(&none, PollableSetError::System(none) if none.kind() == Kind::NoResponse));

    pair.clerk.open("second").unwrap();
    assert_eq!(set.get_ready_pollable(LONG), Ok(second.id()));
    // It stays the answer until it is removed.
    assert_eq!(set.get_ready_pollable(Duration::ZERO), Ok(second.id()));
    assert_eq!(set.number_left(), 2);
    assert_eq!(set.remove(second).unwrap().wait().unwrap(), 6);
    assert!(matches!(
        set.remove(second),
        Err(PollableSetError::UnknownPollable)
    ));
    pair.clerk.open("first").unwrap();
    assert_eq!(set.get_ready_pollable(LONG), Ok(first.id()));
    assert_eq!(set.remove(first).unwrap().wait().unwrap(), 5);
    assert_eq!(
        set.get_ready_pollable(LONG),
        Err(PollableSetError::NoPossiblePollable)
    );
    pair.end();
}

#[test]
fn a_set_holds_calls_of_different_results_within_the_process_and_put_together_at_run_time() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let (orb, near) = collocated(Collocation::ThruPoa);
    let pair = Pair::over_tcp();
    let mut set = PollableSet::new();
    let text = set.add_pollable(pair.clerk.sendp_copies("ab", &3));
    let number = set.add_pollable(near.sendp_add(1, 2));
    let mut request = Request::new(&pair.clerk, "_get_rate");
    request.set_return_type(&TypeCode::LONG);
    request.send_deferred().unwrap();
    let dynamic = set.add_pollable(request);
    let mut seen = Vec::new();
    while let Ok(ready) = set.get_ready_pollable(LONG) {
        seen.push(ready);
        if ready == text.id() {
            let (text, _, _) = set.remove(text).unwrap().wait().unwrap();
            assert_eq!(text, "ababab");
        } else if ready == number.id() {
            assert_eq!(set.remove(number).unwrap().wait().unwrap(), 3);
        } else {
            let mut request = set.remove(dynamic).unwrap();
            request.get_response().unwrap();
            assert_eq!(request.return_value().extract::<i32>(), Ok(0));
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [text.id(), number.id(), dynamic.id()]);
    pair.end();
    orb.shutdown(true).unwrap();
}

#[test]
fn of_a_thousand_calls_in_a_set_each_is_found_ready_once() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let mut set = PollableSet::new();
    let calls = (0..1000).map(|number| set.add_pollable(pair.clerk.sendp_add(number, 1)));
    let mut left: Vec<_> = calls.collect();
    let mut sums = Vec::new();
    while let Ok(ready) = set.get_ready_pollable(LONG) {
        let place = left.iter().position(|key| key.id() == ready).unwrap();
        let poller: Poller<i32> = set.remove(left.swap_remove(place)).unwrap();
        sums.push(poller.wait().unwrap());
    }
    sums.sort_unstable();
    assert!(sums.into_iter().eq(1..=1000));
    assert_eq!(set.number_left(), 0);
    pair.end();
}
