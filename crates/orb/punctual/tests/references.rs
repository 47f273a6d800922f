//! What references say beside where the object is, whatever protocols its server listens by.
#![allow(clippy::unwrap_used)]

mod support;

use punctual::stub::{Arc, ByteOrder};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, Poa, PoaError, RootPoa, SystemExceptionKind as Kind,
};
use punctual_ior::{Ior, TaggedProfile, tags};
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// A server with one object, and a client.
struct Served {
    server: Orb,
    client: Orb,
    poa: Poa,
    echo: Echo,
}

impl Served {
    fn by(protocol: &str) -> Self {
        let place = match protocol {
            "iiop" => "127.0.0.1:0",
            _ => "",
        };
        let server = Orb::builder().listen(ListenEndpoint::new(protocol, place));
        let server = server.build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        Self {
            server,
            client: Orb::builder().build().unwrap(),
            poa,
            echo,
        }
    }

    fn as_client(&self, reference: &Ior) -> ObjectRef {
        let text = reference.stringify(order()).unwrap();
        self.client.string_to_object(&text).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for orb in [&self.client, &self.server] {
            let _ = orb.shutdown(false);
        }
    }
}

fn order() -> ByteOrder {
    ByteOrder::NATIVE
}

#[test]
fn objects_are_deactivated_by_references_without_an_iiop_profile() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["uiop", "shmiop", "giop_lite+uiop"] {
        let served = Served::by(protocol);
        let seen = Echo::from_object(served.as_client(served.echo.as_object().ior()));
        assert_eq!(seen.long(1).unwrap(), 1, "{protocol}");
        served.poa.deactivate(&served.echo).unwrap();
        assert_eq!(seen.long(1).unwrap_err().kind(), Kind::ObjectNotExist);
        let again = served.poa.deactivate(&served.echo);
        assert_eq!(again, Err(PoaError::ObjectNotActive), "{protocol}");
    }
}

#[test]
fn objects_are_forwarded_by_references_without_an_iiop_profile() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["uiop", "shmiop"] {
        let served = Served::by(protocol);
        let other = Arc::new(EchoImpl::default());
        let there: Echo = served.poa.activate(other.clone()).unwrap();
        served.poa.forward(&served.echo, &there).unwrap();
        let seen = Echo::from_object(served.as_client(served.echo.as_object().ior()));
        // A one-way would not hear of the forward; it goes where the call before it has led.
        assert_eq!(seen.long(1).unwrap(), 1, "{protocol}");
        seen.ping().unwrap();
        assert_eq!(seen.pings().unwrap(), 1, "{protocol}");
        assert_eq!(*other.pings.lock().unwrap(), 1, "{protocol}");
    }
}

#[test]
fn a_reference_of_another_server_is_of_the_wrong_adapter_by_every_protocol() {
    for protocol in ["iiop", "uiop", "shmiop"] {
        let (served, other) = (Served::by(protocol), Served::by(protocol));
        let refused = served.poa.deactivate(&other.echo);
        assert_eq!(refused, Err(PoaError::WrongAdapter), "{protocol}");
        assert_eq!(other.poa.active_objects(), 1);
    }
}

#[test]
fn the_object_key_is_that_of_the_first_profile_that_can_be_read() {
    let client = Orb::builder().build().unwrap();
    let of = |profiles| {
        let ior = Ior {
            type_id: String::new(),
            profiles,
        };
        let text = ior.stringify(order()).unwrap();
        client.string_to_object(&text).unwrap().object_key()
    };
    let unknown = TaggedProfile {
        tag: 0x7777_7777,
        data: b"unknown".to_vec(),
    };
    let broken = TaggedProfile {
        tag: tags::profile::TAO_UIOP,
        data: vec![0, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff],
    };
    let read = client.string_to_object("corbaloc:iiop:1.2@127.0.0.1:1/the%20key");
    let read = read.unwrap().ior().profiles[0].clone();
    assert_eq!(of(vec![unknown.clone(), broken.clone()]), None);
    assert_eq!(
        of(vec![unknown, broken, read]).as_deref(),
        Some(&b"the key"[..])
    );
}
