//! A client of omniORB, which follows forwards to members. Of a reference with several profiles it calls the first one only, so
//! that it is given the reference of a group's own object.
//!
//! Skipped, with the reason printed, where `nameclt` of omniORB is not installed.

use std::process::Command;
use std::sync::Arc;

use punctual::poa::{DispatchError, Dispatched, ServerCall};
use punctual::{ObjectRef, Servant};

use crate::support::{Served, at, until};

/// Type of what the client calls.
const CONTEXT: &str = "IDL:omg.org/CosNaming/NamingContext:1.0";

/// A naming context: each name is resolved to the context itself.
struct Context;

impl Servant for Context {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[CONTEXT]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let object: ObjectRef = punctual::poa::Current.reference().unwrap();
        match call.operation() {
            "resolve" => call.reply(|out| punctual::stub::Marshal::marshal(&object, out)),
            _ => Err(call.bad_operation()),
        }
    }

    fn implementation(&self) -> &(dyn std::any::Any + Send + Sync) {
        self
    }
}

/// Resolves a name by omniORB's client in the context that a reference leads to; `None` if it is not installed.
fn resolved(served: &Served, group: &ObjectRef) -> Option<ObjectRef> {
    let text = served.client.object_to_string(group).unwrap();
    let mut client = Command::new("nameclt");
    client.args([
        "-ORBInitRef",
        &format!("NameService={text}"),
        "resolve",
        "pump",
    ]);
    let Ok(output) = client.output() else {
        println!("skipped: nameclt of omniORB is not installed");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("IOR:"),
        "{said}{wrong}"
    );
    Some(served.client.string_to_object(said.trim()).unwrap())
}

#[test]
fn a_client_of_omniorb_is_forwarded_to_members_in_turn() {
    let served = Served::new();
    let (group, _) = served
        .balancing
        .create_group(CONTEXT, "", "RoundRobin")
        .unwrap();
    let group = group.unwrap();
    let members = ["a", "b"].map(|name| {
        let member = served.activate(Arc::new(Context));
        served
            .balancing
            .add_member(Some(&group), &at(name), Some(&member))
            .unwrap();
        member
    });
    let Some(first) = resolved(&served, &group) else {
        return;
    };
    let second = resolved(&served, &group).unwrap();
    let is_of = |object: &ObjectRef, member: &ObjectRef| object.object_key() == member.object_key();
    let first_is_a = is_of(&first, &members[0]);
    assert!(first_is_a || is_of(&first, &members[1]));
    assert!(is_of(&second, &members[usize::from(first_is_a)]));
}

#[test]
fn a_client_of_omniorb_is_led_to_the_primary_by_the_groups_own_object() {
    let served = Served::new();
    let (group, id) = served
        .replication
        .create_group(CONTEXT, "cold-passive", "")
        .unwrap();
    // Of a group without members, the reference is that of its own object.
    let own = group.unwrap();
    let members = ["a", "b"].map(|name| {
        let member = served.activate(Arc::new(Context));
        served
            .replication
            .add_member(Some(&own), &at(name), Some(&member))
            .unwrap();
        member
    });
    for (name, member) in ["a", "b"].into_iter().zip(&members) {
        until(|| served.primary(id).is_some());
        served
            .replication
            .set_primary_member(Some(&own), &at(name))
            .unwrap();
        let Some(found) = resolved(&served, &own) else {
            return;
        };
        assert_eq!(found.object_key().unwrap(), member.object_key().unwrap());
    }
}
