//! Policy types that a program defines and adds to an ORB, as Real-time CORBA does.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::poa::{CreatePoaError, PoaPolicy};
use punctual::policy::{Mux, PolicyCodec, PolicyLevels, PolicyType, PolicyValue, Validation};
use punctual::value::CdrError;
use punctual::{
    InitError, Interface, ObjectRef, Orb, Poa, Policy, RootPoa, SetOverride, SystemException,
    SystemExceptionKind as Kind,
};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Policy similar to Real-time CORBA's PriorityModelPolicy: the priority of calls, which the server
/// sets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PriorityModel {
    ClientPropagated,
    ServerDeclared(i16),
}

impl PolicyType for PriorityModel {
    const NUMBER: u32 = 40;
    const NAME: &'static str = "PriorityModel";
    const LEVELS: PolicyLevels = PolicyLevels::POA.and(PolicyLevels::POA_DEFAULT);
    const CODEC: Option<PolicyCodec<Self>> = Some(PolicyCodec {
        write: |model, out| {
            let (number, priority) = match model {
                Self::ClientPropagated => (0, 0),
                Self::ServerDeclared(priority) => (1, *priority),
            };
            out.put_u32(number);
            out.put_i16(priority);
            Ok(())
        },
        read: |input| match (input.get_u32()?, input.get_i16()?) {
            (0, _) => Ok(Self::ClientPropagated),
            (1, priority @ 0..) => Ok(Self::ServerDeclared(priority)),
            _ => Err(CdrError::BadEncapsulation),
        },
    });

    fn check(&self) -> Result<(), String> {
        match self {
            Self::ServerDeclared(priority @ ..0) => Err(format!("there is no priority {priority}")),
            _ => Ok(()),
        }
    }
}

/// Policy with a range of numbers: the effective range is the intersection of the client's and the
/// server's, and inner levels may only narrow it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Band(u16, u16);

impl Band {
    fn within(&self, other: &Self) -> Result<Self, String> {
        let (low, high) = (self.0.max(other.0), self.1.min(other.1));
        match low <= high {
            true => Ok(Self(low, high)),
            false => Err(format!("{self:?} and {other:?} have nothing in common")),
        }
    }
}

impl PolicyType for Band {
    const NUMBER: u32 = 0x7465_0001;
    const NAME: &'static str = "Band";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT.and(PolicyLevels::POA);
    const CODEC: Option<PolicyCodec<Self>> = Some(PolicyCodec {
        write: |band, out| {
            out.put_u16(band.0);
            out.put_u16(band.1);
            Ok(())
        },
        read: |input| Ok(Self(input.get_u16()?, input.get_u16()?)),
    });

    fn merge(outer: &Self, inner: &Self) -> Result<Self, String> {
        inner.within(outer)
    }

    fn reconcile(client: &Self, published: &Self) -> Result<Self, String> {
        client.within(published)
    }
}

fn orb() -> Orb {
    let builder = Orb::builder().configure(|config| {
        config.listen = vec![punctual::ListenEndpoint::iiop("127.0.0.1", 0)];
    });
    let builder = builder.policy_type::<PriorityModel>().unwrap();
    builder.policy_type::<Band>().unwrap().build().unwrap()
}

/// Server and client, both with the two policy types.
struct Served {
    server: Orb,
    client: Orb,
    root: Poa,
}

impl Served {
    fn new() -> Self {
        let (server, client) = (orb(), orb());
        let root = server.root_poa().unwrap();
        root.manager().activate().unwrap();
        Self {
            server,
            client,
            root,
        }
    }

    /// Returns the client's reference to an object of a POA with these policies.
    fn object(&self, name: &str, policies: &[PoaPolicy]) -> Echo {
        self.seen_by(&self.client, name, policies)
    }

    fn seen_by(&self, client: &Orb, name: &str, policies: &[PoaPolicy]) -> Echo {
        let poa = self.poa(name, policies).unwrap();
        let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let text = self.server.object_to_string(&echo).unwrap();
        Echo::from_object(client.string_to_object(&text).unwrap())
    }

    fn poa(&self, name: &str, policies: &[PoaPolicy]) -> Result<Poa, CreatePoaError> {
        let manager = self.root.manager();
        self.root.create_poa(name, Some(manager), policies)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for orb in [&self.client, &self.server] {
            let _ = orb.shutdown(false);
        }
    }
}

fn band(low: u16, high: u16) -> Policy {
    Policy::of(Band(low, high))
}

fn effective(object: &ObjectRef) -> Option<Band> {
    object.policy().unwrap()
}

fn with(echo: &Echo, policy: Policy) -> Echo {
    let object = echo.as_object();
    let object = object.set_policy_overrides(&[policy], SetOverride::Add);
    Echo::from_object(object.unwrap())
}

#[test]
fn a_policy_of_a_poa_is_published_in_its_references_and_holds_for_their_clients() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let model = PriorityModel::ServerDeclared(7);
    let policies = [PoaPolicy::of(model.clone())];
    let echo = served.object("declared", &policies);
    let object = echo.as_object();
    let poa = served.root.find_poa("declared", false).unwrap();
    assert_eq!(poa.policy(), Some(&model));
    assert!(poa.policies().contains(&policies[0]));
    let [published] = &object.published_policies()[..] else {
        panic!("{:?}", object.published_policies());
    };
    assert_eq!(published.kind, 40);
    assert_eq!(object.policy(), Ok(Some(model.clone())));
    assert_eq!(object.policies(&[40]), [Policy::of(model)]);
    assert_eq!(echo.long(1).unwrap(), 1);
    let plain = served.object("plain", &[]);
    assert_eq!(plain.as_object().policy::<PriorityModel>(), Ok(None));
    assert_eq!(plain.as_object().published_policies(), []);
}

#[test]
fn poas_made_later_have_what_their_orb_has_for_them() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let model = Policy::of(PriorityModel::ClientPropagated);
    served
        .server
        .policy_manager()
        .set_policy_overrides(&[model], SetOverride::Add)
        .unwrap();
    let of = |echo: &Echo| echo.as_object().policy::<PriorityModel>().unwrap();
    let by_default = served.object("by default", &[]);
    assert_eq!(of(&by_default), Some(PriorityModel::ClientPropagated));
    let own = [PoaPolicy::of(PriorityModel::ServerDeclared(1))];
    let own = served.object("own", &own);
    assert_eq!(of(&own), Some(PriorityModel::ServerDeclared(1)));
    assert_eq!(own.long(1).unwrap(), 1);
}

#[test]
fn values_of_all_levels_and_the_published_one_are_put_together_as_the_type_says() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let echo = served.object("band", &[PoaPolicy::Defined(band(10, 50))]);
    assert_eq!(effective(echo.as_object()), Some(Band(10, 50)));
    let (manager, current) = (
        served.client.policy_manager(),
        served.client.policy_current(),
    );
    let add = SetOverride::Add;
    manager.set_policy_overrides(&[band(0, 40)], add).unwrap();
    assert_eq!(effective(echo.as_object()), Some(Band(10, 40)), "the ORB's");
    current.set_policy_overrides(&[band(20, 100)], add).unwrap();
    assert_eq!(
        effective(echo.as_object()),
        Some(Band(20, 40)),
        "the thread's"
    );
    let others = std::thread::scope(|scope| {
        let other = scope.spawn(|| effective(echo.as_object()));
        other.join().unwrap()
    });
    assert_eq!(others, Some(Band(10, 40)), "another thread's");
    let narrow = with(&echo, band(30, 30));
    assert_eq!(effective(narrow.as_object()), Some(Band(30, 30)), "its own");
    assert_eq!(narrow.long(3).unwrap(), 3);
    assert_eq!(echo.long(4).unwrap(), 4);
    let overrides = narrow.as_object().policy_overrides(&[Band::NUMBER]);
    assert_eq!(overrides, [band(30, 30)]);
}

#[test]
fn policies_that_contradict_each_other_fail_the_call_and_say_so() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let echo = served.object("band", &[PoaPolicy::Defined(band(10, 50))]);
    assert_eq!(echo.long(1).unwrap(), 1);
    let beyond = with(&echo, band(60, 70));
    let contradicts = |error: &SystemException| {
        assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
        assert!(error.to_string().contains("Band(60, 70)"), "{error}");
    };
    contradicts(&beyond.long(1).unwrap_err());
    contradicts(&beyond.as_object().policy::<Band>().unwrap_err());
    let inconsistent = |of: &Echo| match of.as_object().validate_connection().unwrap() {
        Validation::Connected => panic!("the policies contradict each other"),
        Validation::Inconsistent { policies, why } => {
            contradicts(&why);
            policies
        }
    };
    // The client's, and the server's.
    assert_eq!(inconsistent(&beyond), [band(60, 70), band(10, 50)]);
    // The same holds without a request: the object is in the caller's own process and ORB.
    let poa = served.root.find_poa("band", false).unwrap();
    let here: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    assert_eq!(here.long(1).unwrap(), 1);
    contradicts(&with(&here, band(60, 70)).long(1).unwrap_err());
    // Calls work again once the contradiction is gone.
    assert_eq!(echo.long(2).unwrap(), 2);
    served
        .client
        .policy_manager()
        .set_policy_overrides(&[band(60, 70)], SetOverride::Set)
        .unwrap();
    contradicts(&echo.long(1).unwrap_err());
    served
        .client
        .policy_manager()
        .set_policy_overrides(&[], SetOverride::Set)
        .unwrap();
    assert_eq!(echo.long(1).unwrap(), 1);
}

#[test]
fn a_type_that_an_orb_was_not_told_of_is_refused_by_its_number_and_not_looked_into_in_references() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let plain = Orb::builder().build().unwrap();
    let refused = |error: SystemException| {
        assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
        let number = Band::NUMBER.to_string();
        assert!(error.to_string().contains(&number), "{error}");
    };
    let set = SetOverride::Add;
    let policies = [band(1, 2)];
    refused(
        plain
            .policy_manager()
            .set_policy_overrides(&policies, set)
            .unwrap_err(),
    );
    refused(
        plain
            .policy_current()
            .set_policy_overrides(&policies, set)
            .unwrap_err(),
    );
    let echo = served.seen_by(&plain, "band", &[PoaPolicy::Defined(band(10, 50))]);
    refused(
        echo.as_object()
            .set_policy_overrides(&policies, set)
            .unwrap_err(),
    );
    assert_eq!(echo.as_object().published_policies().len(), 1);
    assert_eq!(echo.as_object().policies(&[]), []);
    assert_eq!(echo.long(1).unwrap(), 1);
    let root = plain.root_poa().unwrap();
    let error = root.create_poa("band", None, &[PoaPolicy::Defined(band(1, 2))]);
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains(&Band::NUMBER.to_string()),
        "{error}"
    );
    plain.shutdown(false).unwrap();
}

#[test]
fn a_policy_is_refused_where_its_type_has_no_place_and_where_it_cannot_be_obeyed() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let echo = served.object("plain", &[]);
    let model = Policy::of(PriorityModel::ClientPropagated);
    let error = echo
        .as_object()
        .set_policy_overrides(&[model], SetOverride::Add)
        .unwrap_err();
    assert_eq!(error.kind(), Kind::InvPolicy);
    assert!(error.to_string().contains("a reference"), "{error}");
    let of_clients = PoaPolicy::Defined(Policy::Mux(Mux::Exclusive));
    let bad = PoaPolicy::of(PriorityModel::ServerDeclared(-1));
    let twice = PoaPolicy::Defined(band(1, 2));
    for (policies, at_fault, why) in [
        (vec![twice.clone(), of_clients], 1, "Mux"),
        (vec![bad], 0, "no priority -1"),
        (vec![twice.clone(), twice], 1, "given before"),
    ] {
        let error = served.poa("refused", &policies).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        let CreatePoaError::InvalidPolicy { index, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(index, at_fault);
    }
}

#[test]
fn a_published_value_that_does_not_decode_fails_the_call() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let echo: Echo = served.root.activate(Arc::new(EchoImpl::default())).unwrap();
    let key = echo.as_object().object_key().unwrap();
    for data in [&[][..], &[0], &[1, 0, 0, 0, 9, 0, 0, 0, 1, 0]] {
        let value = PolicyValue {
            kind: PriorityModel::NUMBER,
            data: data.to_vec(),
        };
        let server = &served.server;
        let made = server.make_reference_with_policies(Echo::REPOSITORY_ID, &key, &[value]);
        let text = server.object_to_string(&made.unwrap()).unwrap();
        let seen = Echo::from_object(served.client.string_to_object(&text).unwrap());
        let error = seen.long(1).unwrap_err();
        assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
        assert!(error.to_string().contains("type 40"), "{error}");
    }
}

/// Policy type with a number that another type has already.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Usurper;

impl PolicyType for Usurper {
    const NUMBER: u32 = 32;
    const NAME: &'static str = "Usurper";
    const LEVELS: PolicyLevels = PolicyLevels::CLIENT;
}

#[test]
fn a_number_that_is_taken_stops_the_start() {
    let Err(error @ InitError::PolicyType(_)) = Orb::builder().policy_type::<Usurper>() else {
        panic!("it was added");
    };
    let text = error.to_string();
    assert!(
        text.contains("Usurper") && text.contains("RelativeRoundtripTimeout"),
        "{text}"
    );
    // Registering the same type again is no conflict.
    let builder = Orb::builder().policy_type::<Band>().unwrap();
    assert!(builder.policy_type::<Band>().is_ok());
}
