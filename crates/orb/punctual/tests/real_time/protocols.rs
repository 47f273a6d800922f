//! ClientProtocolPolicy that a server publishes.

use crate::setting::{LIMIT, Server, at, client, echo, ordinary};
use crate::support::{Echo, watchdog};
use punctual::poa::{CreatePoaError, PoaPolicy};
use punctual::policy::Otherwise;
use punctual::rt::{PriorityModelPolicy, Propagated, RtOrb};
use punctual::stub::Arc;
use punctual::{Interface, Orb, Policy, SetOverride};

const ENDPOINTS: [&str; 3] = ["uiop://", "shmiop://", "iiop://127.0.0.1:0"];

fn preferring(protocols: &[&str]) -> PoaPolicy {
    PoaPolicy::Defined(Policy::protocols(protocols, Otherwise::Raise))
}

/// Returns a reference, as text, to an object of a POA with these policies.
fn object(server: &Server, name: &str, policies: &[PoaPolicy]) -> String {
    let poa = server.poa(name, policies).unwrap();
    let echo: Echo = poa.activate(server.noting.clone()).unwrap();
    server.orb.object_to_string(echo.as_object()).unwrap()
}

fn goes_by(echo: &Echo) -> String {
    echo.long(1).unwrap();
    let place = echo.as_object().connected_to().unwrap().to_string();
    place.split(':').next().unwrap().to_owned()
}

#[test]
fn clients_without_a_word_of_their_own_prefer_the_protocols_that_the_server_publishes() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &ENDPOINTS);
    let by = |client: &Orb, reference: &str| goes_by(&echo(client, reference));
    let plain = object(&server, "plain", &[]);
    let tcp = object(&server, "tcp", &[preferring(&["iiop"])]);
    // Protocols that the reference does not name are skipped: the policy is a preference, even if
    // the server calls it more.
    let datagrams = [preferring(&["giop_oneway+diop", "iiop", "uiop"])];
    let datagrams = object(&server, "datagrams", &datagrams);
    let model = PoaPolicy::of(PriorityModelPolicy::client_propagated(at(1)));
    let both = object(&server, "both", &[model, preferring(&["iiop", "uiop"])]);
    let client = client(&rt);
    assert_eq!(by(&client, &plain), "uiop");
    for reference in [&tcp, &datagrams, &both] {
        assert_eq!(by(&client, reference), "iiop");
    }
    // Clients with a preference: the reference's, the thread's, the ORB's, its configuration's.
    let local = [Policy::protocols(&["uiop"], Otherwise::Raise)];
    let own = echo(&client, &tcp);
    let own = own
        .as_object()
        .set_policy_overrides(&local, SetOverride::Add);
    assert_eq!(goes_by(&Echo::from_object(own.unwrap())), "uiop");
    let current = client.policy_current();
    current
        .set_policy_overrides(&local, SetOverride::Set)
        .unwrap();
    assert_eq!(by(&client, &tcp), "uiop");
    current.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(by(&client, &tcp), "iiop");
    let manager = client.policy_manager();
    manager
        .set_policy_overrides(&local, SetOverride::Set)
        .unwrap();
    assert_eq!(by(&client, &tcp), "uiop");
    assert_eq!(by(&configured(&rt), &tcp), "uiop");
    // An ORB without Real-time CORBA ignores it.
    assert_eq!(by(&Orb::builder().build().unwrap(), &tcp), "uiop");
}

/// Makes a client that is configured to prefer Unix sockets.
fn configured(rt: &Arc<RtOrb>) -> Orb {
    let builder = Orb::builder().configure(|config| config.client_protocols = vec!["uiop".into()]);
    rt.extend(builder).unwrap().build().unwrap()
}

#[test]
fn what_cannot_be_published_is_refused_where_the_poa_is_made() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::at(&ordinary(Propagated::default()), &ENDPOINTS);
    for (protocols, why) in [
        (&["iiop", "shmiop"][..], "profile tag"),
        (&["carrier_pigeon"], "carrier_pigeon"),
        (&[], "no protocol"),
    ] {
        let model = PoaPolicy::of(PriorityModelPolicy::server_declared(at(1)));
        let refused = server
            .poa("refused", &[model, preferring(protocols)])
            .unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
        assert!(
            matches!(refused, CreatePoaError::InvalidPolicy { index: 1, .. }),
            "{refused}"
        );
    }
}
