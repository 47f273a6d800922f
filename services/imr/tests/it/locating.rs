//! Clients that begin with a LocateRequest, as omniORB's do.

use std::time::Duration;

use punctual::{Interface, SystemExceptionKind, minor};
use punctual_imr::LocatorService;
use punctual_imr::implementation_repository::ActivationMode;

use crate::idl::Works;
use crate::server::ID;
use crate::support::{HERE, Served, Start, client, key, works};

/// Serves a repository with a server that dies at its start, and is not started again within the test.
pub(crate) fn with_server_that_dies() -> Served {
    let service = LocatorService::in_memory();
    service.set_activator(HERE, false).unwrap();
    let mut limits = punctual_imr::Limits::default();
    limits.first_pause = Duration::from_secs(3600);
    limits.longest_pause = limits.first_pause;
    service.set_limits(limits);
    let served = Served::also_over_tcp(service);
    served.add("plant", |start: &mut Start| start.fault = "dies");
    served
}

/// Returns the object of a server at the TCP endpoint of a repository, for a version of GIOP.
fn over_tcp(served: &Served, version: &str, name: &str) -> Works {
    let port = served.port();
    let object = key("", name, ID);
    let octets: String = object.iter().map(|octet| format!("%{octet:02x}")).collect();
    let url = format!("corbaloc:iiop:{version}@127.0.0.1:{port}/{octets}");
    Works::from_object(served.client.string_to_object(&url).unwrap())
}

#[test]
fn a_locate_request_starts_its_server_once_and_one_for_no_server_starts_none() {
    let served = Served::new();
    served.add("plant", |_| {});
    assert!(!served.works("other").as_object().locate().unwrap());
    assert_eq!(served.started(), [0; 0]);
    let works = served.works("plant");
    assert!(works.as_object().locate().unwrap());
    assert_eq!(served.started().len(), 1);
    // It was led to the server, and calls that.
    let forwards = served.service.forwards();
    assert_eq!(works.count().unwrap(), 1);
    assert_eq!(served.service.forwards(), forwards);
}

#[test]
fn a_client_that_locates_the_object_first_is_told_that_the_start_has_failed() {
    let served = with_server_that_dies();
    let works = over_tcp(&served, "1.2", "plant");
    let refused = works.as_object().locate().unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (SystemExceptionKind::Transient, minor::START_FAILED)
    );
    assert_eq!(served.started().len(), 1);
}

#[test]
fn a_client_of_a_giop_version_without_exceptions_in_locate_replies_is_told_by_its_request() {
    for version in ["1.0", "1.1"] {
        let served = with_server_that_dies();
        let works = over_tcp(&served, version, "plant");
        assert_eq!(works.as_object().locate(), Ok(true), "{version}");
        let refused = works.count().unwrap_err();
        assert_eq!(refused.minor(), minor::STARTS_HELD_BACK, "{version}");
        // Not for this request: the one start that was made has failed.
        assert_eq!(served.started().len(), 1, "{version}");
    }
}

#[test]
fn in_mode_per_client_a_client_that_locates_the_object_first_has_one_process() {
    let served = Served::new();
    served.add("plant", |start| start.mode = ActivationMode::PerClient);
    let text = served.reference();
    for clients in 1..=2 {
        let client = client();
        let repository = client.string_to_object(&text).unwrap();
        let works = works(&repository, "", "plant");
        assert_eq!(works.as_object().locate(), Ok(true));
        assert_eq!((works.count().unwrap(), works.count().unwrap()), (1, 2));
        assert_eq!(served.started().len(), clients);
        client.shutdown(true).unwrap();
    }
}

#[test]
fn in_mode_per_client_a_start_that_fails_is_told_and_made_once() {
    let served = with_server_that_dies();
    served.add("plant", |start| {
        start.fault = "dies";
        start.mode = ActivationMode::PerClient;
    });
    let works = over_tcp(&served, "1.2", "plant");
    let refused = works.as_object().locate().unwrap_err();
    assert_eq!(refused.minor(), minor::START_FAILED);
    assert_eq!(works.count().unwrap_err().minor(), minor::STARTS_HELD_BACK);
    assert_eq!(served.started().len(), 1);
}
