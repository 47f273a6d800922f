//! Groups of names that several servers share by etcd, at a group service.

use std::process::{Command, Stdio};
use std::sync::Barrier;

use punctual::{Interface, Orb};
use punctual_groups_client::punctual_groups::{Administration, Group};
use punctual_naming::extension::{Choice, ExtendedContext};

use crate::naming_etcd::support::{Etcd, Process, Server, name, object, patiently};

/// Starts a group service, and returns it with its reference.
fn group_service() -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["group", "serve", "--listen", "iiop://127.0.0.1:0"]);
    // Members of this test need not exist: they are not asked.
    command.args(["--check-interval", "1h"]);
    command.stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut process = Process(command.spawn().unwrap());
    let reference = process.reference();
    (process, reference)
}

fn extended(server: &Server) -> ExtendedContext {
    ExtendedContext::narrow(server.root.as_object().clone()).unwrap()
}

fn members(server: &Server) -> Vec<String> {
    let members = patiently(|| extended(server).members(&name("pumps")));
    members.unwrap().into_iter().map(|one| one.id).collect()
}

fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        crate::support::pause();
    }
}

#[test]
fn groups_of_etcd_move_to_a_group_service_once_though_several_servers_begin_at_a_time() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let before = Server::start(&orb, &etcd, &[]);
    let context = extended(&before);
    context
        .bind_group(&name("pumps"), Choice::RoundRobin)
        .unwrap();
    let join = |server: &Server, at: usize, ttl_ms| {
        let (id, pump) = (format!("m{at}"), object(&orb, at));
        patiently(|| extended(server).join(&name("pumps"), &id, Some(&pump), ttl_ms)).unwrap();
    };
    join(&before, 0, 0);
    join(&before, 1, 3_600_000);
    drop(before);
    let (_groups, reference) = group_service();
    let there = Administration::from_object(orb.string_to_object(&reference).unwrap());
    let list = || -> Vec<Group> { there.list(0, 100).unwrap() };
    let options = ["--group-service", &reference];
    let start = || Server::start(&orb, &etcd, &options);
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(start);
        let other = scope.spawn(start);
        (one.join().unwrap(), other.join().unwrap())
    });
    for server in [&one, &other] {
        until(|| members(server) == ["m0", "m1"] && list().len() == 1);
    }
    let leases: Vec<u32> = list()[0]
        .the_members
        .iter()
        .map(|one| one.lease_ms)
        .collect();
    assert_eq!(leases, [0, 3_600_000]);
    // What one server changes, the other one sees; so does one that begins later.
    join(&other, 2, 0);
    until(|| members(&one) == ["m0", "m1", "m2"]);
    patiently(|| extended(&one).leave(&name("pumps"), "m0")).unwrap();
    until(|| members(&other) == ["m1", "m2"]);
    drop(one);
    let later = start();
    until(|| members(&later) == ["m1", "m2"]);
    assert_eq!(list()[0].the_members.len(), 2);
    // A group that is made by one is joined by another one.
    patiently(|| extended(&later).bind_group(&name("valves"), Choice::ByChance)).unwrap();
    until(|| other.listed() == ["pumps", "valves"]);
    let valve = object(&orb, 7);
    patiently(|| extended(&other).join(&name("valves"), "v", Some(&valve), 0)).unwrap();
    until(|| later.root.resolve(&name("valves")).is_ok());
    patiently(|| other.root.unbind(&name("pumps"))).unwrap();
    assert_eq!(later.listed(), ["valves"]);
    until(|| list().len() == 1);
    drop((later, other));
    // The names' own store has the members of no group.
    let without = Server::start(&orb, &etcd, &[]);
    assert!(
        patiently(|| extended(&without).members(&name("valves")))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_group_whose_name_two_servers_unbind_at_once_is_removed_with_it_and_made_anew_by_neither() {
    let Some(etcd) = Etcd::start() else { return };
    let orb = Orb::builder().build().unwrap();
    let (_groups, reference) = group_service();
    let there = Administration::from_object(orb.string_to_object(&reference).unwrap());
    let list = || -> Vec<Group> { there.list(0, 100).unwrap() };
    let options = ["--group-service", &reference];
    let servers = [(); 2].map(|()| Server::start(&orb, &etcd, &options));
    let pump = object(&orb, 0);
    for round in 0..10 {
        // The next one has the same name, and is another group.
        let choice = Choice::RoundRobin;
        patiently(|| extended(&servers[round % 2]).bind_group(&name("pumps"), choice)).unwrap();
        let join = || extended(&servers[0]).join(&name("pumps"), "m0", Some(&pump), 0);
        patiently(join).unwrap();
        for server in &servers {
            until(|| server.root.resolve(&name("pumps")).is_ok());
        }
        let together = Barrier::new(2);
        let unbound = std::thread::scope(|scope| {
            let unbind = |server| {
                let together = &together;
                scope.spawn(move || {
                    let server: &Server = server;
                    together.wait();
                    patiently(|| server.root.unbind(&name("pumps"))).is_ok()
                })
            };
            let threads = [&servers[0], &servers[1]].map(unbind);
            threads.map(|thread| thread.join().unwrap())
        });
        // Both are refused where etcd has not answered the one that has unbound it.
        assert_ne!(unbound, [true, true], "round {round}");
        for server in &servers {
            until(|| server.listed().is_empty());
        }
        until(|| list().is_empty());
    }
}
