//! Members that are processes: this test program, started again for one test.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use punctual::fault_tolerance::FaultTolerance;
use punctual::{ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_groups_client::{Guard, MemberOptions, Membership};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::idl::Register;
use crate::support::{Counter, Served, until};

/// Variables of the environment that say what a member does.
const MANAGER: &str = "MEMBER_MANAGER";
const GROUP: &str = "MEMBER_GROUP";
const NAME: &str = "MEMBER_NAME";
const LEASE: &str = "MEMBER_LEASE";
const FILE: &str = "MEMBER_FILE";
const DIES_AT: &str = "MEMBER_DIES_AT";
const UPDATES: &str = "MEMBER_UPDATES";

/// Processes of members, which end when this is dropped.
pub(crate) struct Processes {
    folder: TempDir,
    manager: String,
    group: String,
    lease: Duration,
    /// True if members store updates.
    pub(crate) by_updates: bool,
    client: Orb,
    children: HashMap<String, Child>,
}

impl Processes {
    pub(crate) fn of(served: &Served, group: &ObjectRef, lease: Duration) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            manager: served.client.object_to_string(&served.replication).unwrap(),
            group: served.client.object_to_string(group).unwrap(),
            lease,
            by_updates: false,
            client: served.client.clone(),
            children: HashMap::new(),
        }
    }

    /// Starts a member, and waits until it has joined.
    pub(crate) fn start(&mut self, name: &str) {
        self.start_to_die_at(name, 0);
    }

    /// Starts a member that ends when it has stored this sum.
    pub(crate) fn start_to_die_at(&mut self, name: &str, sum: i32) {
        let file = self.folder.path().join(name);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "member::process_of_a_member", "--nocapture"])
            .env(MANAGER, &self.manager)
            .env(GROUP, &self.group)
            .env(NAME, name)
            .env(LEASE, self.lease.as_millis().to_string())
            .env(FILE, &file)
            .env(DIES_AT, sum.to_string())
            .env(UPDATES, self.by_updates.to_string())
            .stdin(Stdio::null());
        self.children
            .insert(name.to_owned(), command.spawn().unwrap());
        until(|| file.exists());
    }

    pub(crate) fn signal(&self, name: &str, signal: Signal) {
        let pid = i32::try_from(self.children[name].id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Returns a member's own reference.
    pub(crate) fn reference(&self, name: &str) -> ObjectRef {
        let text = std::fs::read_to_string(self.folder.path().join(name)).unwrap();
        self.client.string_to_object(text.trim()).unwrap()
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in self.children.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn process_of_a_member() {
    let Ok(manager) = std::env::var(MANAGER) else {
        return;
    };
    let variable = |name: &str| std::env::var(name).unwrap();
    let builder = Orb::builder().configure(|config| config.foreign_local_endpoints = true);
    let builder = builder.listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let orb = FaultTolerance::extend(builder).unwrap().build().unwrap();
    let poa = orb.root_poa().unwrap();
    let (guard, counter) = (Guard::new(), Counter::named(&variable(NAME)));
    let dies_at = variable(DIES_AT).parse().unwrap();
    counter.dies_at.store(dies_at, Ordering::SeqCst);
    let by_updates = variable(UPDATES).parse().unwrap();
    counter.stores_updates.store(by_updates, Ordering::SeqCst);
    let servant = guard.around(punctual::poa::servant_of::<Register, _>(counter.clone()));
    let id = poa.activate_object(servant).unwrap();
    let object: ObjectRef = poa.id_to_reference(&id).unwrap();
    poa.manager().activate().unwrap();
    let manager = orb.string_to_object(&manager).unwrap();
    let group = orb.string_to_object(&variable(GROUP)).unwrap();
    let lease = Duration::from_millis(variable(LEASE).parse().unwrap());
    let options = MemberOptions::with_lease(lease).guard(&guard).passive();
    let membership =
        Membership::begin(&manager, &group, &variable(NAME), &object, options).unwrap();
    let membership = std::sync::Arc::new(membership);
    *counter.membership.lock() = Some(membership.clone());
    until(|| membership.has_joined());
    let file = variable(FILE);
    std::fs::write(
        format!("{file}.new"),
        orb.object_to_string(&object).unwrap(),
    )
    .unwrap();
    std::fs::rename(format!("{file}.new"), file).unwrap();
    orb.run();
}
