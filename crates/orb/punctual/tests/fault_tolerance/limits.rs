//! Limits on the replies that a server keeps.

use crate::contexts::{Contexts, now};
use crate::group::{Server, add, seen_by};
use punctual::stub::{Marshal, Operation, Unmarshal};
use punctual::{
    CompletionStatus, ObjectRef, Orb, OrbConfig, SystemException, SystemExceptionKind as Kind,
};
use std::time::Duration;

fn octets(object: &ObjectRef, length: u32) -> Result<usize, SystemException> {
    const OCTETS: Operation = Operation::two_way("octets");
    let arguments = |out: &mut punctual::stub::Encoder<'_>| length.marshal(out);
    let read = object.invoke(&OCTETS, arguments, Vec::<u8>::unmarshal)?;
    Ok(read.len())
}

fn refused<R: std::fmt::Debug>(answer: Result<R, SystemException>) -> CompletionStatus {
    let error = answer.unwrap_err();
    assert_eq!(error.kind(), Kind::NoResources, "{error}");
    error.completed()
}

#[test]
fn a_client_at_its_limit_is_refused_and_others_are_not_until_all_is_full() {
    let server = Server::with(|config| {
        config.fault_tolerance.retained = 3;
        config.fault_tolerance.retained_of_client = 2;
    });
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    let call = |client: &str, retention| {
        contexts.set_request(client, retention, now() + Duration::from_secs(250));
        add(&object)
    };
    assert_eq!((call("one", 1), call("one", 2)), (Ok(1), Ok(2)));
    assert_eq!(refused(call("one", 3)), CompletionStatus::No);
    assert_eq!(call("two", 1), Ok(3));
    assert_eq!(refused(call("two", 2)), CompletionStatus::No);
    // None of the replies that are kept was lost for it.
    assert_eq!(
        (call("one", 1), call("one", 2), call("two", 1)),
        (Ok(1), Ok(2), Ok(3))
    );
    assert_eq!(server.servant.upcalls(), 3);
}

#[test]
fn a_reply_that_is_too_large_to_be_kept_is_sent_and_its_repeat_is_refused() {
    let server = Server::with(|config| {
        config.fault_tolerance.retained_bytes_of_client = 4096;
        config.fault_tolerance.retained_bytes = 6000;
    });
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    let call = |client: &str, retention, length| {
        contexts.set_request(client, retention, now() + Duration::from_secs(250));
        octets(&object, length)
    };
    assert_eq!(call("one", 1, 5000), Ok(5000));
    assert_eq!(refused(call("one", 1, 5000)), CompletionStatus::Yes);
    assert_eq!(call("one", 2, 3000), Ok(3000));
    assert_eq!(call("one", 2, 3000), Ok(3000));
    assert_eq!(call("two", 1, 3500), Ok(3500));
    assert_eq!(refused(call("two", 1, 3500)), CompletionStatus::Yes);
    assert_eq!(server.servant.upcalls(), 3);
}

#[test]
fn a_request_that_wants_its_reply_kept_for_too_long_is_refused() {
    let server = Server::new();
    let (contexts, client) = Contexts::client();
    let object = seen_by(&client, &server.ior());
    contexts.set_request("one", 1, now() + Duration::from_secs(100_000));
    assert_eq!(refused(add(&object)), CompletionStatus::No);
    assert_eq!(server.servant.upcalls(), 0);
}

#[test]
fn a_program_without_fault_tolerance_refuses_its_settings() {
    let started = |change: fn(&mut OrbConfig)| Orb::builder().configure(change).build();
    let error = started(|config| config.fault_tolerance.retained = 5).unwrap_err();
    assert!(
        error.to_string().contains("FaultTolerance::extend"),
        "{error}"
    );
    assert!(started(|_| {}).is_ok());
    let error = started(|config| config.fault_tolerance.retained = 0).unwrap_err();
    assert!(
        error.to_string().contains("fault_tolerance.retained"),
        "{error}"
    );
}
