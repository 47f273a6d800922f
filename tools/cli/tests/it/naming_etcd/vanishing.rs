//! Temporary bindings that all servers remove after the end of the process that made them.

use std::collections::HashSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use punctual::{Interface, Orb};
use punctual_naming::cos_naming::NamingContextResolveError;
use punctual_naming::extension::{Choice, ExtendedContext};

use crate::naming_etcd::support::{Etcd, Process, Server, name, object};

fn is_bound(server: &Server, id: &str) -> bool {
    match server.root.resolve(&name(id)) {
        Ok(found) => found.is_some(),
        Err(NamingContextResolveError::NotFound(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

fn until(servers: &[&Server], id: &str, bound: bool) {
    for server in servers {
        while is_bound(server, id) != bound {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_binding_whose_client_is_killed_vanishes_at_all_servers_and_not_before() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let one = Server::start(&orb, &etcd, &[]);
    let other = Server::start(&orb, &etcd, &[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["naming", "bind", "--ttl", "3s", "--keep", "--service"]);
    command.arg(orb.object_to_string(&one.root).unwrap());
    command.args(["pump", "corbaloc::127.0.0.1:1/pump"]);
    let keeper = Process(command.stderr(Stdio::null()).spawn().unwrap());
    until(&[&one, &other], "pump", true);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(8) {
        assert!(is_bound(&one, "pump") && is_bound(&other, "pump"));
        std::thread::sleep(Duration::from_millis(20));
    }
    // Sends SIGKILL.
    drop(keeper);
    until(&[&one, &other], "pump", false);
}

#[test]
fn a_binding_vanishes_though_the_server_that_took_it_is_dead() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let one = Server::start(&orb, &etcd, &[]);
    let other = Server::start(&orb, &etcd, &[]);
    let context = ExtendedContext::narrow(one.root.as_object().clone()).unwrap();
    let begun = Instant::now();
    for id in ["pump", "valve"] {
        let bound = context.bind_for(&name(id), Some(&object(&orb, 1)), 2_500, false);
        bound.unwrap();
    }
    context
        .rebind(&name("valve"), Some(&object(&orb, 2)))
        .unwrap();
    assert_eq!(other.listed(), ["pump", "valve"]);
    drop(one);
    until(&[&other], "pump", false);
    assert!(begun.elapsed() >= Duration::from_millis(2_500));
    // It was made permanent.
    assert_eq!(other.listed(), ["valve"]);
    let later = Server::start(&orb, &etcd, &[]);
    assert_eq!(later.listed(), ["valve"]);
}

#[test]
fn a_group_that_is_joined_by_one_server_is_resolved_and_removed_by_another() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let quiet = ["--group-check", "0"];
    let servers = [(); 2].map(|()| Server::start(&orb, &etcd, &quiet));
    let [one, other] = [&servers[0], &servers[1]];
    let extended = |server: &Server| ExtendedContext::narrow(server.root.as_object().clone());
    let (here, there) = (extended(one).unwrap(), extended(other).unwrap());
    let pumps = name("pumps");
    here.bind_group(&pumps, Choice::RoundRobin).unwrap();
    // More members than one transaction accepts.
    for at in 0..200 {
        let server = if at % 2 == 0 { &here } else { &there };
        // It must learn of the group first.
        other.listed();
        let joined = server.join(&pumps, &format!("m{at:03}"), Some(&object(&orb, at)), 0);
        joined.unwrap();
    }
    one.listed();
    assert_eq!(here.members(&pumps).unwrap().len(), 200);
    let met: HashSet<usize> = (0..200)
        .map(|_| {
            let found = here.resolve(&pumps).unwrap().unwrap();
            let is_it = |at: &usize| found.is_equivalent(&object(&orb, *at));
            (0..200).find(is_it).unwrap()
        })
        .collect();
    assert_eq!(met.len(), 200);
    // A member for a time, which may be over before anything else happens.
    while here.members(&pumps).unwrap().len() == 200 {
        let short = there.join(&pumps, "short", Some(&object(&orb, 200)), 2_000);
        short.unwrap();
        one.listed();
    }
    while here.members(&pumps).unwrap().len() > 200 {
        std::thread::sleep(Duration::from_millis(10));
    }
    // All of it is removed at once, while another client joins.
    let joined = std::thread::scope(|scope| {
        let joins = scope.spawn(|| {
            let join =
                |at: usize| there.join(&pumps, &format!("late{at}"), Some(&object(&orb, at)), 0);
            (0..1_000).take_while(|at| join(*at).is_ok()).count()
        });
        std::thread::sleep(Duration::from_millis(50));
        here.unbind(&pumps).unwrap();
        joins.join().unwrap()
    });
    println!("{joined} joined before the group was gone");
    assert!(joined < 1_000);
    assert_eq!(one.listed(), [""; 0]);
    assert_eq!(other.listed(), [""; 0]);
    // Nothing of it is left: a server that reads all names finds no binding without its context.
    let later = Server::start(&orb, &etcd, &quiet);
    assert_eq!(later.listed(), [""; 0]);
}
