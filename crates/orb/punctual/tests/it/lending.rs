//! Large octet sequences over shared memory: the number of copies, by trust policy (Schmidt et al.
//! 2001, §3.4.1).
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::policy::Transfer;
use punctual::protocol::ProtocolBundle;
use punctual::protocol::shmiop::{Copied, ShmOptions, Shmiop, Trust};
use punctual::{Interface, ListenEndpoint, Orb, Policy, RootPoa, SetOverride};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);
const MIB: usize = 1 << 20;

/// Makes an ORB whose shared-memory link counts its copies.
fn counting(options: ShmOptions) -> (Orb, Arc<Shmiop>) {
    let link = Arc::new(Shmiop::new(options));
    let orb = Orb::builder()
        .configure(|config| config.listen = vec![ListenEndpoint::new("shmiop", "")])
        .build()
        .unwrap();
    orb.retire_protocol("shmiop").unwrap();
    orb.add_protocols(&ProtocolBundle::new().link(link.clone()))
        .unwrap();
    (orb, link)
}

/// Returns options with which octets and numbers are read in place, in the memory that the peer
/// shares.
fn trusting() -> ShmOptions {
    ShmOptions {
        trust: Trust::SameUser,
        ..ShmOptions::default()
    }
}

struct Lending {
    client: Orb,
    server: Orb,
    clients: Arc<Shmiop>,
    servers: Arc<Shmiop>,
    echo: Echo,
}

impl Lending {
    fn with(options: ShmOptions) -> Self {
        let (server, servers) = counting(options.clone());
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let reference: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let (client, clients) = counting(options);
        let text = server.object_to_string(&reference).unwrap();
        let echo = Echo::from_object(client.string_to_object(&text).unwrap());
        // Connected, and both sides warm.
        assert_eq!(echo.long(1).unwrap(), 1);
        Self {
            client,
            server,
            clients,
            servers,
            echo,
        }
    }

    /// Returns the octets that the client and the server copy during `call`.
    fn copies(&self, call: impl FnOnce(&Echo)) -> (Copied, Copied) {
        let (client, server) = (self.clients.copied(), self.servers.copied());
        call(&self.echo);
        let since = |now: Copied, then: Copied| Copied {
            into_ring: now.into_ring - then.into_ring,
            out_of_ring: now.out_of_ring - then.out_of_ring,
            into_pool: now.into_pool - then.into_pool,
            out_of_pool: now.out_of_pool - then.out_of_pool,
        };
        (
            since(self.clients.copied(), client),
            since(self.servers.copied(), server),
        )
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.server.shutdown(false);
    }
}

/// Upper bound of the octets copied for headers, lengths and replies: far below the measured sizes.
const SMALL: u64 = 4096;

fn is_once(octets: u64) -> bool {
    let mib = MIB as u64;
    (mib..mib + SMALL).contains(&octets)
}

#[test]
fn a_loan_between_trusted_peers_travels_without_a_copy_on_either_side() {
    let _watchdog = watchdog(LIMIT);
    let lending = Lending::with(trusting());
    let mut loan = lending.echo.as_object().loan(MIB).unwrap();
    loan.fill(3);
    let (client, server) = lending.copies(|echo| {
        assert_eq!(echo.sum(&loan).unwrap(), 3 * MIB as u64);
    });
    assert_eq!((client.into_pool, server.out_of_pool), (0, 0));
    assert!(client.into_ring < SMALL && server.out_of_ring < SMALL);
}

#[test]
fn what_is_no_loan_is_copied_once_by_the_sender_and_read_where_it_lies() {
    let _watchdog = watchdog(LIMIT);
    let lending = Lending::with(trusting());
    let octets = vec![2; MIB];
    let (client, server) = lending.copies(|echo| {
        assert_eq!(echo.sum(&octets).unwrap(), 2 * MIB as u64);
    });
    assert!(is_once(client.into_pool), "{client:?}");
    assert_eq!(server.out_of_pool, 0);
    assert!(client.into_ring < SMALL && server.out_of_ring < SMALL);
}

#[test]
fn a_peer_is_not_trusted_unless_that_is_chosen_and_is_copied_from_once() {
    let _watchdog = watchdog(LIMIT);
    let lending = Lending::with(ShmOptions::default());
    let mut loan = lending.echo.as_object().loan(MIB).unwrap();
    loan.fill(1);
    let (client, server) = lending.copies(|echo| {
        assert_eq!(echo.sum(&loan).unwrap(), MIB as u64);
    });
    assert_eq!(client.into_pool, 0);
    assert!(is_once(server.out_of_pool), "{server:?}");
}

#[test]
fn a_result_that_the_servant_fills_in_a_loan_is_copied_once_by_the_client() {
    let _watchdog = watchdog(LIMIT);
    for options in [ShmOptions::default(), trusting()] {
        let lending = Lending::with(options);
        let length = u32::try_from(MIB).unwrap();
        let (client, server) = lending.copies(|echo| {
            assert_eq!(echo.filled(length).unwrap(), vec![7; MIB]);
        });
        assert_eq!(server.into_pool, 0);
        assert!(server.into_ring < SMALL);
        // Into the vector that the caller gets: its own.
        assert!(is_once(client.out_of_pool), "{client:?}");
    }
}

#[test]
fn the_copy_policy_lends_nothing() {
    let _watchdog = watchdog(LIMIT);
    let lending = Lending::with(ShmOptions::default());
    let octets = vec![1; MIB];
    let (client, _) = lending.copies(|echo| {
        let policy = [Policy::Transfer(Transfer::Copy)];
        let object = echo.as_object();
        let object = object.set_policy_overrides(&policy, SetOverride::Add);
        let copying = Echo::from_object(object.unwrap());
        assert_eq!(copying.sum(&octets).unwrap(), MIB as u64);
    });
    assert_eq!(client.into_pool, 0);
    assert!(is_once(client.into_ring), "{client:?}");
}

#[test]
fn a_loan_is_ordinary_memory_to_a_connection_that_shares_none() {
    let _watchdog = watchdog(LIMIT);
    let pair = support::Pair::new();
    let mut loan = pair.echo.as_object().loan(MIB).unwrap();
    loan.fill(5);
    assert_eq!(pair.echo.sum(&loan).unwrap(), 5 * MIB as u64);
    assert_eq!(pair.echo.filled(10).unwrap(), [7; 10]);
}

#[test]
fn a_loan_of_one_connection_is_copied_by_another() {
    let _watchdog = watchdog(LIMIT);
    let (one, other) = (
        Lending::with(ShmOptions::default()),
        Lending::with(ShmOptions::default()),
    );
    let mut loan = one.echo.as_object().loan(MIB).unwrap();
    loan.fill(1);
    let (client, _) = other.copies(|echo| {
        assert_eq!(echo.sum(&loan).unwrap(), MIB as u64);
    });
    assert!(is_once(client.into_pool), "{client:?}");
}
