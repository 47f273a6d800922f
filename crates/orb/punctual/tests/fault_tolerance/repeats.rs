//! Repeats of calls at other members, and what they carry.

use crate::group::{
    Server, add, bump, client, client_of, dead_port, group_of, hold, number, seen_by, through,
    until,
};
use crate::process::Process;
use crate::proxy::Proxy;
use punctual::fault_tolerance::RequestDurationPolicy;
use punctual::stub::{Operation, Unmarshal};
use punctual::{CompletionStatus, SetOverride, SystemException, SystemExceptionKind as Kind};
use punctual_giop::service_context::{FT_GROUP_VERSION, FT_REQUEST};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[test]
fn a_call_goes_on_to_the_next_member_when_the_first_is_gone() {
    let (server, client) = (Server::new(), client());
    let dead = through(&server.ior(), dead_port());
    let group = seen_by(&client, &group_of(&[dead, server.ior()], 1));
    assert_eq!((add(&group), add(&group)), (Ok(1), Ok(2)));
}

#[test]
fn a_call_whose_reply_was_lost_runs_once_on_every_path() {
    let (server, client) = (Server::new(), client());
    let (first, second) = (Proxy::to(server.port()), Proxy::to(server.port()));
    let members = [first.port, second.port].map(|port| through(&server.ior(), port));
    let group = seen_by(&client, &group_of(&members, 1));
    // The first call has the slow path.
    first.lose(1);
    assert_eq!(add(&group), Ok(1));
    assert_eq!(server.servant.upcalls(), 1);
    // The next ones have the fast path to the second member.
    assert_eq!(add(&group), Ok(2));
    second.lose(1);
    assert_eq!(add(&group), Ok(3));
    assert_eq!(server.servant.upcalls(), 3);
    let (to_first, to_second) = (first.requests(), second.requests());
    let ids = |requests: &[crate::proxy::Recorded]| -> Vec<Vec<u8>> {
        let ids = requests
            .iter()
            .map(|one| one.ft_request().unwrap().to_vec());
        ids.collect()
    };
    let (first, second) = (ids(&to_first), ids(&to_second));
    assert_eq!(first[0], second[0], "a repeat has the id of its call");
    assert_ne!(second[0], second[1], "another call has another id");
    assert_eq!(second[2], first[1], "a repeat has the id of its call");
    for request in to_first.iter().chain(&to_second) {
        assert_eq!(request.version(), Some(1));
    }
}

#[test]
fn a_call_of_which_one_attempt_may_have_run_does_not_end_as_if_none_had() {
    let (first, second, client) = (Server::new(), Server::new(), client());
    let lossy = Proxy::to(first.port());
    lossy.lose(2);
    let members = [through(&first.ior(), lossy.port), second.ior()];
    let group = seen_by(&client, &group_of(&members, 1));
    // The second member refuses it as not begun; of the first one, the reply is lost.
    let error = number(&group, "unknown_to_all").unwrap_err();
    assert_eq!(error.kind(), Kind::BadOperation);
    assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
    let again = seen_by(&client, &group_of(&members, 1));
    let asynchronous = again.begin_elsewhere::<u32, SystemException>(
        Operation::two_way("unknown_to_all"),
        |_| Ok(()),
        u32::unmarshal,
    );
    let error = asynchronous.wait().unwrap_err();
    assert_eq!(error.completed(), CompletionStatus::Maybe, "{error}");
    assert_eq!(lossy.requests().len(), 2);
    // Where no attempt may have run, that is said.
    let alone = seen_by(&client, &group_of(&[second.ior()], 1));
    let error = number(&alone, "unknown_to_all").unwrap_err();
    assert_eq!(error.completed(), CompletionStatus::No, "{error}");
}

#[test]
fn a_call_to_a_single_object_carries_no_context_of_groups_and_is_not_repeated() {
    let (server, client) = (Server::new(), client());
    let proxy = Proxy::to(server.port());
    let object = seen_by(&client, &through(&server.ior(), proxy.port));
    proxy.lose(1);
    let error = add(&object).unwrap_err();
    assert_eq!(error.kind(), Kind::CommFailure);
    assert_eq!(error.completed(), CompletionStatus::Maybe);
    assert_eq!(server.servant.upcalls(), 1);
    assert_eq!(add(&object), Ok(2));
    for request in proxy.requests() {
        assert_eq!(request.context(FT_REQUEST), None);
        assert_eq!(request.context(FT_GROUP_VERSION), None);
    }
}

#[test]
fn a_member_that_dies_in_the_middle_of_a_call_is_replaced_by_the_next() {
    let (mut first, second, client) = (Process::server(), Server::new(), client());
    let group = seen_by(&client, &group_of(&[first.ior(), second.ior()], 1));
    assert_eq!(add(&group), Ok(1));
    assert_eq!(second.servant.upcalls(), 0);
    // The call dies with the first member, and then with none: the second has no such operation.
    let error = number(&group, "unknown_to_all").unwrap_err();
    assert_eq!(error.kind(), Kind::BadOperation);
    first.kill_in_call(|| hold(&group), &second);
    assert_eq!(second.servant.upcalls(), 1);
}

#[test]
fn exceptions_that_say_that_the_server_is_busy_lead_on_and_others_do_not() {
    let (first, second, client) = (Server::new(), Server::new(), client());
    let group = seen_by(&client, &group_of(&[first.ior(), second.ior()], 1));
    assert_eq!(
        number(&group, "refuse").unwrap_err().kind(),
        Kind::NoPermission
    );
    assert_eq!((first.servant.upcalls(), second.servant.upcalls()), (1, 0));
    let busy = std::thread::spawn(move || number(&group, "busy"));
    // Round after round, over both.
    until(|| first.servant.upcalls() > 2 && second.servant.upcalls() > 1);
    let _ = client.shutdown(false);
    assert!(busy.join().unwrap().is_err());
}

#[test]
fn a_call_waits_for_a_member_that_comes_back_within_its_duration() {
    let (server, client) = (Server::new(), client());
    let port = dead_port();
    let group = seen_by(&client, &group_of(&[through(&server.ior(), port)], 1));
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        forward(port, server.port());
        server
    });
    assert_eq!(add(&group), Ok(1));
    let asynchronous = group.begin_elsewhere::<u32, SystemException>(
        Operation::two_way("add"),
        |_| Ok(()),
        u32::unmarshal,
    );
    assert_eq!(asynchronous.wait(), Ok(2));
    drop(late.join().unwrap());
    let begin = || {
        let operation = Operation::two_way("add");
        group.begin_elsewhere::<u32, SystemException>(operation, |_| Ok(()), u32::unmarshal)
    };
    // No member answers any more: neither a caller that looks now and then nor a task is blocked.
    let mut polled = begin();
    assert!(!polled.is_ready(Duration::from_millis(1)));
    assert!(awaited_for_a_moment(begin()).is_none());
}

/// Polls a future until it is woken three times. Returns its output, if it has one by then.
fn awaited_for_a_moment<F: Future>(future: F) -> Option<F::Output> {
    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    for _ in 0..4 {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending => std::thread::park(),
        }
    }
    None
}

/// Passes connections of one port on to another.
fn forward(from: u16, to: u16) {
    use std::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind(("127.0.0.1", from)).unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let both = [(&client, &server), (&server, &client)];
            for (from, to) in both.map(|(a, b)| (a.try_clone().unwrap(), b.try_clone().unwrap())) {
                let (mut from, mut to) = (from, to);
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
}

#[test]
fn a_call_that_no_member_answers_ends_with_its_duration_or_its_own_time_out() {
    let (server, client) = (Server::new(), client_of(Duration::from_millis(100)));
    let dead = through(&server.ior(), dead_port());
    let group = seen_by(&client, &group_of(&[dead], 1));
    let begun = std::time::Instant::now();
    let error = add(&group).unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Transient | Kind::Timeout),
        "{error}"
    );
    assert!(begun.elapsed() >= Duration::from_millis(90));
    let long = RequestDurationPolicy::policy(Duration::from_secs(3600));
    let long = group
        .set_policy_overrides(&[long], SetOverride::Add)
        .unwrap();
    let error = add(&long.with_timeout(Duration::from_millis(100))).unwrap_err();
    assert!(
        matches!(error.kind(), Kind::Transient | Kind::Timeout),
        "{error}"
    );
}

#[test]
fn asynchronous_calls_and_one_ways_go_to_groups_too() {
    let (server, client) = (Server::new(), client());
    let proxy = Proxy::to(server.port());
    let members = [through(&server.ior(), proxy.port), server.ior()];
    let group = seen_by(&client, &group_of(&members, 1));
    let begin = || {
        let operation = Operation::two_way("add");
        group.begin_elsewhere::<u32, SystemException>(operation, |_| Ok(()), u32::unmarshal)
    };
    assert_eq!(begin().wait(), Ok(1));
    proxy.lose(1);
    assert_eq!(begin().wait(), Ok(2));
    assert_eq!(server.servant.upcalls(), 2);
    bump(&group).unwrap();
    until(|| server.servant.upcalls() == 3);
    bump(&group).unwrap();
    until(|| server.servant.upcalls() == 4);
    assert!(
        proxy
            .requests()
            .iter()
            .all(|one| one.ft_request().is_some())
    );
}

#[test]
fn a_reference_from_the_same_process_is_called_by_requests() {
    let server = Server::new();
    let group = seen_by(&server.orb, &group_of(&[server.ior()], 1));
    assert_eq!(add(&group), Ok(1));
    assert_eq!(server.retained(), 1);
}
