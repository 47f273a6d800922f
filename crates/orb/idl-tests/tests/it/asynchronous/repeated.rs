//! Asynchronous calls that repeat an earlier call, and so are sent on the fast path: whatever comes
//! instead of results is treated as for any other call.

use super::generated::asynchronous::Clerk;
use super::giop_server::{CANCEL, Peer, serve, serve_all};
use super::support::watchdog;
use super::{ListenEndpoint, Pair};
use punctual::{Interface, Orb, SystemException, SystemExceptionKind as Kind};
use std::sync::mpsc;
use std::time::Duration;

/// Way to make an asynchronous call.
#[derive(Clone, Copy, Debug)]
enum Way {
    Waited,
    Polled,
    Awaited,
    Handled,
}

impl Way {
    const ALL: [Self; 4] = [Self::Waited, Self::Polled, Self::Awaited, Self::Handled];

    fn add(self, clerk: &Clerk, a: i32, b: i32) -> Result<i32, SystemException> {
        match self {
            Self::Waited => clerk.sendp_add(a, b).wait(),
            Self::Polled => {
                let mut poller = clerk.sendp_add(a, b);
                while !poller.is_ready(Duration::from_millis(1)) {}
                poller.wait()
            }
            Self::Awaited => smol::block_on(clerk.add_async(a, b)),
            Self::Handled => {
                let (say, heard) = mpsc::channel();
                clerk.sendc_add(move |sum: Result<i32, _>| say.send(sum).unwrap(), a, b);
                heard.recv().unwrap()
            }
        }
    }
}

/// Answers the first call, after which calls are sent on the fast path.
fn answer_first(peer: &mut Peer) {
    let first = peer.next().unwrap();
    peer.answer(first.id, 0);
}

/// Returns the body of a reply with NO_PERMISSION 7, COMPLETED_YES.
fn no_permission() -> Vec<u8> {
    let id = b"IDL:omg.org/CORBA/NO_PERMISSION:1.0\0";
    let length = u32::try_from(id.len()).unwrap().to_ne_bytes();
    let numbers = [7_u32.to_ne_bytes(), 0_u32.to_ne_bytes()].concat();
    [&length[..], id, &numbers].concat()
}

/// Returns the body of a reply that forwards to an object.
fn forward_to(reference: &str) -> Vec<u8> {
    let digits = reference.strip_prefix("IOR:").unwrap().as_bytes();
    let octets = digits.chunks(2).map(|two| {
        let two = std::str::from_utf8(two).unwrap();
        u8::from_str_radix(two, 16).unwrap()
    });
    // An encapsulation begins with its byte order, and what follows here is aligned to 4.
    octets.skip(4).collect()
}

#[test]
fn results_exceptions_and_forwards_are_those_of_any_call() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let there = Pair::at(ListenEndpoint::iiop("127.0.0.1", 0));
    let reference = there.server.object_to_string(&there.clerk).unwrap();
    for way in Way::ALL {
        let client = Orb::builder().build().unwrap();
        let forward = forward_to(&reference);
        let (clerk, server) = serve(&client, move |mut peer| {
            answer_first(&mut peer);
            let next = peer.next().unwrap();
            peer.answer(next.id, 7);
            let next = peer.next().unwrap();
            peer.reply(next.id, 2, &no_permission());
            let next = peer.next().unwrap();
            peer.reply(next.id, 3, &forward);
            assert!(peer.next().is_none());
        });
        clerk.add(0, 0).unwrap();
        assert_eq!(way.add(&clerk, 1, 1).unwrap(), 7, "{way:?}");
        let raised = way.add(&clerk, 1, 1).unwrap_err();
        assert_eq!(raised.kind(), Kind::NoPermission, "{way:?}: {raised}");
        assert!(raised.to_string().contains("add"), "{way:?}: {raised}");
        // The call that is forwarded, and one that follows it.
        assert_eq!(way.add(&clerk, 40, 2).unwrap(), 42, "{way:?}");
        assert_eq!(way.add(&clerk, 40, 3).unwrap(), 43, "{way:?}");
        client.shutdown(true).unwrap();
        server.join().unwrap();
    }
    there.end();
}

#[test]
fn a_call_that_the_server_has_not_begun_is_repeated_and_another_is_not() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in Way::ALL {
        let client = Orb::builder().build().unwrap();
        let (clerk, server) = serve_all(&client, |listener| {
            let mut peer = Peer::accept(&listener);
            answer_first(&mut peer);
            peer.next().unwrap();
            peer.close();
            let mut peer = Peer::accept(&listener);
            let again = peer.next().unwrap();
            peer.answer(again.id, 8);
            // Gone without a word.
            peer.next().unwrap();
        });
        clerk.add(0, 0).unwrap();
        assert_eq!(way.add(&clerk, 1, 1).unwrap(), 8, "{way:?}");
        let lost = way.add(&clerk, 1, 1).unwrap_err();
        assert_eq!(lost.kind(), Kind::CommFailure, "{way:?}: {lost}");
        client.shutdown(true).unwrap();
        server.join().unwrap();
    }
}

#[test]
fn a_call_without_an_answer_ends_at_its_time_out_and_the_server_is_told() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in Way::ALL {
        let client = Orb::builder().build().unwrap();
        let (clerk, server) = serve(&client, |mut peer| {
            answer_first(&mut peer);
            let given_up = peer.next().unwrap();
            let cancel = peer.next().unwrap();
            assert_eq!((cancel.kind, cancel.id), (CANCEL, given_up.id));
            let dropped = peer.next().unwrap();
            let cancel = peer.next().unwrap();
            assert_eq!((cancel.kind, cancel.id), (CANCEL, dropped.id));
            // Late answers, which no call waits for.
            peer.answer(given_up.id, 1);
            peer.answer(dropped.id, 2);
            let next = peer.next().unwrap();
            peer.answer(next.id, 3);
            let _end = peer.next();
        });
        clerk.add(0, 0).unwrap();
        // Long enough for a busy machine to send the request.
        let object = clerk.as_object().with_timeout(Duration::from_secs(1));
        let hurried = Clerk::from_object(object);
        let late = way.add(&hurried, 1, 1).unwrap_err();
        assert_eq!(late.kind(), Kind::Timeout, "{way:?}: {late}");
        drop(clerk.sendp_add(1, 1));
        assert_eq!(way.add(&clerk, 1, 1).unwrap(), 3, "{way:?}");
        client.shutdown(true).unwrap();
        server.join().unwrap();
    }
}
