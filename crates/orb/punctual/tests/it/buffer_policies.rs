//! Policies of buffered requests: the time of sending, the order of requests, unbuffered requests
//! that are sent before buffered ones, full buffers, time-outs, and ended connections.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::{BufferCapacity, Buffering, PriorityRange, QueueOrder, SyncScope, WhenFull};
use punctual::stub::{Marshal, Operation, Unmarshal};
use punctual::{
    CompletionStatus, Interface, ObjectRef, Policy, Poller, SetOverride, SystemException,
    SystemExceptionKind as Kind,
};
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_millis(20);
/// One-way operation whose servant records the sum of its octets.
const SUM: Operation = Operation::one_way("sum_behind_gate");

fn under(object: &ObjectRef, policies: &[Policy]) -> ObjectRef {
    let with = object.set_policy_overrides(policies, SetOverride::Add);
    with.unwrap()
}

fn buffered(object: &ObjectRef, when: Buffering) -> ObjectRef {
    under(object, &[Policy::Buffering(Some(when))])
}

/// Makes a server and a client whose servant never blocks.
fn pair() -> Pair {
    let pair = Pair::in_order(|_| {});
    pair.servant.gate.open();
    pair
}

fn send(object: &ObjectRef, number: u8) -> Result<(), SystemException> {
    object.send(&SUM, |out| out.put_octets(&[number]))
}

fn call(object: &ObjectRef, value: i32) -> Poller<i32> {
    let long = Operation::two_way("long");
    object.begin_elsewhere(long, move |out| value.marshal(out), i32::unmarshal)
}

fn sums(servant: &EchoImpl) -> Vec<u64> {
    servant.sums.lock().unwrap().clone()
}

fn wait_for_sums(servant: &EchoImpl, expected: &[u64]) {
    while sums(servant).len() < expected.len() {
        crate::support::pause();
    }
    assert_eq!(sums(servant), expected);
}

#[test]
fn each_condition_sends_what_waits_and_the_first_that_is_met_does() {
    let _watchdog = watchdog(LIMIT);
    let by_number = Buffering::EXPLICIT.messages(3);
    // A request has some 80 bytes.
    let by_size = Buffering::EXPLICIT.octets(200);
    let by_either = by_number.octets(1 << 20).delay(Duration::from_secs(3600));
    for when in [by_number, by_size, by_either] {
        let pair = pair();
        let object = buffered(pair.echo.as_object(), when);
        for number in 1..=7 {
            send(&object, number).unwrap();
        }
        wait_for_sums(&pair.servant, &[1, 2, 3, 4, 5, 6]);
        object.flush();
        wait_for_sums(&pair.servant, &[1, 2, 3, 4, 5, 6, 7]);
    }
    let pair = pair();
    let either = Buffering::EXPLICIT.messages(100).delay(SOON);
    let object = buffered(pair.echo.as_object(), either);
    send(&object, 1).unwrap();
    send(&object, 2).unwrap();
    wait_for_sums(&pair.servant, &[1, 2]);
}

#[test]
fn asynchronous_calls_wait_with_one_ways_in_their_order() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT.messages(4));
    send(&object, 1).unwrap();
    let (say, heard) = mpsc::channel();
    for value in [10, 20] {
        let say = say.clone();
        let handler = move |result: Result<i32, SystemException>| say.send(result).unwrap();
        object.begin_handled_elsewhere(
            Operation::two_way("long"),
            handler.into(),
            move |out| value.marshal(out),
            i32::unmarshal,
        );
    }
    assert!(heard.try_recv().is_err() && sums(&pair.servant).is_empty());
    send(&object, 2).unwrap();
    let results: Vec<i32> = (0..2).map(|_| heard.recv().unwrap().unwrap()).collect();
    assert_eq!(results, [10, 20]);
    wait_for_sums(&pair.servant, &[1, 2]);
    drop(say);
    assert!(heard.recv().is_err(), "each handler is called once");
}

#[test]
fn who_waits_for_the_result_of_a_buffered_call_has_it_sent() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let mut first = call(&object, 1);
    let second = call(&object, 2);
    assert!(!first.is_ready(Duration::ZERO) || first.is_ready(LIMIT));
    assert_eq!(second.wait().unwrap(), 2);
    assert_eq!(first.wait().unwrap(), 1);
}

#[test]
fn two_ways_and_reliable_one_ways_never_wait_and_take_along_what_does() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let mut expected = Vec::new();
    for (number, scope) in (1..).zip([
        SyncScope::WithTransport,
        SyncScope::WithServer,
        SyncScope::WithTarget,
    ]) {
        send(&object, 100).unwrap();
        let reliable = under(&object, &[Policy::SyncScope(scope)]);
        send(&reliable, number).unwrap();
        expected.extend([100, u64::from(number)]);
        wait_for_sums(&pair.servant, &expected);
    }
    send(&object, 7).unwrap();
    assert_eq!(Echo::from_object(object).long(1).unwrap(), 1);
    expected.push(7);
    assert_eq!(sums(&pair.servant), expected);
}

#[test]
fn out_of_band_requests_of_every_kind_pass_those_that_wait() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let urgent = under(&object, &[Policy::OutOfBand(true)]);
    send(&object, 1).unwrap();
    for number in [2, 3] {
        send(&urgent, number).unwrap();
    }
    assert_eq!(call(&urgent, 5).wait().unwrap(), 5);
    assert_eq!(Echo::from_object(urgent).long(6).unwrap(), 6);
    assert_eq!(sums(&pair.servant), [2, 3]);
    object.flush();
    wait_for_sums(&pair.servant, &[2, 3, 1]);
}

fn full(octets: usize, when_full: WhenFull) -> Policy {
    Policy::BufferCapacity(BufferCapacity { octets, when_full })
}

#[test]
fn where_there_is_no_room_the_caller_sends_waits_or_is_told() {
    let _watchdog = watchdog(LIMIT);
    // Room for two requests.
    const ROOM: usize = 200;
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let flushing = under(&object, &[full(ROOM, WhenFull::Flush)]);
    for number in 1..=3 {
        send(&flushing, number).unwrap();
    }
    wait_for_sums(&pair.servant, &[1, 2]);
    let raising = under(&object, &[full(ROOM, WhenFull::Raise)]);
    send(&raising, 4).unwrap();
    for _ in 0..2 {
        let error = send(&raising, 0).unwrap_err();
        assert_eq!(error.kind(), Kind::Transient, "{error}");
        assert_eq!(error.completed(), CompletionStatus::No);
        let error = call(&raising, 0).wait().unwrap_err();
        assert_eq!(error.kind(), Kind::Transient, "{error}");
    }
    let blocking = under(&object, &[full(ROOM, WhenFull::Block)]);
    let error = send(&blocking.with_timeout(SOON), 0).unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert_eq!(error.completed(), CompletionStatus::No);
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| send(&blocking, 5));
        // The blocked call finds room, whether it waits already or comes later.
        object.flush();
        sent.join().unwrap().unwrap();
    });
    object.flush();
    wait_for_sums(&pair.servant, &[1, 2, 3, 4, 5]);
}

#[test]
fn callers_that_wait_for_room_are_not_left_waiting_where_no_condition_is_met() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT.messages(100));
    // Room for two requests.
    let blocking = under(&object, &[full(200, WhenFull::Block)]);
    let expected: Vec<u64> = (1..=9).collect();
    for number in 1..=9 {
        send(&blocking, number).unwrap();
    }
    object.flush();
    wait_for_sums(&pair.servant, &expected);
}

/// Makes a server that accepts connections and reads nothing from them.
fn stalled(pair: &Pair) -> (TcpListener, ObjectRef) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let reference = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/key");
    (listener, pair.client.string_to_object(&reference).unwrap())
}

#[test]
fn a_server_that_takes_nothing_blocks_no_caller_that_would_rather_be_told() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let (_listener, target) = stalled(&pair);
    let most = 4 << 20;
    let policies = [
        Policy::Buffering(Some(Buffering::EXPLICIT.messages(4))),
        full(most, WhenFull::Raise),
    ];
    let target = under(&target, &policies);
    let large = vec![1; 1 << 20];
    let mut taken = 0;
    let error = loop {
        match target.send(&SUM, |out| out.put_octets(&large)) {
            Ok(()) => taken += 1,
            Err(error) => break error,
        }
        assert!(taken < 64, "its memory is bounded");
    };
    assert_eq!(error.kind(), Kind::Transient, "{error}");
    // Calls by other references are not blocked either.
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT.delay(SOON));
    send(&object, 1).unwrap();
    wait_for_sums(&pair.servant, &[1]);
}

#[test]
fn what_waits_beyond_its_end_time_is_not_sent() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let short = [
        Policy::RelativeRoundtripTimeout(SOON),
        Policy::RelativeRequestTimeout(SOON),
        Policy::RequestEndTime(SystemTime::now() + SOON),
    ];
    let mut calls = Vec::new();
    for policy in short {
        let object = under(&object, &[policy]);
        // The first takes another path than those behind it.
        for _ in 0..3 {
            send(&object, 100).unwrap();
        }
        calls.push(call(&object, 1));
    }
    send(&object, 1).unwrap();
    let until = Instant::now() + 2 * SOON;
    while Instant::now() < until {
        crate::support::pause();
    }
    object.flush();
    wait_for_sums(&pair.servant, &[1]);
    for call in calls {
        let error = call.wait().unwrap_err();
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert_eq!(error.completed(), CompletionStatus::No, "{error}");
    }
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    assert_eq!(sums(&pair.servant), [1]);
}

#[test]
fn a_buffered_call_that_is_cancelled_or_late_does_not_leave() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let ping = |object: &ObjectRef| {
        object.begin_elsewhere::<(), SystemException>(
            Operation::two_way("ping"),
            |_| Ok(()),
            |_| Ok(()),
        )
    };
    drop(ping(&object));
    let (say, heard) = mpsc::channel();
    let late = under(&object, &[Policy::RelativeRoundtripTimeout(SOON)]);
    late.begin_handled_elsewhere(
        Operation::two_way("ping"),
        (move |result: Result<(), SystemException>| say.send(result).unwrap()).into(),
        |_| Ok(()),
        |_| Ok(()),
    );
    let error = heard.recv().unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert_eq!(error.completed(), CompletionStatus::No, "{error}");
    ping(&object).wait().unwrap();
    assert_eq!(pair.echo.pings().unwrap(), 1);
}

#[test]
fn requests_leave_by_priority_or_by_their_end_where_policies_say_so() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    let by_priority = under(&object, &[Policy::QueueOrder(QueueOrder::PRIORITY)]);
    for (number, priority) in [(1, 5), (2, -3), (3, 9), (4, 5)] {
        let range = PriorityRange::exactly(priority);
        let object = under(&by_priority, &[Policy::RequestPriority(range)]);
        send(&object, number).unwrap();
    }
    object.flush();
    wait_for_sums(&pair.servant, &[3, 1, 4, 2]);
    let by_end = under(&object, &[Policy::QueueOrder(QueueOrder::DEADLINE)]);
    for (number, seconds) in [(5, 300), (6, 100), (7, 200)] {
        let within = Policy::RelativeRequestTimeout(Duration::from_secs(seconds));
        send(&under(&by_end, &[within]), number).unwrap();
    }
    send(&by_end, 8).unwrap();
    object.flush();
    wait_for_sums(&pair.servant, &[3, 1, 4, 2, 6, 7, 5, 8]);
    let none = Policy::RequestPriority(PriorityRange { min: 2, max: 1 });
    let refused = object.set_policy_overrides(&[none], SetOverride::Add);
    assert_eq!(refused.unwrap_err().kind(), Kind::InvPolicy);
}

#[test]
fn an_orb_that_ends_sends_what_waits_though_one_server_takes_nothing() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let (_listener, target) = stalled(&pair);
    let target = buffered(&target, Buffering::EXPLICIT);
    let large = vec![1; 32 << 20];
    target.send(&SUM, |out| out.put_octets(&large)).unwrap();
    let object = buffered(pair.echo.as_object(), Buffering::EXPLICIT);
    send(&object, 1).unwrap();
    // The shutdown does not wait for the first for ever.
    pair.client.shutdown(true).unwrap();
    wait_for_sums(&pair.servant, &[1]);
}

/// Reads one GIOP request from the stream, and returns its body as text.
fn request(stream: &mut TcpStream) -> String {
    let mut header = [0; 12];
    stream.read_exact(&mut header).unwrap();
    let size = u32::from_ne_bytes(header[8..].try_into().unwrap());
    let mut body = vec![0; size as usize];
    stream.read_exact(&mut body).unwrap();
    String::from_utf8_lossy(&body).into_owned()
}

#[test]
fn a_buffered_call_whose_connection_has_ended_goes_by_another_and_one_ways_are_lost() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    let (listener, target) = stalled(&pair);
    let target = buffered(&target, Buffering::EXPLICIT);
    send(&target, 1).unwrap();
    let (say, heard) = mpsc::channel();
    target.begin_handled_elsewhere(
        Operation::two_way("long"),
        (move |result: Result<i32, SystemException>| say.send(result).unwrap()).into(),
        |out| 1.marshal(out),
        i32::unmarshal,
    );
    drop(listener.accept().unwrap());
    // The end is noticed, and the call repeated.
    let (mut stream, _) = listener.accept().unwrap();
    let server = std::thread::spawn(move || request(&mut stream));
    while !server.is_finished() {
        target.flush();
        crate::support::pause();
    }
    let request = server.join().unwrap();
    assert!(
        request.contains("long") && !request.contains("sum"),
        "{request}"
    );
    // This one has been sent.
    let error = heard.recv().unwrap().unwrap_err();
    assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
    assert_eq!(error.kind(), Kind::CommFailure, "{error}");
}

#[test]
fn no_request_leaves_before_its_start_and_no_reply_is_given_back_before_its_own() {
    let _watchdog = watchdog(LIMIT);
    let pair = pair();
    for one in [Policy::RequestStartTime, Policy::ReplyStartTime] {
        let start = SystemTime::now() + SOON;
        let echo = Echo::from_object(under(pair.echo.as_object(), &[one(start)]));
        assert_eq!(echo.long(3).unwrap(), 3);
        assert!(SystemTime::now() >= start);
        let start = SystemTime::now() + LIMIT;
        let policies = [one(start), Policy::RelativeRoundtripTimeout(SOON)];
        let echo = Echo::from_object(under(pair.echo.as_object(), &policies));
        let error = echo.long(3).unwrap_err();
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
    }
    let start = SystemTime::now() + SOON;
    let late = under(pair.echo.as_object(), &[Policy::RequestStartTime(start)]);
    send(&late, 1).unwrap();
    assert!(SystemTime::now() >= start);
    wait_for_sums(&pair.servant, &[1]);
}
