//! `punctual naming serve --etcd`: several servers over one etcd, one of them killed under load,
//! and an etcd that becomes unreachable. A history checker verifies that no name ever had two
//! holders.
//!
//! Skipped with a printed reason if `etcd` is not installed.
#![allow(clippy::unwrap_used, missing_docs)]

mod cluster;
mod etcd;
mod groups;
mod history;
mod proxy;
mod secured;
mod support;
mod vanishing;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use history::{History, take_and_give};
use punctual::{Interface, OperationError, Orb, SystemExceptionKind};
use punctual_naming::cos_naming::{
    NamingContext, NamingContextBindError, NamingContextUnbindError,
};
use support::{Etcd, HERE, Host, Server, ip, name, object, patiently};

#[test]
fn no_name_has_two_holders_though_three_servers_bind_it_and_one_is_killed() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let mut servers: Vec<Server> = (0..3).map(|_| Server::start(&orb, &etcd, &[])).collect();
    let roots: Vec<NamingContext> = servers.iter().map(|one| one.root.clone()).collect();
    let (history, ends) = (History::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for client in 0..6 {
            let (orb, roots, history, ends) = (&orb, &roots, &history, &ends);
            scope.spawn(move || take_and_give(orb, roots, client, history, ends));
        }
        let taken = |count| {
            while history.taken.load(Ordering::Relaxed) < count {
                crate::support::pause();
            }
        };
        taken(150);
        // Sends SIGKILL.
        drop(servers.remove(0));
        taken(400);
        ends.store(true, Ordering::Relaxed);
    });
    let held = history.check();
    println!(
        "{held} times held, {} times refused, {} times not said, no name by two",
        history.refused.load(Ordering::Relaxed),
        history.unsaid.load(Ordering::Relaxed)
    );
    assert!(held >= 400 && history.refused.load(Ordering::Relaxed) > 0);
    assert_eq!(servers[0].listed(), servers[1].listed());
}

#[test]
fn what_one_server_does_is_seen_by_the_next_and_by_one_that_starts_later() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let one = Server::start(&orb, &etcd, &[]);
    let other = Server::start(&orb, &etcd, &[]);
    let plants = one.root.bind_new_context(&name("plants")).unwrap().unwrap();
    plants.bind(&name("pump"), Some(&object(&orb, 7))).unwrap();
    let inner = [name("plants"), name("pump")].concat();
    // A refusal is given only when all changes are known.
    assert!(matches!(
        other.root.bind(&inner, Some(&object(&orb, 8))),
        Err(NamingContextBindError::AlreadyBound(_))
    ));
    let found = other.root.resolve(&inner).unwrap().unwrap();
    assert!(found.is_equivalent(&object(&orb, 7)));
    // A context of one server is a context of the other.
    other
        .root
        .bind_context(&name("works"), Some(&plants))
        .unwrap();
    drop(one);
    let works = [name("works"), name("pump")].concat();
    let later = Server::start(&orb, &etcd, &[]);
    for server in [&other, &later] {
        assert_eq!(server.listed(), ["plants", "works"]);
        assert!(server.root.resolve(&works).unwrap().is_some());
        assert!(server.process.0.id() > 0);
    }
}

#[test]
fn a_context_is_not_destroyed_by_one_server_while_the_other_binds_in_it() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let one = Server::start(&orb, &etcd, &[]);
    let other = Server::start(&orb, &etcd, &[]);
    let (mut destroyed, mut bound) = (0, 0);
    for round in 0..40 {
        let id = format!("context{round}");
        let here = one.root.bind_new_context(&name(&id)).unwrap().unwrap();
        other.listed();
        let there = other.root.resolve(&name(&id)).unwrap().unwrap();
        let there = NamingContext::from_object(there);
        let (is_destroyed, is_bound) = std::thread::scope(|scope| {
            let destroys = scope.spawn(|| here.destroy().is_ok());
            let binds = scope.spawn(|| there.bind(&name("in"), Some(&object(&orb, 1))).is_ok());
            (destroys.join().unwrap(), binds.join().unwrap())
        });
        assert!(is_destroyed != is_bound, "both or neither in round {round}");
        destroyed += usize::from(is_destroyed);
        bound += usize::from(is_bound);
    }
    println!("{destroyed} times destroyed, {bound} times bound");
}

#[test]
fn without_etcd_writing_is_transient_and_reading_too_unless_old_names_will_do() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let short = ["--etcd-timeout", "500ms", "--etcd-staleness", "1s"];
    let strict = Server::start(&orb, &etcd, &short);
    let lenient = Server::start(&orb, &etcd, &[&short[..], &["--read-stale"]].concat());
    let bind = |server: &Server, number| {
        server
            .root
            .rebind(&name("pump"), Some(&object(&orb, number)))
    };
    patiently(|| bind(&strict, 1)).unwrap();
    lenient.listed();
    etcd.process.freeze();
    for server in [&strict, &lenient] {
        let refused = bind(server, 2).unwrap_err();
        let kind = refused.system().map(|exception| exception.kind());
        assert_eq!(kind, Some(SystemExceptionKind::Transient));
    }
    // Until it counts as unreachable.
    while strict.root.resolve(&name("pump")).is_ok() {
        crate::support::pause();
    }
    let refused = strict.root.resolve(&name("pump")).unwrap_err();
    let kind = refused.system().map(|exception| exception.kind());
    assert_eq!(kind, Some(SystemExceptionKind::Transient));
    assert!(lenient.root.resolve(&name("pump")).unwrap().is_some());
    etcd.process.signal("-CONT");
    for server in [&strict, &lenient] {
        while bind(server, 3).is_err() {
            crate::support::pause();
        }
    }
    let found = patiently(|| lenient.root.resolve(&name("pump")));
    assert!(found.unwrap().unwrap().is_equivalent(&object(&orb, 3)));
}

#[test]
fn an_etcd_that_comes_back_with_older_names_or_others_is_believed_or_refused() {
    let Some(mut etcd) = Etcd::start() else {
        return;
    };
    let orb = Orb::builder().build().unwrap();
    let short = ["--etcd-timeout", "500ms", "--etcd-staleness", "1s"];
    let server = Server::start(&orb, &etcd, &short);
    let bind = |id: &str| server.root.bind(&name(id), Some(&object(&orb, 1)));
    let until_there = |id: &str| {
        while !matches!(
            bind(id),
            Ok(()) | Err(NamingContextBindError::AlreadyBound(_))
        ) {
            crate::support::pause();
        }
    };
    until_there("old");
    etcd.restart("data", |folder| {
        let mut copy = Command::new("cp");
        copy.args(["-r", "data", "backup"]).current_dir(folder);
        assert!(copy.status().unwrap().success());
    });
    for id in ["newer", "newest", "last"] {
        until_there(id);
    }
    assert_eq!(server.listed(), ["last", "newer", "newest", "old"]);
    etcd.restart("backup", |_| {});
    until_there("after");
    assert_eq!(server.listed(), ["after", "old"]);
    // An etcd without these names is not their store.
    etcd.restart("empty", |_| {});
    // Nothing is written there.
    assert!(bind("lost").is_err());
    while server.root.resolve(&name("old")).is_ok() {
        crate::support::pause();
    }
    let refused = bind("lost").unwrap_err();
    let kind = refused.system().map(|exception| exception.kind());
    assert_eq!(kind, Some(SystemExceptionKind::Transient));
    let later = Server::start(&orb, &etcd, &short);
    assert_eq!(later.listed(), [""; 0]);
    let refused = bind("lost").unwrap_err();
    assert!(refused.system().is_some());
}

#[test]
fn no_name_has_two_holders_though_a_server_is_cut_off_from_etcd_and_comes_back() {
    let host = match Host::new() {
        Ok(host) => host,
        Err(reason) => {
            let required = std::env::var_os("PUNCTUAL_REQUIRE_NETWORK").is_some();
            assert!(!required, "PUNCTUAL_REQUIRE_NETWORK is set: {reason}");
            println!("skipped: no host of its own (root and iproute2 are wanted): {reason}");
            return;
        }
    };
    let Some(etcd) = Etcd::start_at(HERE) else {
        return;
    };
    let orb = Orb::builder().build().unwrap();
    let short = ["--etcd-timeout", "300ms", "--etcd-staleness", "600ms"];
    let folder = tempfile::tempdir().unwrap();
    // Clients reach the far server over a Unix socket, which the cable does not affect.
    let mut far = Command::new("ip");
    far.args(["netns", "exec", &host.0, env!("CARGO_BIN_EXE_punctual")]);
    far.args(["naming", "serve", "--listen"]);
    far.arg(format!("uiop://{}", folder.path().join("far").display()));
    far.args(["--etcd", &etcd.at]).args(short);
    let servers = [
        Server::started(&orb, far),
        Server::start(&orb, &etcd, &short),
        Server::start(&orb, &etcd, &short),
    ];
    let roots: Vec<NamingContext> = servers.iter().map(|one| one.root.clone()).collect();
    let (history, ends) = (History::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for client in 0..6 {
            let (orb, roots, history, ends) = (&orb, &roots, &history, &ends);
            scope.spawn(move || take_and_give(orb, roots, client, history, ends));
        }
        let more_taken = |count| {
            let until = history.taken.load(Ordering::Relaxed) + count;
            while history.taken.load(Ordering::Relaxed) < until {
                crate::support::pause();
            }
        };
        more_taken(60);
        ip("link set pctn0 down").unwrap();
        // Until the far server notices, and longer.
        while roots[0]
            .resolve(&name("other"))
            .is_err_and(|error| error.system().is_none())
        {
            crate::support::pause();
        }
        more_taken(20);
        ip("link set pctn0 up").unwrap();
        while !matches!(
            roots[0].unbind(&name("other")),
            Err(NamingContextUnbindError::NotFound(_))
        ) {
            crate::support::pause();
        }
        more_taken(60);
        ends.store(true, Ordering::Relaxed);
    });
    let held = history.check();
    println!("{held} times held, no name by two");
    assert!(held >= 140);
    assert_eq!(servers[0].listed(), servers[1].listed());
    assert_eq!(servers[0].listed(), servers[2].listed());
}
