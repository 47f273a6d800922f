//! Bindings that vanish with their process, at all servers.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use punctual::{Interface, Orb};
use punctual_naming::cos_naming::NamingContextResolveError;
use punctual_naming::extension::ExtendedContext;

use crate::support::{Etcd, Process, Server, name, object};

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
    // SIGKILL.
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
    // It was made one that stays.
    assert_eq!(other.listed(), ["valve"]);
    let later = Server::start(&orb, &etcd, &[]);
    assert_eq!(later.listed(), ["valve"]);
}
