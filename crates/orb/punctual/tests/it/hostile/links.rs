//! Links over which hostile peers connect, and a server that is reached by one of them.

use crate::hostile::log;
use crate::hostile::peer::Peer;
use crate::hostile::tls::Authority;
use crate::support::{Echo, EchoImpl};
use punctual::config::{Concurrency, PoolSize};
use punctual::policy::Security;
use punctual::protocol::diop::{Diop, DiopOptions};
use punctual::protocol::iiop::{Iiop, IiopOptions};
use punctual::protocol::reliable::{Reliable, ReliableOptions};
use punctual::protocol::shmiop::{ShmOptions, Shmiop};
use punctual::protocol::ssliop::Ssliop;
use punctual::protocol::uiop::{Uiop, UiopOptions};
use punctual::protocol::{Address, Link, LinkAdapter};
use punctual::{Interface, ListenEndpoint, Orb, OrbBuilder, OrbConfig, RootPoa};
use punctual_ior::{IiopProfile, Ior, PairProfile, UiopProfile, tags};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Transport of the GIOP messages, and server's way of serving its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Iiop,
    Uiop,
    Shmiop,
    Reliable,
    Ssliop,
    /// IIOP over TCP, with a server whose single thread runs a reactor.
    Reactive,
    /// IIOP over TCP, with a server that has a thread pool.
    Pooled,
    /// SSLIOP over TLS, with a server that has a thread pool.
    PooledSsliop,
}

impl Over {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Iiop | Self::Reactive | Self::Pooled => "iiop",
            Self::Uiop => "uiop",
            Self::Shmiop => "shmiop",
            Self::Reliable => "reliable+diop",
            Self::Ssliop | Self::PooledSsliop => "ssliop",
        }
    }

    /// Returns the name of the case, which is unique among them.
    pub(crate) fn label(self) -> String {
        format!("{self:?}")
    }

    /// Returns the server's concurrency strategy for this kind of link.
    fn concurrency(self) -> Concurrency {
        match self {
            Self::Reactive => Concurrency::Reactive,
            Self::Pooled | Self::PooledSsliop => Concurrency::LeaderFollowers(PoolSize {
                threads: 2,
                most: 8,
                reserve: true,
            }),
            _ => Concurrency::ThreadPerConnection,
        }
    }

    pub(crate) fn labelled(label: &str) -> Self {
        [
            Self::Iiop,
            Self::Uiop,
            Self::Shmiop,
            Self::Reliable,
            Self::Ssliop,
            Self::Reactive,
            Self::Pooled,
            Self::PooledSsliop,
        ]
        .into_iter()
        .find(|over| over.label() == label)
        .unwrap()
    }

    /// Returns whether upcalls run concurrently; if not, prints that the case is skipped.
    pub(crate) fn runs_upcalls_at_once(self) -> bool {
        let at_once = self != Self::Reactive;
        if !at_once {
            eprintln!("passed by: one thread serves all");
        }
        at_once
    }

    /// Returns an address to listen at that leaves the choice of port or path to the link or the
    /// kernel.
    pub(crate) fn anywhere(self) -> &'static str {
        match self {
            Self::Uiop | Self::Shmiop => "",
            _ => "127.0.0.1:0",
        }
    }

    /// Returns the link, for peers that use it without an ORB.
    pub(crate) fn link(self, tls: &Path) -> Arc<dyn Link> {
        match self {
            Self::Iiop | Self::Reactive | Self::Pooled => {
                Arc::new(Iiop::new(IiopOptions::default()))
            }
            Self::Uiop => Arc::new(Uiop::new(UiopOptions::default())),
            Self::Shmiop => Arc::new(Shmiop::new(ShmOptions::default())),
            Self::Reliable => {
                Reliable::new(impatient()).over(Arc::new(Diop::new(DiopOptions::default())))
            }
            Self::Ssliop | Self::PooledSsliop => {
                Arc::new(Ssliop::new(Authority::options(tls)).unwrap())
            }
        }
    }

    /// Makes a builder of an ORB that can use this link.
    pub(crate) fn orb(self, tls: &Path, configure: impl FnOnce(&mut OrbConfig)) -> OrbBuilder {
        Orb::builder().configure(|config| {
            config.reliable = impatient();
            config.concurrency = self.concurrency();
            if self.name() == "ssliop" {
                config.tls = Some(Authority::options(tls));
            }
            configure(config);
        })
    }
}

/// Returns options of the reliable link with which a dead peer is detected soon.
fn impatient() -> ReliableOptions {
    ReliableOptions {
        tries: 6,
        keep_alive: Duration::from_millis(100),
        ..ReliableOptions::default()
    }
}

/// Server with one object, reached by one link, and a well-behaved client.
pub(crate) struct Rig {
    pub(crate) over: Over,
    pub(crate) server: Orb,
    pub(crate) client: Orb,
    pub(crate) servant: Arc<EchoImpl>,
    /// Client's reference to the server's test object.
    pub(crate) echo: Echo,
    pub(crate) tls: Authority,
    link: Arc<dyn Link>,
}

impl Rig {
    pub(crate) fn new(over: Over) -> Self {
        Self::with(over, |_| {})
    }

    pub(crate) fn with(over: Over, configure: impl FnOnce(&mut OrbConfig)) -> Self {
        let endpoint = ListenEndpoint::new(over.name(), over.anywhere());
        Self::at(over, &[endpoint], configure)
    }

    /// Makes a server with another messaging protocol than GIOP.
    pub(crate) fn of(messaging: &str, over: Over) -> Self {
        Self::speaking_with(messaging, over, |_| {})
    }

    pub(crate) fn speaking_with(
        messaging: &str,
        over: Over,
        configure: impl FnOnce(&mut OrbConfig),
    ) -> Self {
        let protocol = format!("{messaging}+{}", over.name());
        let guilty = ListenEndpoint::new(&protocol, over.anywhere());
        // Well-behaved clients need answers, which not every protocol has: they then use an
        // endpoint in clear, beside one over TLS.
        let plain = ListenEndpoint::iiop("127.0.0.1", 0);
        Self::at(over, &[guilty, plain], configure)
    }

    pub(crate) fn at(
        over: Over,
        endpoints: &[ListenEndpoint],
        configure: impl FnOnce(&mut OrbConfig),
    ) -> Self {
        log::catch();
        let tls = Authority::new();
        let mut builder = over.orb(tls.folder(), configure);
        for endpoint in endpoints {
            builder = builder.listen(endpoint.clone());
        }
        let server = builder.build().unwrap();
        let client = over.orb(tls.folder(), |config| config.security = Security::Off);
        let client = client.build().unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let servant = Arc::new(EchoImpl::default());
        let reference: Echo = poa.activate(servant.clone()).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        Self {
            link: over.link(tls.folder()),
            over,
            server,
            client,
            servant,
            echo,
            tls,
        }
    }

    /// Returns the address of the server's first endpoint.
    pub(crate) fn address(&self) -> Address {
        Address::new(self.over.name(), &self.server.endpoints()[0].place)
    }

    /// Connects a test peer that has no ORB to the server.
    pub(crate) fn peer(&self) -> Peer {
        Peer::connect(&*self.link, &self.address())
    }

    /// Returns the object key of the server's test object.
    pub(crate) fn key(&self) -> Vec<u8> {
        key_in(self.echo.as_object().ior())
    }

    /// Asserts that the well-behaved client of the test is still served.
    pub(crate) fn others_are_served(&self) {
        assert_eq!(self.echo.long(1).unwrap(), 1, "over {}", self.over.name());
    }

    /// Waits until at most `count` clients are connected to the server.
    pub(crate) fn wait_until_at_most(&self, count: usize) {
        while self.server.client_connections() > count {
            crate::support::pause();
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.servant.gate.open();
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

/// Returns the object key of a reference's first profile.
pub(crate) fn key_in(ior: &Ior) -> Vec<u8> {
    let first = &ior.profiles[0];
    match first.tag {
        tags::profile::PUNCTUAL_PAIR => PairProfile::decode(&first.data).unwrap().object_key,
        tags::profile::INTERNET_IOP => IiopProfile::decode(&first.data).unwrap().object_key,
        _ => UiopProfile::decode(&first.data).unwrap().object_key,
    }
}

/// Defines a test for each link, named after it: `name::over_uiop` runs the case with `Over::Uiop`.
macro_rules! over_every_link {
    ($($(#[$doc:meta])* fn $name:ident($over:ident: Over) $body:block)*) => {
        $crate::hostile::links::over_links! {
            [
                (over_iiop, Iiop), (over_uiop, Uiop), (over_shmiop, Shmiop),
                (over_reliable_diop, Reliable), (over_ssliop, Ssliop), (by_a_reactor, Reactive),
                (by_a_pool, Pooled), (over_ssliop_by_a_pool, PooledSsliop)
            ]
            $($(#[$doc])* fn $name($over: Over) $body)*
        }
    };
}

/// Defines a test for each of the given links.
macro_rules! over_links {
    ($links:tt $($(#[$doc:meta])* fn $name:ident($over:ident: Over) $body:block)*) => {
        $($crate::hostile::links::over_links! { @one $links $(#[$doc])* fn $name($over: Over) $body })*
    };
    (@one [$(($test:ident, $link:ident)),*] $(#[$doc:meta])* fn $name:ident($over:ident: Over) $body:block) => {
        $(#[$doc])*
        mod $name {
            use super::*;

            fn case($over: Over) $body

            $(
                #[test]
                fn $test() {
                    let _watchdog = $crate::support::watchdog($crate::hostile::LIMIT);
                    case(Over::$link);
                }
            )*
        }
    };
}

pub(crate) use {over_every_link, over_links};
