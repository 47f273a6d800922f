//! Common parts of the tests: a client, a bridge, a server.

use crate::support::{Echo, EchoImpl};
use punctual::bridge::{Bridge, BridgeOptions, Counts};
use punctual::config::GiopVersion;
use punctual::stub::Arc;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poa, RootPoa};
use punctual_ior::{IiopProfile, Ior};
use std::time::Duration;

pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Server, bridge to it, and client that reaches the server only through the bridge.
pub(crate) struct Bridged {
    pub(crate) server: Orb,
    pub(crate) middle: Orb,
    pub(crate) client: Orb,
    pub(crate) poa: Poa,
    pub(crate) servant: Arc<EchoImpl>,
    pub(crate) bridge: Bridge,
    /// Client's reference to the servant, whose requests go through the bridge.
    pub(crate) echo: Echo,
}

/// Protocols and settings of the client's, the bridge's and the server's ORB.
pub(crate) struct Setup<'s> {
    /// Protocol between the client and the bridge.
    pub(crate) near: &'s str,
    /// Protocol between the bridge and the server.
    pub(crate) far: &'s str,
    pub(crate) server: GiopVersion,
    pub(crate) client: GiopVersion,
    pub(crate) options: BridgeOptions,
    /// Function that configures each ORB, by its name: `server`, `middle`, `client`.
    pub(crate) configure: &'s dyn Fn(&str, &mut OrbConfig),
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Self {
            near: "iiop",
            far: "uiop",
            server: GiopVersion::V1_2,
            client: GiopVersion::V1_2,
            options: BridgeOptions::default(),
            configure: &|_, _| {},
        }
    }
}

pub(crate) fn endpoint(protocol: &str) -> ListenEndpoint {
    let place = match protocol.rsplit('+').next() {
        Some("iiop" | "ssliop") => "127.0.0.1:0",
        _ => "",
    };
    ListenEndpoint::new(protocol, place)
}

pub(crate) fn orb(listen: Option<&str>, version: GiopVersion) -> Orb {
    configured(listen, |config| config.giop_version = version)
}

pub(crate) fn configured(listen: Option<&str>, configure: impl FnOnce(&mut OrbConfig)) -> Orb {
    let orb = Orb::builder().configure(configure);
    let orb = listen
        .into_iter()
        .map(endpoint)
        .fold(orb, |orb, at| orb.listen(at));
    orb.build().unwrap()
}

pub(crate) fn moved(object: &ObjectRef, to: &Orb) -> ObjectRef {
    let text = object.orb().object_to_string(object).unwrap();
    to.string_to_object(&text).unwrap()
}

impl Bridged {
    pub(crate) fn new(setup: Setup<'_>) -> Self {
        let orb = |name, listen, version| {
            configured(listen, |config| {
                config.giop_version = version;
                (setup.configure)(name, config);
            })
        };
        let server = orb("server", Some(setup.far), setup.server);
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let middle = orb("middle", Some(setup.near), GiopVersion::V1_2);
        let target = moved(reference.as_object(), &middle);
        let bridge = Bridge::new(&middle, &target, &setup.options).unwrap();
        let client = orb("client", None, setup.client);
        let echo = Echo::from_object(moved(&bridge.reference().unwrap(), &client));
        Self {
            server,
            middle,
            client,
            poa,
            servant,
            bridge,
            echo,
        }
    }

    pub(crate) fn between(near: &str, far: &str) -> Self {
        Self::new(Setup {
            near,
            far,
            ..Setup::default()
        })
    }

    /// Returns the client's reference, through the bridge, to an object of the server.
    pub(crate) fn through(&self, reference: &impl Interface) -> ObjectRef {
        let object = reference.as_object();
        let key = object.object_key().unwrap();
        let through = self.bridge.reference_to(object.type_id(), &key);
        moved(&through.unwrap(), &self.client)
    }

    /// Returns the client's reference with changes to its IIOP profile.
    pub(crate) fn changed(&self, change: impl FnOnce(&mut IiopProfile)) -> Echo {
        let ior = self.echo.as_object().ior();
        let mut profile = ior.iiop_profiles().next().unwrap().unwrap();
        change(&mut profile);
        let ior = Ior {
            type_id: ior.type_id.clone(),
            profiles: vec![profile.to_tagged(order()).unwrap()],
        };
        let text = ior.stringify(order()).unwrap();
        Echo::from_object(self.client.string_to_object(&text).unwrap())
    }

    pub(crate) fn counts(&self) -> Counts {
        self.bridge.counts()
    }
}

impl Drop for Bridged {
    fn drop(&mut self) {
        self.servant.gate.open();
        for orb in [&self.client, &self.middle, &self.server] {
            let _ = orb.shutdown(false);
        }
    }
}

pub(crate) fn order() -> punctual::stub::ByteOrder {
    punctual::stub::ByteOrder::NATIVE
}

pub(crate) fn exercise(echo: &Echo, what: &str) {
    assert_eq!(echo.long(7).unwrap(), 7, "{what}");
    assert_eq!(echo.text("grüß dich, 世界").unwrap(), "grüß dich, 世界");
    for length in [0, 1, 100, 4096, 100_000, 3 << 20] {
        let octets: Vec<u8> = (0..length).map(|i: u32| i.to_le_bytes()[0]).collect();
        assert_eq!(echo.octets(&octets).unwrap(), octets, "{what} {length}");
    }
}
