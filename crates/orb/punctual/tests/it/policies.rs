//! Policies at the levels of ORB, thread, reference and call: protocol, connection, time.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::multicast::Multicast;
use punctual::policy::{Mux, Otherwise, Transfer};
use punctual::protocol::ssliop::TlsOptions;
use punctual::{
    Interface, ListenEndpoint, Orb, OrbBuilder, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Server that listens on a Unix socket and on TCP, in this order.
struct Served {
    server: Orb,
    client: Orb,
    servant: Arc<EchoImpl>,
    echo: Echo,
}

impl Served {
    fn new() -> Self {
        let server = Orb::builder()
            .listen(ListenEndpoint::new("uiop", ""))
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let client = Orb::builder().build().unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        Self {
            server,
            client,
            servant,
            echo,
        }
    }

    /// Returns the protocol that a call uses: that of the connection to which the reference is then
    /// bound.
    fn goes_by(&self, echo: &Echo) -> &'static str {
        let before = self.server.client_connections();
        echo.long(1).unwrap();
        let uiop = self.server.endpoints()[0].clone();
        assert!(self.server.client_connections() >= before);
        let text = format!("{:?}", echo.as_object().connected_to().unwrap());
        match text.split(':').next().unwrap() {
            "uiop" => {
                assert!(text.contains(&uiop.place));
                "uiop"
            }
            "iiop" => "iiop",
            other => panic!("{other}"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

fn only(protocol: &str) -> Policy {
    Policy::protocols(&[protocol], Otherwise::Raise)
}

fn with(echo: &Echo, policy: Policy) -> Echo {
    let object = echo.as_object();
    let object = object.set_policy_overrides(&[policy], SetOverride::Add);
    Echo::from_object(object.unwrap())
}

#[test]
fn a_closer_level_overrides_those_around_it() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let (client, echo) = (&served.client, &served.echo);
    assert_eq!(served.goes_by(echo), "uiop", "the first profile's");
    let manager = client.policy_manager();
    manager
        .set_policy_overrides(&[only("iiop")], SetOverride::Set)
        .unwrap();
    assert_eq!(served.goes_by(echo), "iiop", "the ORB's");
    let current = client.policy_current();
    current
        .set_policy_overrides(&[only("uiop")], SetOverride::Set)
        .unwrap();
    assert_eq!(served.goes_by(echo), "uiop", "the thread's");
    let other_thread = std::thread::scope(|scope| {
        let thread = scope.spawn(|| served.goes_by(echo));
        thread.join().unwrap()
    });
    assert_eq!(other_thread, "iiop", "another thread has none of its own");
    let by_iiop = with(echo, only("iiop"));
    assert_eq!(served.goes_by(&by_iiop), "iiop", "the reference's");
    assert_eq!(served.goes_by(echo), "uiop", "which the original has not");
    current.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(served.goes_by(echo), "iiop");
    manager.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(served.goes_by(echo), "uiop");
}

#[test]
fn effective_policies_are_told_and_overrides_can_be_read_back() {
    let served = Served::new();
    let (client, object) = (&served.client, served.echo.as_object());
    let (outer, inner) = (Duration::from_secs(9), Duration::from_secs(3));
    client
        .policy_manager()
        .set_policy_overrides(
            &[Policy::RelativeRoundtripTimeout(outer), only("iiop")],
            SetOverride::Set,
        )
        .unwrap();
    let own = object
        .set_policy_overrides(&[Policy::RelativeRoundtripTimeout(inner)], SetOverride::Add)
        .unwrap();
    assert_eq!(
        own.policies(&[32]),
        [Policy::RelativeRoundtripTimeout(inner)]
    );
    assert_eq!(own.policies(&[43]), [only("iiop")]);
    assert_eq!(own.policy_overrides(&[]).len(), 1);
    assert_eq!(object.policy_overrides(&[]), []);
    assert_eq!(
        object.policies(&[32]),
        [Policy::RelativeRoundtripTimeout(outer)]
    );
    let none = own.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(none.policy_overrides(&[]), []);
}

#[test]
fn a_preference_that_cannot_be_met_raises_or_chooses_as_it_says() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let lite = ["giop_lite+iiop"];
    let raises = with(&served.echo, Policy::protocols(&lite, Otherwise::Raise));
    let error = raises.long(1).unwrap_err();
    assert_eq!(error.kind(), Kind::InvPolicy);
    assert!(error.to_string().contains("giop_lite+iiop"), "{error}");
    let chooses = with(&served.echo, Policy::protocols(&lite, Otherwise::Choose));
    assert_eq!(served.goes_by(&chooses), "uiop");
    let order = ["giop_lite+iiop", "iiop", "uiop"];
    let ordered = with(&served.echo, Policy::protocols(&order, Otherwise::Raise));
    assert_eq!(served.goes_by(&ordered), "iiop");
}

#[test]
fn policies_that_cannot_be_obeyed_are_refused_when_they_are_set() {
    let served = Served::new();
    let object = served.echo.as_object();
    let set = |policies: &[Policy]| object.set_policy_overrides(policies, SetOverride::Add);
    for policy in [
        only("carrier_pigeon"),
        only("giop+diop"),
        Policy::protocols::<&str>(&[], Otherwise::Raise),
        Policy::RelativeRoundtripTimeout(Duration::ZERO),
    ] {
        let error = set(std::slice::from_ref(&policy)).unwrap_err();
        assert_eq!(error.kind(), Kind::InvPolicy, "{policy:?}");
        assert!(error.to_string().contains("policy 0"), "{error}");
    }
    let twice = [
        Policy::Transfer(Transfer::Copy),
        Policy::Transfer(Transfer::Lend),
    ];
    assert_eq!(set(&twice).unwrap_err().kind(), Kind::BadParam);
    // Two properties of one link are independent.
    set(&[
        Policy::link_property("iiop", "no_delay", false),
        Policy::link_property("iiop", "keep_alive", false),
    ])
    .unwrap();
}

#[test]
fn a_link_obeys_its_own_properties_and_takes_no_notice_of_anothers() {
    let _watchdog = watchdog(LIMIT);
    let served = Served::new();
    let by_iiop = with(&served.echo, only("iiop"));
    let fine = with(&by_iiop, Policy::link_property("uiop", "nonsense", 1));
    assert_eq!(fine.long(1).unwrap(), 1);
    let before = served.server.client_connections();
    let tuned = with(
        &by_iiop,
        Policy::link_property("iiop", "send_buffer", 65536),
    );
    assert_eq!(tuned.long(1).unwrap(), 1);
    assert_eq!(
        served.server.client_connections(),
        before + 1,
        "connections whose properties differ are not shared"
    );
    let refused = with(&by_iiop, Policy::link_property("iiop", "nonsense", 1));
    let error = refused.long(1).unwrap_err();
    assert!(error.to_string().contains("nonsense=1"), "{error}");
    let refused = with(&by_iiop, Policy::link_property("iiop", "no_delay", "maybe"));
    let error = refused.long(1).unwrap_err();
    assert!(error.to_string().contains("no_delay=maybe"), "{error}");
}

#[test]
fn the_timeout_policy_bounds_calls_of_its_level() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let soon = Duration::from_millis(30);
    pair.client
        .policy_current()
        .set_policy_overrides(&[Policy::RelativeRoundtripTimeout(soon)], SetOverride::Set)
        .unwrap();
    assert_eq!(pair.echo.wait().unwrap_err().kind(), Kind::Timeout);
    let error = with(&pair.echo, Policy::RelativeRoundtripTimeout(soon * 2)).wait();
    assert!(error.unwrap_err().to_string().contains("60 ms"));
}

#[test]
fn the_mux_strategy_changes_on_a_live_orb_and_calls_in_progress_finish() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    let manager = pair.client.policy_manager();
    let callers = |count: u32| {
        let threads: Vec<_> = (0..count)
            .map(|_| {
                let echo = pair.echo.clone();
                std::thread::spawn(move || echo.wait())
            })
            .collect();
        threads
    };
    let shared = callers(3);
    pair.servant.gate.wait_for_waiters(3);
    assert_eq!(pair.server.client_connections(), 1);
    manager
        .set_policy_overrides(&[Policy::Mux(Mux::Exclusive)], SetOverride::Set)
        .unwrap();
    let exclusive = callers(3);
    pair.servant.gate.wait_for_waiters(6);
    assert_eq!(pair.server.client_connections(), 4);
    manager.set_policy_overrides(&[], SetOverride::Set).unwrap();
    assert_eq!(pair.echo.long(1).unwrap(), 1);
    assert_eq!(pair.server.client_connections(), 4);
    pair.servant.gate.open();
    for caller in shared.into_iter().chain(exclusive) {
        caller.join().unwrap().unwrap();
    }
    // Exclusive connections are kept for the next calls.
    manager
        .set_policy_overrides(&[Policy::Mux(Mux::Exclusive)], SetOverride::Set)
        .unwrap();
    for _ in 0..10 {
        assert_eq!(pair.echo.long(2).unwrap(), 2);
    }
    assert_eq!(pair.server.client_connections(), 4);
}

/// Makes a builder of ORBs that have all links, with these properties for connections of a link.
fn configured(link: &str, properties: &[(&str, &str)]) -> OrbBuilder {
    let builder = Orb::builder().configure(|config| {
        config.tls = Some(TlsOptions::default());
        let properties = properties.iter().copied();
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        config
            .link_properties
            .insert(link.to_owned(), properties.collect());
    });
    Multicast::extend(builder)
}

#[test]
fn a_property_that_no_connection_and_no_acceptor_of_a_link_can_have_is_refused_where_the_orb_starts()
 {
    for (link, name, value) in [
        ("iiop", "pacing_rate", "0"),
        ("iiop", "send_buffer", "2147483648"),
        ("iiop", "busy_poll_us", "2147483648"),
        ("iiop", "incoming_cpu", "first"),
        ("iiop", "nonsense", "1"),
        ("uiop", "send_buffer", "many"),
        ("shmiop", "ring", "5000"),
        ("diop", "pacing_rate", "0"),
        ("diop", "launch_lead_us", "soon"),
        ("diop", "nonsense", "1"),
        // Of the adapter `reliable` over it.
        ("diop", "window", "wide"),
        ("miop", "ttl", "999"),
        ("ssliop", "minimum", "1.1"),
        ("ssliop", "server_name", "a name with spaces"),
        ("vsock", "receive_buffer", "127"),
    ] {
        let error = configured(link, &[(name, value)]).build().unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(&format!("`[link.{link}]`: ")), "{error}");
        assert!(error.contains(&format!("`{name}={value}`")), "{error}");
    }
    // What is wrong is named, and not what belongs to another adapter or to acceptors.
    let beside = [
        ("incoming_cpu", "0"),
        ("pacing_rate", "0"),
        ("window", "4096"),
    ];
    let error = configured("diop", &beside).build().unwrap_err().to_string();
    assert!(error.contains("`pacing_rate=0`"), "{error}");
    for (link, name, value) in [
        ("iiop", "pacing_rate", "1"),
        // Of acceptors.
        ("iiop", "incoming_cpu", "0"),
        ("diop", "incoming_cpu", "0"),
        ("miop", "ttl", "0"),
        ("ssliop", "server_name", "192.0.2.1"),
        ("diop", "window", "4096"),
    ] {
        configured(link, &[(name, value)]).build().unwrap();
    }
}

#[test]
fn a_period_by_policy_completes_the_configured_lead_and_clock_of_launch_times() {
    let _watchdog = watchdog(LIMIT);
    let server = Orb::builder()
        .listen(ListenEndpoint::new("giop_oneway+diop", "127.0.0.1:0"))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let text = server.object_to_string(&reference).unwrap();
    let client = configured(
        "diop",
        &[("launch_lead_us", "300"), ("launch_clock", "monotonic")],
    );
    // An endpoint has no launch times, and goes by the same table.
    let client = client.listen(ListenEndpoint::new("giop_oneway+diop", "127.0.0.1:0"));
    let client = client.build().unwrap();
    let own = client.root_poa().unwrap();
    own.manager().activate().unwrap();
    assert_eq!(client.endpoints().len(), 1);
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    let by_datagrams = with(&echo, only("giop_oneway+diop"));
    let error = by_datagrams.ping().unwrap_err().to_string();
    assert!(error.contains("launch_period_us beside it"), "{error}");
    let period = Policy::link_property("diop", "launch_period_us", 1_000);
    with(&by_datagrams, period).ping().unwrap();
    let by_tcp = with(&echo, only("iiop"));
    while by_tcp.pings().unwrap() == 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_property_of_endpoints_in_a_links_table_holds_for_them_and_not_for_connections() {
    let _watchdog = watchdog(LIMIT);
    let steered = || configured("iiop", &[("incoming_cpu", "0")]);
    let server = listening(steered(), 0).unwrap();
    let poa = server.root_poa().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let text = server.object_to_string(&echo).unwrap();
    let client = listening(steered(), 0).unwrap();
    let echo = Echo::from_object(client.string_to_object(&text).unwrap());
    assert_eq!(echo.long(7).unwrap(), 7);
    // Only endpoints with a processor share their address.
    let port = client.endpoints()[0].port().unwrap();
    assert!(listening(Orb::builder(), port).is_err());
    listening(steered(), port).unwrap();
    // By a policy it is meant for the connection, which refuses it.
    let policy = Policy::link_property("iiop", "incoming_cpu", 0);
    let error = with(&echo, policy).long(7).unwrap_err().to_string();
    assert!(error.contains("incoming_cpu=0"), "{error}");
}

fn listening(builder: OrbBuilder, port: u16) -> Result<Orb, Box<dyn Error>> {
    let orb = builder
        .listen(ListenEndpoint::iiop("127.0.0.1", port))
        .build()?;
    orb.root_poa()?.manager().activate()?;
    Ok(orb)
}
