//! Protocols of an ORB: each alone, end to end; several at once; and combinations of links and
//! messaging protocols that are refused.
#![cfg(feature = "reliable")]
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Otherwise;
use punctual::protocol::ProtocolError;
use punctual::stub::ObjectRef;
use punctual::{
    InitError, Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Protocols for calls with replies, each with an address to listen at.
const TWO_WAY: &[(&str, &str)] = &[
    ("iiop", "127.0.0.1:0"),
    ("uiop", ""),
    ("shmiop", ""),
    ("reliable+diop", "127.0.0.1:0"),
    ("giop_lite+iiop", "127.0.0.1:0"),
    ("giop_lite+uiop", ""),
    ("giop_lite+shmiop", ""),
    ("giop_lite+reliable+diop", "127.0.0.1:0"),
];

/// Protocols that carry one-way requests only, each with an endpoint address.
const ONE_WAY: &[(&str, &str)] = &[
    ("frames+diop", "127.0.0.1:0"),
    ("frames+uiop", ""),
    ("frames+shmiop", ""),
    ("giop_oneway+diop", "127.0.0.1:0"),
];

/// Server with one object at these endpoints, and a client with a reference to it.
struct Served {
    server: Orb,
    client: Orb,
    servant: Arc<EchoImpl>,
    echo: Echo,
}

impl Served {
    fn at(endpoints: &[(&str, &str)]) -> Self {
        let mut builder = Orb::builder();
        for (protocol, place) in endpoints {
            builder = builder.listen(ListenEndpoint::new(protocol, place));
        }
        let server = builder.build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let client = Orb::builder()
            .configure(|config| config.connections_per_endpoint = 1)
            .build()
            .unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        Self {
            server,
            client,
            servant,
            echo,
        }
    }

    fn by(&self, protocol: &str) -> Echo {
        let policy = Policy::protocols(&[protocol], Otherwise::Raise);
        let object = self.echo.as_object();
        let object = object.set_policy_overrides(&[policy], SetOverride::Add);
        Echo::from_object(object.unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

fn exercise(echo: &Echo, protocol: &str) {
    assert_eq!(echo.long(7).unwrap(), 7, "{protocol}");
    assert_eq!(echo.text("grüß dich, 世界").unwrap(), "grüß dich, 世界");
    for length in [0, 1, 100, 4096, 100_000, 3 << 20] {
        let octets: Vec<u8> = (0..length).map(|i: u32| i.to_le_bytes()[0]).collect();
        assert_eq!(echo.octets(&octets).unwrap(), octets, "{protocol} {length}");
    }
    assert_eq!(echo.fail().unwrap_err().kind(), Kind::NoPermission);
    assert_eq!(echo.unknown().unwrap_err().kind(), Kind::BadOperation);
    assert!(echo.as_object().locate().unwrap());
    let same = echo.same(Some(echo.as_object())).unwrap().unwrap();
    assert_eq!(&same, echo.as_object(), "{protocol}");
    let before = echo.pings().unwrap();
    for _ in 0..10 {
        echo.ping().unwrap();
    }
    assert_eq!(echo.pings().unwrap(), before + 10, "{protocol}");
}

#[test]
fn every_protocol_carries_calls_with_replies() {
    let _watchdog = watchdog(LIMIT);
    for endpoint in TWO_WAY {
        let served = Served::at(&[*endpoint]);
        exercise(&served.echo, endpoint.0);
    }
}

#[test]
fn all_protocols_at_once_in_one_orb_and_each_can_be_chosen() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::at(TWO_WAY);
    for (protocol, _) in TWO_WAY {
        exercise(&served.by(protocol), protocol);
    }
}

#[test]
fn many_threads_share_a_connection_of_each_protocol() {
    let _watchdog = watchdog(LIMIT);
    for endpoint in TWO_WAY {
        let served = Served::at(&[*endpoint]);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let echo = served.echo.clone();
                scope.spawn(move || {
                    for call in 0..50 {
                        let value = thread * 1000 + call;
                        assert_eq!(echo.long(value).unwrap(), value);
                    }
                });
            }
        });
        assert_eq!(served.server.client_connections(), 1, "{}", endpoint.0);
    }
}

#[test]
fn one_ways_arrive_by_each_protocol_for_them() {
    let _watchdog = watchdog(LIMIT);
    for endpoint in ONE_WAY {
        let served = Served::at(&[*endpoint, ("iiop", "127.0.0.1:0")]);
        let (by_datagram, by_tcp) = (served.by(endpoint.0), served.by("iiop"));
        // Datagrams may be lost, on a loopback seldom: enough are sent for one to arrive.
        while by_tcp.pings().unwrap() == 0 {
            by_datagram.ping().unwrap();
        }
    }
}

#[test]
fn a_call_with_a_reply_takes_a_protocol_that_can_carry_it() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::at(&[("frames+diop", "127.0.0.1:0"), ("iiop", "127.0.0.1:0")]);
    assert_eq!(served.echo.long(3).unwrap(), 3);
    let refused = served.by("frames+diop").long(3).unwrap_err();
    assert_eq!(refused.kind(), Kind::InvPolicy, "{refused}");
    let text = refused.to_string();
    assert!(
        text.contains("has frames+diop, for one-ways only") && text.contains("by iiop"),
        "{text}"
    );
    let only = Served::at(&[("frames+diop", "127.0.0.1:0")]);
    let refused = only.echo.long(3).unwrap_err();
    assert_eq!(refused.kind(), Kind::InvPolicy);
    assert!(refused.to_string().contains("one-ways"), "{refused}");
}

#[test]
fn pairs_that_do_not_fit_stop_the_start_with_what_is_lacking() {
    let start = |protocol: &str| {
        let endpoint = ListenEndpoint::new(protocol, "");
        Orb::builder().listen(endpoint).build().map(drop)
    };
    for (protocol, lacking) in [
        ("diop", ["reliable delivery", "order"]),
        ("giop_lite+diop", ["reliable delivery", "any length"]),
    ] {
        match start(protocol).unwrap_err() {
            InitError::Protocol(error @ ProtocolError::Unfit { .. }) => {
                let text = error.to_string();
                assert!(lacking.iter().all(|what| text.contains(what)), "{text}");
                assert!(text.contains("+reliable+diop` would work"), "{text}");
            }
            other => panic!("{other}"),
        }
    }
    for protocol in [
        "reliable+iiop",
        "reliable+reliable+diop",
        "giop_lite+reliable+shmiop",
    ] {
        let error = start(protocol).unwrap_err().to_string();
        assert!(error.contains("which takes none"), "{error}");
    }
    let unknown = start("carrier_pigeon").unwrap_err().to_string();
    assert!(
        unknown.contains("`carrier_pigeon`") && unknown.contains("`iiop`"),
        "{unknown}"
    );
    let unknown = start("smtp+iiop").unwrap_err().to_string();
    assert!(unknown.contains("`smtp`"), "{unknown}");
    let client = Orb::builder().configure(|config| config.client_protocols = vec!["diop".into()]);
    assert!(client.build().is_err());
}

#[test]
fn a_client_can_have_other_protocols_than_a_server() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::at(&[("uiop", ""), ("iiop", "127.0.0.1:0")]);
    let text = served.client.object_to_string(&served.echo).unwrap();
    let calls_by = |protocols: &[&str]| {
        let named: Vec<String> = protocols.iter().map(ToString::to_string).collect();
        let client = Orb::builder().configure(|config| config.client_protocols = named);
        let client = client.build().unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        echo.long(1)
    };
    assert_eq!(calls_by(&["iiop"]).unwrap(), 1);
    assert_eq!(calls_by(&["uiop", "iiop"]).unwrap(), 1);
    let refused = calls_by(&["giop_lite+iiop"]).unwrap_err();
    assert_eq!(refused.kind(), Kind::InvPolicy);
    let text = refused.to_string();
    assert!(
        text.contains("giop_lite+iiop") && text.contains("uiop"),
        "{text}"
    );
}

#[test]
fn references_by_another_protocol_pass_through_as_arguments() {
    let _watchdog = watchdog(LIMIT);
    let near = Served::at(&[("uiop", "")]);
    let far = Served::at(&[("iiop", "127.0.0.1:0")]);
    let same: ObjectRef = near.echo.same(Some(far.echo.as_object())).unwrap().unwrap();
    assert_eq!(Echo::from_object(same).long(5).unwrap(), 5);
}

#[test]
fn one_ways_keep_to_the_protocol_that_is_preferred_for_them_whatever_calls_with_replies_take() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::at(&[("frames+uiop", ""), ("iiop", "127.0.0.1:0")]);
    let policy = Policy::protocols(&["frames+uiop", "iiop"], Otherwise::Raise);
    let object = served.echo.as_object();
    let object = object.set_policy_overrides(&[policy], SetOverride::Add);
    let echo = Echo::from_object(object.unwrap());
    for count in 1..=3 {
        echo.ping().unwrap();
        // By TCP, beside the frames.
        while echo.pings().unwrap() < count {}
    }
    assert_eq!(served.servant.arrivals.lock().unwrap().len(), 3);
}
