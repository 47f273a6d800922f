//! Contents of references other than addresses, for all protocols of a server: the object key, and
//! the policies that the server published.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::config::GiopVersion;
use punctual::poa::PoaError;
use punctual::policy::PolicyValue;
use punctual::stub::{Arc, ByteOrder};
use punctual::{
    Interface, ListenEndpoint, ObjectRef, Orb, Poa, RootPoa, SystemExceptionKind as Kind,
};
use punctual_ior::{IiopProfile, Ior, TaggedComponent, TaggedProfile, tags};
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Server with one object, and a client with a reference to it.
struct Served {
    server: Orb,
    client: Orb,
    poa: Poa,
    echo: Echo,
}

impl Served {
    fn by(protocols: &[&str]) -> Self {
        Self::in_version(protocols, GiopVersion::V1_2)
    }

    fn in_version(protocols: &[&str], version: GiopVersion) -> Self {
        let place = |protocol: &str| match protocol {
            "iiop" => "127.0.0.1:0",
            _ => "",
        };
        let server = Orb::builder().configure(|config| config.giop_version = version);
        let server = protocols.iter().fold(server, |server, protocol| {
            server.listen(ListenEndpoint::new(protocol, place(protocol)))
        });
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

    /// Returns a reference to the object that publishes these policies.
    fn publishing(&self, policies: &[PolicyValue]) -> Ior {
        let key = self.echo.as_object().object_key().unwrap();
        let made = self
            .server
            .make_reference_with_policies(Echo::REPOSITORY_ID, &key, policies);
        made.unwrap().ior().clone()
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

/// Returns two policies in their published form: a priority model, and one of an unknown type.
fn policies() -> Vec<PolicyValue> {
    let of_kind = |kind, data: &[u8]| PolicyValue {
        kind,
        data: data.to_vec(),
    };
    let declared = [0, 0, 0, 0, 0, 0, 0, 1, 0, 7];
    vec![of_kind(40, &declared), of_kind(0xfeed_0001, b"whatever")]
}

#[test]
fn objects_are_deactivated_by_references_without_an_iiop_profile() {
    let _watchdog = watchdog(LIMIT);
    for protocol in ["uiop", "shmiop", "giop_lite+uiop"] {
        let served = Served::by(&[protocol]);
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
        let served = Served::by(&[protocol]);
        let other = Arc::new(EchoImpl::default());
        let there: Echo = served.poa.activate(other.clone()).unwrap();
        served.poa.forward(&served.echo, &there).unwrap();
        let seen = Echo::from_object(served.as_client(served.echo.as_object().ior()));
        // A one-way gets no forward; it goes where the call before it was forwarded to.
        assert_eq!(seen.long(1).unwrap(), 1, "{protocol}");
        seen.ping().unwrap();
        assert_eq!(seen.pings().unwrap(), 1, "{protocol}");
        assert_eq!(*other.pings.lock().unwrap(), 1, "{protocol}");
    }
}

#[test]
fn a_reference_of_another_server_is_of_the_wrong_adapter_by_every_protocol() {
    for protocol in ["iiop", "uiop", "shmiop"] {
        let (served, other) = (Served::by(&[protocol]), Served::by(&[protocol]));
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

#[test]
fn policies_are_published_in_every_profile_of_a_reference() {
    let _watchdog = watchdog(LIMIT);
    let protocols = ["iiop", "uiop", "shmiop", "giop_lite+uiop"];
    let served = Served::by(&protocols);
    let reference = served.publishing(&policies());
    assert!(reference.profiles.len() >= 3);
    for profile in &reference.profiles {
        let alone = served.as_client(&Ior {
            type_id: reference.type_id.clone(),
            profiles: vec![profile.clone()],
        });
        assert_eq!(alone.published_policies(), policies(), "{:#x}", profile.tag);
    }
    for protocol in protocols {
        let served = Served::by(&[protocol]);
        let seen = served.as_client(&served.publishing(&policies()));
        assert_eq!(seen.published_policies(), policies(), "{protocol}");
        assert_eq!(Echo::from_object(seen).long(1).unwrap(), 1, "{protocol}");
    }
}

#[test]
fn a_reference_without_policies_has_no_component_for_them() {
    let served = Served::by(&["iiop"]);
    assert_eq!(served.publishing(&[]), *served.echo.as_object().ior());
    assert_eq!(served.echo.as_object().published_policies(), []);
    let profile = served.echo.as_object().ior().iiop_profiles().next();
    let components = profile.unwrap().unwrap().components;
    let policies = tags::component::POLICIES;
    assert!(components.iter().all(|one| one.tag != policies));
}

#[test]
fn profiles_of_giop_1_0_have_no_policies_and_those_behind_them_are_read() {
    let old = Served::in_version(&["iiop"], GiopVersion::V1_0);
    let mut joined = old.publishing(&policies());
    assert_eq!(old.as_client(&joined).published_policies(), []);
    let new = Served::by(&["uiop"]);
    joined.profiles.extend(new.publishing(&policies()).profiles);
    assert_eq!(new.as_client(&joined).published_policies(), policies());
}

#[test]
fn a_policies_component_that_does_not_decode_says_nothing() {
    let served = Served::by(&["iiop"]);
    let with = |data: &[u8]| {
        let mut ior = served.echo.as_object().ior().clone();
        let mut profile = IiopProfile::decode(&ior.profiles[0].data).unwrap();
        profile.components.push(TaggedComponent {
            tag: tags::component::POLICIES,
            data: data.to_vec(),
        });
        ior.profiles = vec![profile.to_tagged(order()).unwrap()];
        served.as_client(&ior)
    };
    // No data; more policies than there are octets; a value longer than the component.
    for data in [
        &[][..],
        &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        &[
            0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 40, 0x7f, 0xff, 0xff, 0xff, 1,
        ],
    ] {
        let seen = with(data);
        assert_eq!(seen.published_policies(), [], "{data:?}");
        assert_eq!(Echo::from_object(seen).long(1).unwrap(), 1);
    }
}
