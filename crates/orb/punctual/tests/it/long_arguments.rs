//! Long arguments that are sent from the caller's memory: where they are, and where they are copied because the request cannot
//! leave at once as it is.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::{Buffering, Transfer};
use punctual::protocol::ProtocolBundle;
use punctual::stub::{Marshal, Operation};
use punctual::{
    Interface, ListenEndpoint, Orb, OrbConfig, Policy, RootPoa, SetOverride,
    SystemExceptionKind as Kind,
};
use std::sync::Arc;
use std::time::Duration;
use support::noting::Noting;
use support::{Echo, EchoImpl, Pair, octets, watchdog};

const LIMIT: Duration = Duration::from_secs(120);

/// Length of a long argument: more than a socket buffers, and less than is sent in fragments.
const LONG: usize = 4_000_000;

/// Server, and a client whose link notes what it sends.
struct Noted {
    server: Orb,
    client: Orb,
    link: Noting,
    echo: Echo,
}

impl Noted {
    fn with(configure: impl FnOnce(&mut OrbConfig)) -> Self {
        let link = Noting::default();
        let bundle = ProtocolBundle::new().link(Arc::new(link.clone()));
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let client = Orb::builder().configure(configure).build().unwrap();
        client.retire_protocol("iiop").unwrap();
        client.add_protocols(&bundle).unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        // Later calls take the fast path.
        assert_eq!(echo.long(1).unwrap(), 1);
        Self {
            server,
            client,
            link,
            echo,
        }
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

#[test]
fn a_long_argument_is_sent_from_where_it_lies_and_a_short_one_copied() {
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|_| {});
    for length in [32 * 1024, 100_001, LONG] {
        let argument = octets(length);
        assert_eq!(noted.echo.octets(&argument).unwrap(), argument);
        assert!(noted.link.sent(&argument), "{length} octets");
    }
    let argument = octets(32 * 1024 - 1);
    assert_eq!(noted.echo.octets(&argument).unwrap(), argument);
    assert!(!noted.link.sent(&argument));
}

#[test]
fn fragments_traces_and_the_policy_that_nothing_is_lent_copy_a_long_argument() {
    let _watchdog = watchdog(LIMIT);
    let argument = octets(200_000);
    let copies = |noted: &Noted, echo: &Echo| {
        for _ in 0..2 {
            assert_eq!(echo.octets(&argument).unwrap(), argument);
        }
        assert!(!noted.link.sent(&argument));
    };
    let fragmented = Noted::with(|config| config.fragment_size = 10_000);
    copies(&fragmented, &fragmented.echo);
    let traced = Noted::with(|config| config.trace.giop = true);
    copies(&traced, &traced.echo);
    let noted = Noted::with(|_| {});
    let policies = [Policy::Transfer(Transfer::Copy)];
    let object = noted
        .echo
        .as_object()
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    copies(&noted, &Echo::from_object(object));
}

#[test]
fn a_long_argument_of_a_one_way_is_sent_from_where_it_lies_unless_the_one_way_is_buffered() {
    const PING: Operation = Operation::one_way("ping");
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|_| {});
    let argument = octets(100_000);
    let ping = |object: &Echo| {
        let ping = PING.lending(&argument[..]);
        object
            .as_object()
            .send(&ping, |out| argument[..].marshal(out))
            .unwrap();
    };
    // The first one finds the path.
    ping(&noted.echo);
    ping(&noted.echo);
    assert!(noted.link.sent(&argument));
    let policies = [Policy::Buffering(Some(Buffering {
        messages: 3,
        octets: 1 << 30,
        delay: None,
    }))];
    let object = noted
        .echo
        .as_object()
        .set_policy_overrides(&policies, SetOverride::Add)
        .unwrap();
    let buffered = Echo::from_object(object);
    for _ in 0..6 {
        ping(&buffered);
    }
    assert_eq!(noted.echo.pings().unwrap(), 8);
    assert!(!noted.link.sent(&argument));
}

#[test]
fn threads_that_share_a_connection_do_not_mix_their_arguments() {
    let _watchdog = watchdog(LIMIT);
    let pair = Pair::new();
    pair.echo.long(1).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let echo = &pair.echo;
            scope.spawn(move || {
                let argument = octets(300_000 + thread * 1_111);
                for _ in 0..20 {
                    assert_eq!(echo.octets(&argument).unwrap(), argument);
                }
            });
        }
    });
}

#[test]
fn a_message_that_is_too_long_with_its_argument_fails_the_call_and_not_the_connection() {
    let _watchdog = watchdog(LIMIT);
    let noted = Noted::with(|config| config.limits.message = 50_000);
    let refused = noted.echo.sum(&octets(50_001)).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit, "{refused}");
    assert_eq!(noted.echo.sum(&octets(40_000)).unwrap(), sum_of(40_000));
}

fn sum_of(length: usize) -> u64 {
    octets(length).into_iter().map(u64::from).sum()
}
