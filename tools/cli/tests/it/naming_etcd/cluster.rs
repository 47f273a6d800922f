//! A cluster that loses members, forgets recent changes, or answers slowly.

use punctual::Orb;
use punctual_naming::cos_naming::{NamingContextBindError, NamingContextRebindError};

use crate::naming_etcd::proxy::Proxy;
use crate::naming_etcd::support::{Etcd, Server, is_transient, name, object, patiently};
use std::time::Duration;

const SHORT: [&str; 4] = ["--etcd-timeout", "500ms", "--etcd-staleness", "1s"];

fn bind(orb: &Orb, server: &Server, number: usize) -> Result<(), NamingContextRebindError> {
    server
        .root
        .rebind(&name("pump"), Some(&object(orb, number)))
}

fn until_bound(orb: &Orb, server: &Server, number: usize) {
    while bind(orb, server, number).is_err() {
        crate::support::pause();
    }
}

#[test]
fn a_cluster_without_one_member_goes_on_and_without_its_majority_waits_for_it() {
    let Some(cluster) = Etcd::cluster(3) else {
        return;
    };
    let members: Vec<&str> = cluster.iter().map(|one| one.at.as_str()).collect();
    let orb = Orb::builder().build().unwrap();
    let server = Server::start_at(&orb, &members.join(","), &SHORT);
    until_bound(&orb, &server, 1);
    // If a member does not answer, another one is used.
    cluster[0].process.freeze();
    until_bound(&orb, &server, 2);
    cluster[1].process.freeze();
    while bind(&orb, &server, 3).is_ok() {
        crate::support::pause();
    }
    assert!(is_transient(&bind(&orb, &server, 3).unwrap_err()));
    while server.root.resolve(&name("pump")).is_ok() {
        crate::support::pause();
    }
    assert!(is_transient(
        &server.root.resolve(&name("pump")).unwrap_err()
    ));
    cluster[0].process.signal("-CONT");
    until_bound(&orb, &server, 4);
    server.listed();
    let found = patiently(|| server.root.resolve(&name("pump")));
    let found = found.unwrap().unwrap();
    assert!(found.is_equivalent(&object(&orb, 4)));
    cluster[1].process.signal("-CONT");
}

#[test]
fn a_server_that_missed_what_etcd_has_compacted_reads_all_names_anew() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let cable = Proxy::of(&etcd.at);
    let one = Server::start(&orb, &etcd, &[]);
    let other = Server::start_at(&orb, &cable.at, &SHORT);
    for id in ["gone", "stays"] {
        one.root.bind(&name(id), Some(&object(&orb, 1))).unwrap();
    }
    assert_eq!(other.listed(), ["gone", "stays"]);
    cable.cut();
    one.root.unbind(&name("gone")).unwrap();
    one.root.bind(&name("new"), Some(&object(&orb, 2))).unwrap();
    etcd.compact();
    cable.mend();
    until_bound(&orb, &other, 3);
    assert_eq!(other.listed(), ["new", "pump", "stays"]);
    let refused = patiently(|| other.root.bind(&name("new"), Some(&object(&orb, 4))));
    assert!(matches!(
        refused,
        Err(NamingContextBindError::AlreadyBound(_))
    ));
}

#[test]
fn an_etcd_that_answers_slowly_counts_as_away_until_it_is_quick_again() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let cable = Proxy::of(&etcd.at);
    let server = Server::start_at(&orb, &cable.at, &SHORT);
    until_bound(&orb, &server, 1);
    cable.delay(Duration::from_millis(700));
    while bind(&orb, &server, 2).is_ok() {
        crate::support::pause();
    }
    assert!(is_transient(&bind(&orb, &server, 2).unwrap_err()));
    cable.delay(Duration::ZERO);
    until_bound(&orb, &server, 3);
    server.listed();
    let found = patiently(|| server.root.resolve(&name("pump")));
    let found = found.unwrap().unwrap();
    assert!(found.is_equivalent(&object(&orb, 3)));
}
