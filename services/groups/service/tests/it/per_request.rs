//! Groups that balance each request: members lead their clients back. Clients of other ORBs follow.
//!
//! Those of omniORB and JacORB are skipped, with the reason printed, where there is no compiler of C++ with omniORB's headers, and no
//! JDK with the jars that `cargo xtask interop jacorb` gathers.

#[path = "../../../../ifr/tests/it/support/jacorb.rs"]
#[allow(dead_code)]
mod peer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::poa::servant_of;
use punctual::{Any, Interface, ObjectRef, RootPoa};
use punctual_groups_client::{Guard, MemberOptions, Membership};

use crate::idl::Register;
use crate::support::{Counter, Served, property, register, until};

/// A group of members that balance each request.
fn per_request<const N: usize>(served: &Served, names: [&str; N]) -> (ObjectRef, Vec<Membership>) {
    let per_request = property("punctual.PerRequest", Any::new(&true).unwrap());
    let (group, _) = served
        .balancing
        .create_object(crate::support::TYPE, &[per_request])
        .unwrap();
    let group = group.unwrap();
    let poa = served.client.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let join = |name: &str| {
        let guard = Guard::new();
        let servant = servant_of::<Register, _>(Counter::named(name));
        let object: Register = guard.each_request(&poa, name, servant).unwrap();
        let options = MemberOptions::with_lease(Duration::from_secs(600)).guard(&guard);
        let membership =
            Membership::begin(&served.balancing, &group, name, object.as_object(), options);
        let membership = membership.unwrap();
        until(|| membership.has_joined());
        membership
    };
    let members = names.into_iter().map(join).collect();
    (group, members)
}

#[test]
fn each_request_of_one_client_goes_to_the_next_member_where_that_is_asked_for() {
    let served = Served::new();
    let (group, _members) = per_request(&served, ["a", "b", "c", "d"]);
    let client = register(&group);
    let mut by = BTreeMap::<String, usize>::new();
    for _ in 0..200 {
        *by.entry(client.whoami().unwrap()).or_default() += 1;
    }
    assert_eq!(by.into_values().collect::<Vec<_>>(), [50; 4]);
    // Without the property, it stays where it was led first.
    served
        .balancing
        .set_properties_dynamically(
            Some(&group),
            &[property("punctual.PerRequest", Any::new(&false).unwrap())],
        )
        .unwrap();
    let first = client.whoami().unwrap();
    for _ in 0..10 {
        assert_eq!(client.whoami().unwrap(), first);
    }
}

#[test]
fn requests_of_threads_that_share_a_connection_are_balanced_and_all_answered() {
    let served = Served::new();
    let (group, _members) = per_request(&served, ["a", "b"]);
    let by = Mutex::new(BTreeMap::<String, usize>::new());
    let shared = register(&group);
    std::thread::scope(|scope| {
        for at in 0..4 {
            // Two have a reference of their own, and two share one.
            let client = match at {
                0 | 1 => register(&group),
                _ => shared.clone(),
            };
            let by = &by;
            scope.spawn(move || {
                for _ in 0..100 {
                    let name = client.whoami().unwrap();
                    *by.lock().entry(name).or_default() += 1;
                }
            });
        }
    });
    let by = by.into_inner();
    assert_eq!(by.values().sum::<usize>(), 400);
    assert!(
        by.len() == 2 && by.values().all(|count| *count > 100),
        "{by:?}"
    );
}

#[test]
fn a_property_that_is_no_truth_value_is_invalid() {
    let served = Served::new();
    let wrong = property("punctual.PerRequest", Any::new(&5_i32).unwrap());
    let refused = served
        .balancing
        .create_object(crate::support::TYPE, &[wrong]);
    assert!(refused.unwrap_err().to_string().contains("InvalidProperty"));
}

/// Returns a file of these tests.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join("tests/it/per_request").join(name)
}

/// Returns how often each member was printed.
fn printed(output: &Output) -> BTreeMap<String, usize> {
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
    let mut by = BTreeMap::new();
    for line in said.lines() {
        *by.entry(line.to_owned()).or_default() += 1;
    }
    by
}

fn even() -> BTreeMap<String, usize> {
    ["a", "b", "c"].map(|name| (name.to_owned(), 10)).into()
}

#[test]
fn a_client_of_omniorb_is_led_to_the_next_member_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    let mut compiler = Command::new("g++");
    compiler.arg("-o").arg(&program).arg(file("client.cc"));
    compiler.args(["-lomniDynamic4", "-lomniORB4", "-lomnithread"]);
    if !compiler
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("skipped: there is no g++ with the headers of omniORB");
        return;
    }
    let served = Served::new();
    let (group, _members) = per_request(&served, ["a", "b", "c"]);
    let text = group.orb().object_to_string(&group).unwrap();
    let output = Command::new(program).args([&text, "30"]).output().unwrap();
    assert_eq!(printed(&output), even());
}

#[test]
fn a_client_of_jacorb_is_led_to_the_next_member_for_each_request() {
    let Some(mut command) = peer::command(&file("Client.java")) else {
        return;
    };
    let served = Served::new();
    let (group, _members) = per_request(&served, ["a", "b", "c"]);
    let text = group.orb().object_to_string(&group).unwrap();
    let output = command.args([&text, "30"]).output().unwrap();
    assert_eq!(printed(&output), even());
}
